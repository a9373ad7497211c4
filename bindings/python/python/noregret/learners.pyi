# Written by generate.py from the registry. Do not edit.
"""Learners with full information, one class each."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._learner import Learner

__all__ = [
    "AdaboostOlm", "Aggregating", "Aioli", "Auto", "ConditionalLogit", "Folklore", "FolkloreDiag",
    "FolkloreIntervals", "FolkloreSketch", "Ftrl", "Gaf", "GaptronHinge", "GaptronLogistic", "GaptronSmooth",
    "KernelAioli", "KernelAioliLandmarks", "LabelTree", "Ogd", "Ons", "OnsDiag", "OnsSketch", "Perceptron",
    "SecondOrderPerceptron", "SecondOrderPerceptronDiag", "Vaw"
]

class AdaboostOlm(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, weak: str | None = None,
        copies: int | None = None, play: Literal["hedge", "best", "last", "mixture", "vote"] | None = None,
        candidates: str | None = None, radius: float | None = None, horizon: int | None = None, seed: int = 0,
        scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, class_weight: Mapping[Any, float] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192, **nested: float | int | str | bool | None,
    ) -> None: ...
class Aggregating(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, norm: float | None = None,
        smoothing: float | None = None, nodes: int | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class Aioli(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, norm: float | None = None,
        regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None,
        improper_weight: float | None = None, radius: float | None = None, horizon: int | None = None,
        seed: int = 0, scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, class_weight: Mapping[Any, float] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192,
    ) -> None: ...
class Auto(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, budget: float | None = None,
        member_memory: int | None = None, members: str | None = None, cost_factors: str | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class ConditionalLogit(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, width: int | None = None,
        norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class Folklore(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, norm: float | None = None,
        regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, linear_term: bool | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class FolkloreDiag(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, norm: float | None = None,
        regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class FolkloreIntervals(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, block: int | None = None,
        norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class FolkloreSketch(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, rank: int | None = None,
        eigenvalue: Literal["mean", "least"] | None = None, norm: float | None = None,
        regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class Ftrl(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, regularization: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class Gaf(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, norm: float | None = None,
        regularization: float | None = None, curvature: float | None = None, smoothing: float | None = None,
        samples: int | None = None, radius: float | None = None, horizon: int | None = None, seed: int = 0,
        scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, class_weight: Mapping[Any, float] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192,
    ) -> None: ...
class GaptronHinge(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, rate: float | None = None,
        exploration: float | Literal["adaptive"] | None = None, norm: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class GaptronLogistic(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, rate: float | None = None,
        exploration: float | Literal["adaptive"] | None = None, norm: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class GaptronSmooth(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, rate: float | None = None,
        exploration: float | Literal["adaptive"] | None = None, norm: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class KernelAioli(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None,
        kernel: Literal["linear", "polynomial", "rbf"] | None = None, degree: int | None = None,
        offset: float | None = None, length_scale: float | None = None, norm: float | None = None,
        regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None,
        improper_weight: float | None = None, max_rounds: int | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class KernelAioliLandmarks(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, landmarks: int | None = None,
        tolerance: float | None = None, kernel: Literal["linear", "polynomial", "rbf"] | None = None,
        degree: int | None = None, offset: float | None = None, length_scale: float | None = None,
        norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None,
        improper_weight: float | None = None, radius: float | None = None, horizon: int | None = None,
        seed: int = 0, scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, class_weight: Mapping[Any, float] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192,
    ) -> None: ...
class LabelTree(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, node: str | None = None,
        balance: float | None = None, radius: float | None = None, horizon: int | None = None, seed: int = 0,
        scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, class_weight: Mapping[Any, float] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192, **nested: float | int | str | bool | None,
    ) -> None: ...
class Ogd(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, norm: float | None = None,
        rate: float | None = None, schedule: Literal["sqrt", "constant"] | None = None,
        ball: Literal["frobenius", "rows", "none"] | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class Ons(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, norm: float | None = None,
        rate: float | None = None, regularization: float | None = None, projection: bool | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class OnsDiag(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, norm: float | None = None,
        rate: float | None = None, regularization: float | None = None, projection: bool | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class OnsSketch(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, rank: int | None = None,
        norm: float | None = None, rate: float | None = None, regularization: float | None = None,
        projection: bool | None = None, radius: float | None = None, horizon: int | None = None,
        seed: int = 0, scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, class_weight: Mapping[Any, float] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192,
    ) -> None: ...
class Perceptron(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
class SecondOrderPerceptron(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, regularization: float | None = None,
        margin_updates: bool | None = None, radius: float | None = None, horizon: int | None = None,
        seed: int = 0, scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, class_weight: Mapping[Any, float] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192,
    ) -> None: ...
class SecondOrderPerceptronDiag(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, regularization: float | None = None,
        margin_updates: bool | None = None, radius: float | None = None, horizon: int | None = None,
        seed: int = 0, scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, class_weight: Mapping[Any, float] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192,
    ) -> None: ...
class Vaw(Learner):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, norm: float | None = None,
        regularization: float | None = None, target_bound: float | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192,
    ) -> None: ...
