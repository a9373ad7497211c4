"""Spark as the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._engine import Actor, Engine, Failed, Handle, attempt, parts


class SparkEngine(Engine):
    """A Spark cluster.

    Spark keeps no objects between tasks. Results of `map` are returned to the driver, and a call of an actor is a task
    that makes the object from its arguments: this works for objects with their state in shared files, such as
    `KeyedLearners`.

    Parameters
    ----------
    session
        A `pyspark.sql.SparkSession`; by default the active one.
    """

    keeps_objects = False

    def __init__(self, session: Any = None) -> None:
        if session is None:
            from pyspark.sql import SparkSession

            session = SparkSession.builder.getOrCreate()
        self._context = session.sparkContext

    def broadcast(self, value: Any) -> Handle:
        """See `Engine.broadcast`."""
        return self._context.broadcast(value)

    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], outputs: int = 1) -> list[Any]:
        """See `Engine.map`. Waits until all calls are done; a failure is kept until `get` raises it, since Spark would end all
        calls."""
        if not calls:
            return []
        rows = self._context.parallelize(list(enumerate(calls)), len(calls))
        done = dict(rows.map(lambda row: (row[0], attempt(function, tuple(map(_value, row[1]))))).collect())
        return [parts(done[at], outputs) for at in range(len(calls))]

    def actors(self, kind: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Actor]:
        """See `Engine.actors`."""
        return [_SparkActor(self, kind, call) for call in calls]

    def get(self, handle: Handle) -> Any:
        """See `Engine.get`."""
        value = _value(handle)
        if isinstance(value, Failed):
            raise value.error
        return value


class _SparkActor:
    """An object that is made for every call."""

    def __init__(self, engine: SparkEngine, kind: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._engine, self._kind, self._arguments = engine, kind, arguments

    def call(self, method: str, *args: Any) -> Handle:
        return self._engine.map(_call_once, [(self._kind, self._arguments, method, args)])[0]


def _call_once(kind: Callable[..., Any], arguments: tuple[Any, ...], method: str, args: tuple[Any, ...]) -> Any:
    target = kind(*arguments)
    try:
        return getattr(target, method)(*args)
    finally:
        target.close()


def _value(handle: Handle) -> Any:
    """The value of a broadcast variable, or the value itself."""
    return handle.value if type(handle).__name__ == "Broadcast" else handle
