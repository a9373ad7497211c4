"""Ray as the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ray

from ..cluster import Actor, Engine
from ..cluster._engine import Handle


class RayEngine(Engine):
    """A Ray cluster: the one connected by `ray.init`, or a new one on this machine.

    Parameters
    ----------
    cores
        Number of cores reserved by a task or an actor.
    """

    def __init__(self, cores: float = 1.0) -> None:
        if not ray.is_initialized():
            ray.init(logging_level=logging.WARNING)
        self._cores = cores

    def broadcast(self, value: Any) -> Handle:
        """See `Engine.broadcast`. Arrays are read from the object store without a copy."""
        return ray.put(value)

    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], outputs: int = 1) -> list[Any]:
        """See `Engine.map`. Tasks of a lost machine are run again."""
        remote = ray.remote(num_cpus=self._cores, max_retries=-1, num_returns=outputs)(function)
        return [remote.remote(*call) for call in calls]

    def actors(self, kind: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Actor]:
        """See `Engine.actors`. A failed actor is restarted, and its unanswered calls are repeated."""
        remote = ray.remote(num_cpus=self._cores, max_restarts=-1, max_task_retries=-1)(kind)
        return [_RayActor(remote.remote(*call)) for call in calls]

    def get(self, handle: Handle) -> Any:
        """See `Engine.get`."""
        try:
            return ray.get(handle)
        except ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None

    def stop(self, actors: Sequence[Actor]) -> None:
        """See `Engine.stop`."""
        for actor in actors:
            if isinstance(actor, _RayActor):
                ray.kill(actor.handle)

    def completed(self, handles: Sequence[Handle]) -> Iterator[tuple[int, Any]]:
        """See `Engine.completed`."""
        places = {handle: at for at, handle in enumerate(handles)}
        waiting = list(handles)
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            try:
                yield places[done[0]], self.get(done[0])
            except Exception as error:
                yield places[done[0]], error


class _RayActor:
    """A handle of a Ray actor."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def call(self, method: str, *args: Any) -> Handle:
        return getattr(self.handle, method).remote(*args)
