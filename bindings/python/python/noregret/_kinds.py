"""What the registry says of learners, and learners made by it."""

from __future__ import annotations

from typing import Any

from . import _core

Entry = dict[str, Any]
"""What a learner says of itself in the registry."""

KINDS: dict[str, Entry] = {entry["name"]: entry for entry in _core.catalogue()}
"""The registry's learners by name."""


def number_of_classes(name: str, classes: int | None, labels: list[str] | None) -> int:
    """The number of classes that was given, or that leaves no choice."""
    if classes is not None:
        return classes
    if labels is not None:
        return len(labels)
    kind = KINDS.get(name, {}).get("classes")
    if kind == "any":
        raise TypeError("classes: the number of classes, or labels, must be given")
    return 1 if kind == "real" else 2


def classifier(
    name: str, classes: int, features: int, params: dict[str, Any], reach: float | None, **facts: Any
) -> _core.Learner:
    """The learner of a classifier. With `reach`, the default of its parameter `norm` is reach / radius."""
    core = _core.Learner(name, classes, features, params, **facts)
    if reach is None or params.get("norm") is not None or core.radius is None:
        return core
    return _core.Learner(name, classes, features, {**params, "norm": reach / core.radius}, **facts)
