"""What an engine of a cluster has to do: four functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

Handle = Any
"""A value that an engine keeps somewhere, such as a Ray object reference; tasks may take it as an argument."""


class Actor(Protocol):
    """A process that keeps an object between calls."""

    def call(self, method: str, *args: Any) -> Handle:
        """Calls a method of the object; calls of one actor are carried out in their order."""


class Engine(ABC):
    """Four functions: map, tree reduction, broadcast, and actors; and how to read their results."""

    @abstractmethod
    def broadcast(self, value: Any) -> Handle:
        """Puts `value` where every task can read it: one copy a machine, however many tasks."""

    @abstractmethod
    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], outputs: int = 1) -> list[Any]:
        """Starts `function(*arguments)` for every tuple of `calls`; arguments that are handles arrive as their values.

        Returns one handle for each call; with `outputs` > 1, when the function returns that many values, a list of
        handles for each call. A task whose machine is lost is run again, so functions must be pure.
        """

    def reduce(self, function: Callable[[Any, Any], Any], parts: Sequence[Handle]) -> Handle:
        """Combines parts in a binary tree whose shape depends on their number alone: results do not depend on which
        part is ready first. Neighbours are combined, and a part without a neighbour waits for the next level."""
        if not parts:
            raise ValueError("reduce: there is nothing to reduce; at least one part was needed")
        level = list(parts)
        while len(level) > 1:
            pairs = [(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
            rest = level[2 * len(pairs) :]
            level = [*self.map(function, pairs), *rest]
        return level[0]

    @abstractmethod
    def actors(self, kind: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Actor]:
        """Starts an actor with the object `kind(*arguments)` for every tuple of `calls`.

        An actor whose machine is lost is started again with the same arguments; what it must not lose it has to have
        written down before it answered.
        """

    @abstractmethod
    def get(self, handle: Handle) -> Any:
        """The value of a handle; raises what its task raised."""

    def stop(self, actors: Sequence[Actor]) -> None:
        """Ends actors. By default they end when nothing refers to them."""

    def completed(self, handles: Sequence[Handle]) -> Iterator[tuple[int, Any]]:
        """The position and value of every handle, or the exception of its task, as they become known."""
        for at, handle in enumerate(handles):
            try:
                yield at, self.get(handle)
            except Exception as error:
                yield at, error


class LocalEngine(Engine):
    """One machine: joblib's processes for `map`, objects of this process for actors.

    Parameters
    ----------
    jobs
        Processes that work at a time; -1 for one a core, 1 for none but this one.
    """

    def __init__(self, jobs: int = -1) -> None:
        self._jobs = jobs

    def broadcast(self, value: Any) -> Handle:
        """The value itself: joblib maps large arrays into memory instead of copying them."""
        return value

    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], outputs: int = 1) -> list[Any]:
        """See `Engine.map`. Waits until all calls are done; a failure is kept until `get` raises it."""
        import joblib

        work = joblib.Parallel(n_jobs=self._jobs)
        tried = work(joblib.delayed(_attempt)(function, call) for call in calls)
        return [_parts(one, outputs) for one in tried]

    def actors(self, kind: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Actor]:
        """See `Engine.actors`."""
        return [_LocalActor(kind(*call)) for call in calls]

    def get(self, handle: Handle) -> Any:
        """See `Engine.get`."""
        if isinstance(handle, _Failed):
            raise handle.error
        return handle


class _Failed:
    """A call that raised."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class _LocalActor:
    """An object of this process."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def call(self, method: str, *args: Any) -> Handle:
        try:
            return getattr(self._target, method)(*args)
        except Exception as error:
            return _Failed(error)


def _attempt(function: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    for argument in call:
        if isinstance(argument, _Failed):
            return argument
    try:
        return function(*call)
    except Exception as error:
        return _Failed(error)


def _parts(value: Any, outputs: int) -> Any:
    if outputs == 1:
        return value
    return [value] * outputs if isinstance(value, _Failed) else list(value)
