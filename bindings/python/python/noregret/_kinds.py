"""Access to the registry of learners."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from . import _core

Entry = dict[str, Any]
"""The registry entry of a learner."""


class _Kinds(Mapping[str, Entry]):
    """The registry's learners by name, read when the first is looked up: an import does not pay for them."""

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return {entry["name"]: entry for entry in _core.catalogue()}

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


KINDS = _Kinds()
"""The registry's learners by name."""


def number_of_classes(name: str, classes: int | None, labels: list[str] | None) -> int:
    """The number of classes, as given or as determined by the learner."""
    if classes is not None:
        return classes
    if labels is not None:
        return len(labels)
    kind = KINDS.get(name, {}).get("classes")
    if kind == "any":
        raise TypeError("classes: the number of classes, or labels, must be given")
    return 1 if kind == "real" else 2


def caution(name: str, params: Mapping[str, Any], stacklevel: int, *, bandit: bool = False, rows: int | None = None) -> None:
    """Warns where the defaults of a learner are too cautious for streams of ordinary length, or, with `rows`, where it is
    slow for so many of them, and says what works."""
    for told in _core.cautions(name, dict(params), bandit, rows):
        warnings.warn(told, stacklevel=stacklevel + 1)


def whole(**numbers: Any) -> None:
    """Refuses anything but whole numbers from 0."""
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} = {value!r}: must be a whole number from 0")


def number(**numbers: Any) -> None:
    """Refuses anything but numbers."""
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise TypeError(f"{name} = {value!r}: must be a number")


def truth(**values: Any) -> None:
    """Refuses anything but True and False: a text is true, whatever it says."""
    for name, value in values.items():
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name} = {value!r}: must be True or False")


def unless_none(check: Callable[..., None], **values: Any) -> None:
    """Does `check` on the values that are not None."""
    check(**{name: value for name, value in values.items() if value is not None})


def check_facts(
    *, features: Any, classes: Any, horizon: Any, radius: Any, intercept: Any, sparse: Any, seed: Any, memory: Any
) -> None:
    """Refuses facts about rows of other kinds than were needed, by their names."""
    unless_none(whole, features=features, classes=classes, horizon=horizon)
    unless_none(number, radius=radius)
    unless_none(truth, intercept=intercept)
    truth(sparse=sparse)
    whole(seed=seed, memory=memory)


def check_scale(scale: str | None) -> None:
    """Refuses a scaling that does not exist."""
    if scale is not None:
        if not isinstance(scale, str):
            raise TypeError(f"scale = {scale!r}: must be a text, such as 'standard'")
        _core.survey(np.zeros((1, 1)), None, scale, False)


def classifier(
    name: str, classes: int, features: int, params: dict[str, Any], reach: float | None, **facts: Any
) -> _core.Learner:
    """The learner of a classifier. With `reach`, the default of its parameter `norm` is reach / radius."""
    core = _core.Learner(name, classes, features, params, **facts)
    if reach is None or params.get("norm") is not None or core.radius is None:
        return core
    return _core.Learner(name, classes, features, {**params, "norm": reach / core.radius}, **facts)


def pair(costs: Any) -> tuple[float, float]:
    """The least and the largest of `costs`."""
    try:
        least, most = map(float, costs)
    except (TypeError, ValueError):
        raise TypeError(f"costs = {costs!r}: must be a pair (least, most), or a text such as '0..10'") from None
    if not least < most:
        raise ValueError(f"costs = {costs!r}: the first must be less than the second")
    return least, most
