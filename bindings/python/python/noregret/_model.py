"""What learners of either kind of feedback have in common: facts, copies and pickles."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from . import _core

_C = TypeVar("_C", _core.Learner, _core.Bandit)
_M = TypeVar("_M", bound="Model[Any]")


class Model(Generic[_C]):
    """A learner of the compiled part."""

    __slots__ = ("_core", "_index")
    _compiled: type[_C]
    _core: _C
    _index: dict[str, int] | None
    """Classes by their names, once somebody asks."""

    @property
    def name(self) -> str:
        """The name in the registry."""
        return self._core.name

    @property
    def classes(self) -> int:
        """Number of classes; 1 for a real-valued target."""
        return self._core.classes

    @property
    def features(self) -> int:
        """Number of columns, without the intercept."""
        return self._core.features

    @property
    def rounds(self) -> int:
        """Rounds learnt so far."""
        return self._core.rounds

    @property
    def params(self) -> dict[str, float | int | str | bool]:
        """The parameters in use: those given, and the theorem's values of the others."""
        return self._core.params

    @property
    def labels(self) -> list[str]:
        """Names of the classes in order; empty for a real-valued target."""
        return self._core.labels

    def _names(self) -> dict[str, int]:
        if self._index is None:
            self._index = {name: at for at, name in enumerate(self._core.labels)}
        return self._index

    @classmethod
    def _wrap(cls: type[_M], core: Any) -> _M:
        model = object.__new__(cls)
        model._core = core
        model._index = None
        return model

    def copy(self: _M) -> _M:
        """A copy that goes its own way, with the decisions that wait if there are any."""
        return self._wrap(self._core.copy())

    def __copy__(self: _M) -> _M:
        return self.copy()

    def __deepcopy__(self: _M, memo: dict[int, Any]) -> _M:
        return self.copy()

    def __getstate__(self) -> bytes:
        return self._core.to_bytes()

    def __setstate__(self, state: bytes) -> None:
        self._core = self._compiled.from_bytes(state)
        self._index = None

    def __repr__(self) -> str:
        # A learner by its name says which it is; a class of its own does.
        kind = f"{self.name!r}, " if Model in type(self).__bases__ else ""
        return f"{type(self).__name__}({kind}classes={self.classes}, features={self.features}, rounds={self.rounds})"
