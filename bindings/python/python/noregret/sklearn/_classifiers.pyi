# Written by generate.py from the registry. Do not edit.
"""The classifiers, one for each useful learner."""

from typing import Any, Literal

from ._base import Classifier
from ._weighted import WeightedClassifier

__all__ = [
    "AdaboostOlmClassifier", "AioliClassifier", "AutoClassifier", "FolkloreClassifier",
    "FolkloreDiagClassifier", "FolkloreIntervalsClassifier", "FolkloreSketchClassifier", "FtrlClassifier",
    "GafClassifier", "GaptronHingeClassifier", "GaptronLogisticClassifier", "GaptronSmoothClassifier",
    "KernelAioliClassifier", "KernelAioliLandmarksClassifier", "LabelTreeClassifier", "OgdClassifier",
    "OnsClassifier", "OnsDiagClassifier", "OnsSketchClassifier", "PerceptronClassifier",
    "SecondOrderPerceptronClassifier", "SecondOrderPerceptronDiagClassifier"
]

class AdaboostOlmClassifier(Classifier):
    weak: str | None
    copies: int | None
    play: Literal["hedge", "best", "last", "mixture", "vote"] | None
    candidates: str | None
    def __init__(
        self, *, weak: str | None = None, copies: int | None = None,
        play: Literal["hedge", "best", "last", "mixture", "vote"] | None = None,
        candidates: str | None = None, passes: int = 1, orders: int | None = None, scale: str = "auto",
        fit_intercept: bool = True, radius: float | None = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
        **nested: Any,
    ) -> None: ...
class AioliClassifier(WeightedClassifier):
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    improper_weight: float | None
    def __init__(
        self, *, norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None,
        improper_weight: float | None = None, passes: int = 1, orders: int | None = None, scale: str = "auto",
        fit_intercept: bool = True, radius: float | None = None, class_weight: Any = None,
        random_state: Any = 0, n_jobs: int | None = None, text: Any = None, categorical: Any = None,
        numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None,
        memory: int = 8192,
    ) -> None: ...
class AutoClassifier(WeightedClassifier):
    budget: float | None
    member_memory: int | None
    members: str | None
    cost_factors: str | None
    def __init__(
        self, *, budget: float | None = None, member_memory: int | None = None, members: str | None = None,
        cost_factors: str | None = None, passes: int = 1, orders: int | None = None, scale: str = "auto",
        fit_intercept: bool = True, radius: float | None = None, class_weight: Any = None,
        random_state: Any = 0, n_jobs: int | None = None, text: Any = None, categorical: Any = None,
        numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None,
        memory: int = 8192,
    ) -> None: ...
class FolkloreClassifier(WeightedClassifier):
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    linear_term: bool | None
    def __init__(
        self, *, norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, linear_term: bool | None = None,
        passes: int = 1, orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, class_weight: Any = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class FolkloreDiagClassifier(WeightedClassifier):
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    def __init__(
        self, *, norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, passes: int = 1,
        orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, class_weight: Any = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class FolkloreIntervalsClassifier(WeightedClassifier):
    block: int | None
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    def __init__(
        self, *, block: int | None = None, norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, passes: int = 1,
        orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, class_weight: Any = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class FolkloreSketchClassifier(WeightedClassifier):
    rank: int | None
    eigenvalue: Literal["mean", "least"] | None
    norm: float | None
    regularization: float | None
    curvature: float | Literal["safe", "tight", "paper"] | None
    def __init__(
        self, *, rank: int | None = None, eigenvalue: Literal["mean", "least"] | None = None,
        norm: float | None = None, regularization: float | None = None,
        curvature: float | Literal["safe", "tight", "paper"] | None = None, passes: int = 1,
        orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, class_weight: Any = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class FtrlClassifier(WeightedClassifier):
    regularization: float | None
    def __init__(
        self, *, regularization: float | None = None, passes: int = 1, orders: int | None = None,
        scale: str = "auto", fit_intercept: bool = True, radius: float | None = None,
        class_weight: Any = None, random_state: Any = 0, n_jobs: int | None = None, text: Any = None,
        categorical: Any = None, numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None,
        not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class GafClassifier(WeightedClassifier):
    norm: float | None
    regularization: float | None
    curvature: float | None
    smoothing: float | None
    samples: int | None
    def __init__(
        self, *, norm: float | None = None, regularization: float | None = None,
        curvature: float | None = None, smoothing: float | None = None, samples: int | None = None,
        passes: int = 1, orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, class_weight: Any = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class GaptronHingeClassifier(Classifier):
    rate: float | None
    exploration: float | Literal["adaptive"] | None
    norm: float | None
    def __init__(
        self, *, rate: float | None = None, exploration: float | Literal["adaptive"] | None = None,
        norm: float | None = None, passes: int = 1, orders: int | None = None, scale: str = "auto",
        fit_intercept: bool = True, radius: float | None = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class GaptronLogisticClassifier(Classifier):
    rate: float | None
    exploration: float | Literal["adaptive"] | None
    norm: float | None
    def __init__(
        self, *, rate: float | None = None, exploration: float | Literal["adaptive"] | None = None,
        norm: float | None = None, passes: int = 1, orders: int | None = None, scale: str = "auto",
        fit_intercept: bool = True, radius: float | None = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class GaptronSmoothClassifier(Classifier):
    rate: float | None
    exploration: float | Literal["adaptive"] | None
    norm: float | None
    def __init__(
        self, *, rate: float | None = None, exploration: float | Literal["adaptive"] | None = None,
        norm: float | None = None, passes: int = 1, orders: int | None = None, scale: str = "auto",
        fit_intercept: bool = True, radius: float | None = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class KernelAioliClassifier(WeightedClassifier):
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
        improper_weight: float | None = None, max_rounds: int | None = None, passes: int = 1,
        orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, class_weight: Any = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class KernelAioliLandmarksClassifier(WeightedClassifier):
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
        improper_weight: float | None = None, passes: int = 1, orders: int | None = None, scale: str = "auto",
        fit_intercept: bool = True, radius: float | None = None, class_weight: Any = None,
        random_state: Any = 0, n_jobs: int | None = None, text: Any = None, categorical: Any = None,
        numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None,
        memory: int = 8192,
    ) -> None: ...
class LabelTreeClassifier(WeightedClassifier):
    node: str | None
    balance: float | None
    def __init__(
        self, *, node: str | None = None, balance: float | None = None, passes: int = 1,
        orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, class_weight: Any = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
        **nested: Any,
    ) -> None: ...
class OgdClassifier(WeightedClassifier):
    norm: float | None
    rate: float | None
    schedule: Literal["sqrt", "constant"] | None
    ball: Literal["frobenius", "rows", "none"] | None
    def __init__(
        self, *, norm: float | None = None, rate: float | None = None,
        schedule: Literal["sqrt", "constant"] | None = None,
        ball: Literal["frobenius", "rows", "none"] | None = None, passes: int = 1, orders: int | None = None,
        scale: str = "auto", fit_intercept: bool = True, radius: float | None = None,
        class_weight: Any = None, random_state: Any = 0, n_jobs: int | None = None, text: Any = None,
        categorical: Any = None, numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None,
        not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class OnsClassifier(WeightedClassifier):
    norm: float | None
    rate: float | None
    regularization: float | None
    projection: bool | None
    def __init__(
        self, *, norm: float | None = None, rate: float | None = None, regularization: float | None = None,
        projection: bool | None = None, passes: int = 1, orders: int | None = None, scale: str = "auto",
        fit_intercept: bool = True, radius: float | None = None, class_weight: Any = None,
        random_state: Any = 0, n_jobs: int | None = None, text: Any = None, categorical: Any = None,
        numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None,
        memory: int = 8192,
    ) -> None: ...
class OnsDiagClassifier(WeightedClassifier):
    norm: float | None
    rate: float | None
    regularization: float | None
    projection: bool | None
    def __init__(
        self, *, norm: float | None = None, rate: float | None = None, regularization: float | None = None,
        projection: bool | None = None, passes: int = 1, orders: int | None = None, scale: str = "auto",
        fit_intercept: bool = True, radius: float | None = None, class_weight: Any = None,
        random_state: Any = 0, n_jobs: int | None = None, text: Any = None, categorical: Any = None,
        numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None,
        memory: int = 8192,
    ) -> None: ...
class OnsSketchClassifier(WeightedClassifier):
    rank: int | None
    norm: float | None
    rate: float | None
    regularization: float | None
    projection: bool | None
    def __init__(
        self, *, rank: int | None = None, norm: float | None = None, rate: float | None = None,
        regularization: float | None = None, projection: bool | None = None, passes: int = 1,
        orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, class_weight: Any = None, random_state: Any = 0,
        n_jobs: int | None = None, text: Any = None, categorical: Any = None, numeric: Any = None,
        time: Any = None, drop: Any = None, missing: Any = None, not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class PerceptronClassifier(Classifier):
    def __init__(
        self, *, passes: int = 1, orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, random_state: Any = 0, n_jobs: int | None = None, text: Any = None,
        categorical: Any = None, numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None,
        not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class SecondOrderPerceptronClassifier(Classifier):
    regularization: float | None
    margin_updates: bool | None
    def __init__(
        self, *, regularization: float | None = None, margin_updates: bool | None = None, passes: int = 1,
        orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, random_state: Any = 0, n_jobs: int | None = None, text: Any = None,
        categorical: Any = None, numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None,
        not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
class SecondOrderPerceptronDiagClassifier(Classifier):
    regularization: float | None
    margin_updates: bool | None
    def __init__(
        self, *, regularization: float | None = None, margin_updates: bool | None = None, passes: int = 1,
        orders: int | None = None, scale: str = "auto", fit_intercept: bool = True,
        radius: float | None = None, random_state: Any = 0, n_jobs: int | None = None, text: Any = None,
        categorical: Any = None, numeric: Any = None, time: Any = None, drop: Any = None, missing: Any = None,
        not_missing: Any = None, memory: int = 8192,
    ) -> None: ...
