"""Dask as the engine."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ._engine import Actor, Engine, Failed, Handle, attempt

TRIES = 5
"""How often a call of an actor is sent whose worker is lost every time."""


class DaskEngine(Engine):
    """A Dask cluster.

    Parameters
    ----------
    client
        A `distributed.Client`; by default the current one.
    """

    def __init__(self, client: Any = None) -> None:
        from distributed import get_client

        self._client = get_client() if client is None else client

    def broadcast(self, value: Any) -> Handle:
        """See `Engine.broadcast`. The value is that of a task, which the scheduler keeps: what is scattered is lost with its workers."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(_Constant(value), pure=False)

    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], outputs: int = 1) -> list[Any]:
        """See `Engine.map`."""
        tasks = [self._client.submit(function, *call, pure=False) for call in calls]
        if outputs == 1:
            return tasks
        take = [[self._client.submit(operator.itemgetter(at), task) for at in range(outputs)] for task in tasks]
        return take

    def actors(self, kind: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Actor]:
        """See `Engine.actors`. Dask restarts no actor: one whose worker is lost is made again here, and its unanswered calls are repeated."""
        return [_DaskActor(self._client, kind, call) for call in calls]

    def get(self, handle: Handle) -> Any:
        """See `Engine.get`."""
        value = handle.result()
        if isinstance(value, Failed):
            raise value.error
        return value

    def completed(self, handles: Sequence[Handle]) -> Iterator[tuple[int, Any]]:
        """See `Engine.completed`."""
        from distributed import as_completed

        places = {handle.key: at for at, handle in enumerate(handles)}
        for handle in as_completed(handles):  # type: ignore[no-untyped-call, unused-ignore]
            error = handle.exception()
            yield places[handle.key], handle.result() if error is None else error


class _Constant:
    """A task that has its value already, in which Dask looks for no other tasks."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __call__(self) -> Any:
        return self._value


class _Held:
    """An object on a worker. Failures of its methods are values, so that what Dask raises is about the worker."""

    def __init__(self, kind: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._made = attempt(kind, arguments)

    def call(self, method: str, args: tuple[Any, ...]) -> Any:
        """The value of a call, or its failure, or that of the object's making."""
        return self._made if isinstance(self._made, Failed) else attempt(getattr(self._made, method), args)


class _DaskActor:
    """A handle of an object on a worker."""

    def __init__(self, client: Any, kind: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._client, self._kind, self._arguments = client, kind, arguments
        self._task = self._submitted()
        self._actor: Any = None

    def call(self, method: str, *args: Any) -> Handle:
        return _Call(self, method, args)

    def send(self, method: str, args: tuple[Any, ...]) -> Any:
        """Dask's future of a call."""
        if self._actor is None:
            self._actor = self._task.result()
        return self._actor.call(method, args)

    def restart(self) -> None:
        """Makes the object again, on a worker that is there."""
        self._actor, self._task = None, self._submitted()

    def _submitted(self) -> Any:
        return self._client.submit(_Held, self._kind, self._arguments, actor=True, pure=False)


class _Call:
    """A call of an actor, which is sent at once."""

    def __init__(self, actor: _DaskActor, method: str, args: tuple[Any, ...]) -> None:
        self._actor, self._method, self._args = actor, method, args
        self._sent: Any = None
        try:
            self._sent = actor.send(method, args)
        except Exception:  # The worker is lost: `result` sends the call again.
            actor.restart()

    def result(self) -> Any:
        """The value of the call, or its failure."""
        for left in reversed(range(TRIES)):
            try:
                if self._sent is None:
                    self._sent = self._actor.send(self._method, self._args)
                return self._sent.result()
            except Exception as error:
                self._sent = None
                if not left:
                    raise RuntimeError(f"{self._method}: the worker of an actor was lost {TRIES} times; the last time: {error}") from error
                self._actor.restart()
        raise AssertionError
