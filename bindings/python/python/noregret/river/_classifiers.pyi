# Written by generate.py from the registry. Do not edit.
"""The classifiers, one for each useful learner that can add classes and features."""

from collections.abc import Sequence
from typing import Any, Literal

from ._base import Classifier, WeightedClassifier

__all__ = [
    "Aioli", "Auto", "Folklore", "FolkloreDiag", "FolkloreIntervals", "FolkloreSketch", "Ftrl", "Gaf",
    "GaptronHinge", "GaptronLogistic", "GaptronSmooth", "KernelAioli", "KernelAioliLandmarks", "LabelTree",
    "Ogd", "Ons", "OnsDiag", "OnsSketch", "Perceptron", "SecondOrderPerceptron", "SecondOrderPerceptronDiag"
]

class Aioli(WeightedClassifier):
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    improper_weight: float | None
    def __init__(
        self, *, norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None,
        improper_weight: float | None = None, scale: str = "auto", intercept: bool = True,
        radius: float | None = None, seed: int = 0, class_weight: dict[Any, float] | None = None,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class Auto(WeightedClassifier):
    budget: float | None
    member_memory: int | None
    members: str | None
    cost_factors: str | None
    def __init__(
        self, *, budget: float | None = None, member_memory: int | None = None, members: str | None = None,
        cost_factors: str | None = None, scale: str = "auto", intercept: bool = True,
        radius: float | None = None, seed: int = 0, class_weight: dict[Any, float] | None = None,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class Folklore(WeightedClassifier):
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    linear_term: bool | None
    def __init__(
        self, *, norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, linear_term: bool | None = None,
        scale: str = "auto", intercept: bool = True, radius: float | None = None, seed: int = 0,
        class_weight: dict[Any, float] | None = None, missing: Sequence[Any] | None = None,
        not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class FolkloreDiag(WeightedClassifier):
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    def __init__(
        self, *, norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, scale: str = "auto",
        intercept: bool = True, radius: float | None = None, seed: int = 0,
        class_weight: dict[Any, float] | None = None, missing: Sequence[Any] | None = None,
        not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class FolkloreIntervals(WeightedClassifier):
    block: int | None
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    def __init__(
        self, *, block: int | None = None, norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, scale: str = "auto",
        intercept: bool = True, radius: float | None = None, seed: int = 0,
        class_weight: dict[Any, float] | None = None, missing: Sequence[Any] | None = None,
        not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class FolkloreSketch(WeightedClassifier):
    rank: int | None
    eigenvalue: Literal["mean", "least"] | None
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    def __init__(
        self, *, rank: int | None = None, eigenvalue: Literal["mean", "least"] | None = None,
        norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, scale: str = "auto",
        intercept: bool = True, radius: float | None = None, seed: int = 0,
        class_weight: dict[Any, float] | None = None, missing: Sequence[Any] | None = None,
        not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class Ftrl(WeightedClassifier):
    regularization: float | None
    def __init__(
        self, *, regularization: float | None = None, scale: str = "auto", intercept: bool = True,
        radius: float | None = None, seed: int = 0, class_weight: dict[Any, float] | None = None,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class Gaf(WeightedClassifier):
    norm: float | None
    regularization: float | None
    curvature: float | None
    smoothing: float | None
    samples: int | None
    def __init__(
        self, *, norm: float | None = None, regularization: float | None = None,
        curvature: float | None = None, smoothing: float | None = None, samples: int | None = None,
        scale: str = "auto", intercept: bool = True, radius: float | None = None, seed: int = 0,
        class_weight: dict[Any, float] | None = None, missing: Sequence[Any] | None = None,
        not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class GaptronHinge(Classifier):
    rate: float | None
    exploration: float | Literal["adaptive"] | None
    norm: float | None
    def __init__(
        self, *, rate: float | None = None, exploration: float | Literal["adaptive"] | None = None,
        norm: float | None = None, scale: str = "auto", intercept: bool = True, radius: float | None = None,
        seed: int = 0, missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None,
        memory: int = 8192,
    ) -> None: ...
class GaptronLogistic(Classifier):
    rate: float | None
    exploration: float | Literal["adaptive"] | None
    norm: float | None
    def __init__(
        self, *, rate: float | None = None, exploration: float | Literal["adaptive"] | None = None,
        norm: float | None = None, scale: str = "auto", intercept: bool = True, radius: float | None = None,
        seed: int = 0, missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None,
        memory: int = 8192,
    ) -> None: ...
class GaptronSmooth(Classifier):
    rate: float | None
    exploration: float | Literal["adaptive"] | None
    norm: float | None
    def __init__(
        self, *, rate: float | None = None, exploration: float | Literal["adaptive"] | None = None,
        norm: float | None = None, scale: str = "auto", intercept: bool = True, radius: float | None = None,
        seed: int = 0, missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None,
        memory: int = 8192,
    ) -> None: ...
class KernelAioli(WeightedClassifier):
    kernel: Literal["linear", "polynomial", "rbf"] | None
    degree: int | None
    offset: float | None
    length_scale: float | None
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    improper_weight: float | None
    max_rounds: int | None
    def __init__(
        self, *, kernel: Literal["linear", "polynomial", "rbf"] | None = None, degree: int | None = None,
        offset: float | None = None, length_scale: float | None = None, norm: float | None = None,
        regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None,
        improper_weight: float | None = None, max_rounds: int | None = None, scale: str = "auto",
        intercept: bool = True, radius: float | None = None, seed: int = 0,
        class_weight: dict[Any, float] | None = None, missing: Sequence[Any] | None = None,
        not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class KernelAioliLandmarks(WeightedClassifier):
    landmarks: int | None
    tolerance: float | None
    kernel: Literal["linear", "polynomial", "rbf"] | None
    degree: int | None
    offset: float | None
    length_scale: float | None
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    improper_weight: float | None
    def __init__(
        self, *, landmarks: int | None = None, tolerance: float | None = None,
        kernel: Literal["linear", "polynomial", "rbf"] | None = None, degree: int | None = None,
        offset: float | None = None, length_scale: float | None = None, norm: float | None = None,
        regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None,
        improper_weight: float | None = None, scale: str = "auto", intercept: bool = True,
        radius: float | None = None, seed: int = 0, class_weight: dict[Any, float] | None = None,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class LabelTree(WeightedClassifier):
    node: str | None
    balance: float | None
    def __init__(
        self, *, node: str | None = None, balance: float | None = None, scale: str = "auto",
        intercept: bool = True, radius: float | None = None, seed: int = 0,
        class_weight: dict[Any, float] | None = None, missing: Sequence[Any] | None = None,
        not_missing: Sequence[Any] | None = None, memory: int = 8192, **nested: Any,
    ) -> None: ...
class Ogd(WeightedClassifier):
    norm: float | None
    rate: float | None
    schedule: Literal["sqrt", "constant"] | None
    ball: Literal["frobenius", "rows", "none"] | None
    def __init__(
        self, *, norm: float | None = None, rate: float | None = None,
        schedule: Literal["sqrt", "constant"] | None = None,
        ball: Literal["frobenius", "rows", "none"] | None = None, scale: str = "auto", intercept: bool = True,
        radius: float | None = None, seed: int = 0, class_weight: dict[Any, float] | None = None,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class Ons(WeightedClassifier):
    norm: float | None
    rate: float | None
    regularization: float | None
    projection: bool | None
    def __init__(
        self, *, norm: float | None = None, rate: float | None = None, regularization: float | None = None,
        projection: bool | None = None, scale: str = "auto", intercept: bool = True,
        radius: float | None = None, seed: int = 0, class_weight: dict[Any, float] | None = None,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class OnsDiag(WeightedClassifier):
    norm: float | None
    rate: float | None
    regularization: float | None
    projection: bool | None
    def __init__(
        self, *, norm: float | None = None, rate: float | None = None, regularization: float | None = None,
        projection: bool | None = None, scale: str = "auto", intercept: bool = True,
        radius: float | None = None, seed: int = 0, class_weight: dict[Any, float] | None = None,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class OnsSketch(WeightedClassifier):
    rank: int | None
    norm: float | None
    rate: float | None
    regularization: float | None
    projection: bool | None
    def __init__(
        self, *, rank: int | None = None, norm: float | None = None, rate: float | None = None,
        regularization: float | None = None, projection: bool | None = None, scale: str = "auto",
        intercept: bool = True, radius: float | None = None, seed: int = 0,
        class_weight: dict[Any, float] | None = None, missing: Sequence[Any] | None = None,
        not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class Perceptron(Classifier):
    def __init__(
        self, *, scale: str = "auto", intercept: bool = True, radius: float | None = None, seed: int = 0,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class SecondOrderPerceptron(Classifier):
    regularization: float | None
    margin_updates: bool | None
    def __init__(
        self, *, regularization: float | None = None, margin_updates: bool | None = None, scale: str = "auto",
        intercept: bool = True, radius: float | None = None, seed: int = 0,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
class SecondOrderPerceptronDiag(Classifier):
    regularization: float | None
    margin_updates: bool | None
    def __init__(
        self, *, regularization: float | None = None, margin_updates: bool | None = None, scale: str = "auto",
        intercept: bool = True, radius: float | None = None, seed: int = 0,
        missing: Sequence[Any] | None = None, not_missing: Sequence[Any] | None = None, memory: int = 8192,
    ) -> None: ...
