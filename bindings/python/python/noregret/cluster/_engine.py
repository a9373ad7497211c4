"""The interface of a cluster engine: four functions."""

from __future__ import annotations

import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

Handle = Any
"""A reference to a value stored by an engine, such as a Ray object reference; can be an argument of tasks."""


class Actor(Protocol):
    """A process with a stateful object."""

    def call(self, method: str, *args: Any) -> Handle:
        """Calls a method of the object; calls of one actor are executed in order."""


class Engine(ABC):
    """Map, tree reduction, broadcast and actors, and access to their results."""

    keeps_objects = True
    """Whether the object of an actor is there from one call to the next, in memory."""

    @abstractmethod
    def broadcast(self, value: Any) -> Handle:
        """Makes `value` available to all tasks, with one copy per machine."""

    @abstractmethod
    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], outputs: int = 1) -> list[Any]:
        """Starts `function(*arguments)` for every tuple of `calls`; handles among the arguments are replaced by their
        values.

        Returns one handle for each call; with `outputs` > 1, when the function returns that many values, a list of
        handles for each call. A task whose machine is lost is run again, so functions must be pure.
        """

    def reduce(self, function: Callable[[Any, Any], Any], parts: Sequence[Handle]) -> Handle:
        """Combines parts in a binary tree whose shape depends only on their number, so that results do not depend on
        timing. Neighbours are combined; a part without a neighbour moves to the next level."""
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

        An actor whose machine is lost is restarted with the same arguments; durable state has to be stored before
        answering.
        """

    @abstractmethod
    def get(self, handle: Handle) -> Any:
        """The value of a handle; raises the exception of its task."""

    def stop(self, actors: Sequence[Actor]) -> None:
        """Stops actors. By default they stop when there are no references to them."""

    def completed(self, handles: Sequence[Handle]) -> Iterator[tuple[int, Any]]:
        """Yields the index and value of every handle, or the exception of its task, in the order of completion."""
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
        Number of processes; -1 for one per core, 1 for the current process only.
    """

    def __init__(self, jobs: int = -1) -> None:
        self._jobs = jobs

    def broadcast(self, value: Any) -> Handle:
        """The value itself, since joblib memory-maps large arrays."""
        return value

    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], outputs: int = 1) -> list[Any]:
        """See `Engine.map`. Waits until all calls are done; a failure is kept until `get` raises it."""
        import joblib

        work = joblib.Parallel(n_jobs=self._jobs)
        tried = work(joblib.delayed(attempt)(function, call) for call in calls)
        return [parts(one, outputs) for one in tried]

    def actors(self, kind: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Actor]:
        """See `Engine.actors`."""
        return [_LocalActor(kind(*call)) for call in calls]

    def get(self, handle: Handle) -> Any:
        """See `Engine.get`."""
        if isinstance(handle, Failed):
            raise handle.error
        return handle


class ProcessEngine(LocalEngine):
    """One machine, as `LocalEngine`, but each actor is a process of its own. One that ends is started again by the next call;
    calls that were not answered raise. Programs that use it start below `if __name__ == "__main__":`."""

    def actors(self, kind: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Actor]:
        """See `Engine.actors`."""
        return [_ProcessActor(kind, call) for call in calls]

    def get(self, handle: Handle) -> Any:
        """See `Engine.get`."""
        return super().get(handle.result() if isinstance(handle, Future) else handle)

    def stop(self, actors: Sequence[Actor]) -> None:
        """See `Engine.stop`."""
        for actor in actors:
            if isinstance(actor, _ProcessActor):
                actor.stop()


class Failed:
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
            return Failed(error)


class _ProcessActor:
    """An object of another process."""

    def __init__(self, kind: Callable[..., Any], call: tuple[Any, ...]) -> None:
        self._made = (kind, call)
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._process = ProcessPoolExecutor(1, mp_context=context, initializer=_make, initargs=self._made)

    def call(self, method: str, *args: Any) -> Handle:
        try:
            return self._process.submit(_ask, method, args)
        except BrokenProcessPool:
            self._begin()
            return self._process.submit(_ask, method, args)

    def stop(self) -> None:
        self._process.shutdown(wait=False, cancel_futures=True)


_object: Any = None
"""The object of this process, if it is an actor's."""


def _make(kind: Callable[..., Any], call: tuple[Any, ...]) -> None:
    global _object
    _object = kind(*call)


def _ask(method: str, args: tuple[Any, ...]) -> Any:
    return getattr(_object, method)(*args)


def attempt(function: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    """The value of a call, or its failure."""
    for argument in call:
        if isinstance(argument, Failed):
            return argument
    try:
        return function(*call)
    except Exception as error:
        return Failed(error)


def parts(value: Any, outputs: int) -> Any:
    """The handles of the values of a call."""
    if outputs == 1:
        return value
    return [value] * outputs if isinstance(value, Failed) else list(value)
