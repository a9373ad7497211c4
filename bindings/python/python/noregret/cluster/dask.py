"""Dask as the engine."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ._engine import Actor, Engine, Handle


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
        """See `Engine.broadcast`."""
        return self._client.scatter(value, broadcast=True, hash=False)

    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], outputs: int = 1) -> list[Any]:
        """See `Engine.map`."""
        tasks = [self._client.submit(function, *call, pure=False) for call in calls]
        if outputs == 1:
            return tasks
        take = [[self._client.submit(operator.itemgetter(at), task) for at in range(outputs)] for task in tasks]
        return take

    def actors(self, kind: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Actor]:
        """See `Engine.actors`."""
        futures = [self._client.submit(kind, *call, actor=True, pure=False) for call in calls]
        return [_DaskActor(future.result()) for future in futures]

    def get(self, handle: Handle) -> Any:
        """See `Engine.get`."""
        return handle.result()

    def completed(self, handles: Sequence[Handle]) -> Iterator[tuple[int, Any]]:
        """See `Engine.completed`."""
        from distributed import as_completed

        places = {handle.key: at for at, handle in enumerate(handles)}
        for handle in as_completed(handles):  # type: ignore[no-untyped-call, unused-ignore]
            error = handle.exception()
            yield places[handle.key], handle.result() if error is None else error


class _DaskActor:
    """A handle of an object on a worker."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def call(self, method: str, *args: Any) -> Handle:
        return getattr(self._actor, method)(*args)
