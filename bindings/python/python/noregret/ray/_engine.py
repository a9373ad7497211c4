"""Ray as the engine."""

from __future__ import annotations

import logging
import time
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
    patience
        Seconds in which every actor must find a free place, and tasks a machine that is large enough. Ray itself would wait for
        ever.
    """

    def __init__(self, cores: float = 1.0, patience: float = 120.0) -> None:
        if not ray.is_initialized():
            ray.init(logging_level=logging.WARNING)
        self._cores, self._patience = cores, patience
        self._fits = False

    def broadcast(self, value: Any) -> Handle:
        """See `Engine.broadcast`. Arrays are read from the object store without a copy."""
        return ray.put(value)

    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], outputs: int = 1) -> list[Any]:
        """See `Engine.map`. Tasks of a lost machine are run again.

        Raises RuntimeError if no machine is large enough for a task, and none comes in time.
        """
        remote = ray.remote(num_cpus=self._cores, max_retries=-1, num_returns=outputs)(function)
        handles = [remote.remote(*call) for call in calls]
        if calls and not self._fits:
            self._check_place(handles if outputs == 1 else [several[0] for several in handles])
        return handles

    def _check_place(self, tasks: Sequence[Handle]) -> None:
        """Waits for a machine with as many cores as a task reserves; a cluster that grows by demand may add one."""
        until = time.monotonic() + self._patience
        while (largest := _largest_machine()) < self._cores:
            if time.monotonic() > until:
                for task in tasks:
                    ray.cancel(task)
                raise RuntimeError(
                    f"a task reserves {self._cores:g} cores, and the largest machine of the cluster has {largest:g}; ask for fewer cores"
                )
            time.sleep(min(1.0, self._patience / 10))
        self._fits = True

    def actors(self, kind: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Actor]:
        """See `Engine.actors`. A failed actor is restarted, and its unanswered calls are repeated.

        Raises RuntimeError if actors find no place in time; none of them is left then.
        """
        placed = type(kind.__name__, (_Placed,), {})
        remote: Any = ray.remote(num_cpus=self._cores, max_restarts=-1, max_task_retries=-1)(placed)
        actors = [remote.remote(kind, *call) for call in calls]
        _, waiting = ray.wait([actor.stands.remote() for actor in actors], num_returns=len(actors), timeout=self._patience)
        if waiting:
            total = ray.cluster_resources().get("CPU", 0.0)  # type: ignore[no-untyped-call, unused-ignore]
            for actor in actors:
                ray.kill(actor)
            raise RuntimeError(
                f"{len(waiting)} of {len(actors)} actors found no place in {self._patience:g} seconds: they need {self._cores:g} cores each, and "
                f"the cluster has {total:g}, some of which may be taken; ask for fewer actors or fewer cores each"
            )
        return [_RayActor(actor) for actor in actors]

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


def _largest_machine() -> float:
    """The cores of the machine that has most."""
    nodes = ray.nodes()  # type: ignore[no-untyped-call, unused-ignore]
    return max((float(node["Resources"].get("CPU", 0.0)) for node in nodes if node["Alive"]), default=0.0)


class _RayActor:
    """A handle of a Ray actor."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def call(self, method: str, *args: Any) -> Handle:
        return self.handle.call.remote(method, *args)


class _Placed:
    """An object on a machine, made by its first call: an actor that has a place says so at once, however long that takes."""

    def __init__(self, kind: Callable[..., Any], *arguments: Any) -> None:
        self._kind, self._arguments = kind, arguments
        self._target: Any = None

    def stands(self) -> bool:
        """The actor has a place."""
        return True

    def call(self, method: str, *args: Any) -> Any:
        """Calls a method of the object."""
        if self._target is None:
            self._target = self._kind(*self._arguments)
        return getattr(self._target, method)(*args)
