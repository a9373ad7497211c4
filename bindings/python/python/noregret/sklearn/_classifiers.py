# Written by generate.py from the registry. Do not edit.
"""The classifiers, one for each learner."""

from __future__ import annotations

from typing import Any, Literal

from ._base import Classifier, WeightedClassifier

__all__ = [
    "AdaboostOlmClassifier",
    "AioliClassifier",
    "AutoClassifier",
    "FolkloreClassifier",
    "FolkloreDiagClassifier",
    "FtrlClassifier",
    "GafClassifier",
    "GaptronHingeClassifier",
    "GaptronLogisticClassifier",
    "GaptronSmoothClassifier",
    "KernelAioliClassifier",
    "OgdClassifier",
    "OnsClassifier",
    "OnsDiagClassifier",
    "PerceptronClassifier",
    "SecondOrderPerceptronClassifier",
    "SecondOrderPerceptronDiagClassifier",
]


class AutoClassifier(WeightedClassifier):
    """The default: a mixture of second-order learners that needs no tuning (`auto`).

    Guarantee: log loss <= that of every member + a few nats: ln(members) + ln(heads) + 3.5, in total. Time of
    a round: that of its members, at most the budget; memory: that of its members. Source:
    vovk1990aggregating, aggregating algorithm for log loss.

    Parameters
    ----------
    budget : float, default=None
        Millions of multiply-adds that a round may cost, > 0, five of them a nanosecond: decides who takes
        part. Less than 0.5 counts as that. None: 20000 / horizon, but at least 0.8 and at most 8.
    members : str, default=None
        Who takes part, as in `labels+shared@0.1+products@0.001`; a minus stands before who has left. None:
        what the budget allows.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "auto"
    _own = ("budget", "members")

    def __init__(
        self,
        *,
        budget: float | None = None,
        members: str | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.budget = budget
        self.members = members
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class FolkloreClassifier(WeightedClassifier):
    """Improper second-order logistic regression with logarithmic regret and no learning rate (`folklore`).

    Guarantee: regret <= lambda K B^2 + (K-1)d/(4 gamma) ln(1 + 2 gamma T R^2/(lambda K d)), rows of norm B.
    Time of a round: 2(K-1)^2 d^2 + (K-1)^3 d^2 flops a round; memory: (K-1)^2 d^2 numbers. Source:
    agarwal2022folklore, Algorithm 1, Theorem 3.1.

    Parameters
    ----------
    norm : float, default=None
        Bound B on the Euclidean norm of every row of the comparator, > 0. None: 30 / radius.
    regularization : float, default=None
        Weight lambda of the comparator's squared Frobenius norm, > 0; the guarantee needs at least gamma R^2.
        None: 2 radius / norm.
    curvature : float | str, default=None
        Curvature gamma of the surrogates: `safe`, `tight`, `paper` (no guarantee) or a number > 0. None:
        safe: 1 / (2 + 2 norm radius + ln(classes - 1)).
    linear_term : bool, default=None
        Whether the linear term B_t of the paper is kept; `false` drops it, for study (K >= 3). None: true.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "folklore"
    _own = ("norm", "regularization", "curvature", "linear_term")

    def __init__(
        self,
        *,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | str | None = None,
        linear_term: bool | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.regularization = regularization
        self.curvature = curvature
        self.linear_term = linear_term
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class FolkloreDiagClassifier(WeightedClassifier):
    """FOLKLORE with a diagonal matrix, for many features (`folklore-diag`).

    Guarantee: none: the theorem is about the full matrix. Time of a round: 10 K nnz(x) flops a round; memory:
    2 K d numbers. Source: agarwal2022folklore, Algorithm 1, with a diagonal matrix.

    Parameters
    ----------
    norm : float, default=None
        Bound B on the Euclidean norm of every row of the comparator, > 0. None: 30 / radius.
    regularization : float, default=None
        Start lambda of the diagonal, > 0. None: 2 radius / norm.
    curvature : float | str, default=None
        Curvature gamma: `safe`, `tight`, `paper` or a number > 0. None: safe: 1 / (2 + 2 norm radius +
        ln(classes - 1)).
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "folklore-diag"
    _own = ("norm", "regularization", "curvature")

    def __init__(
        self,
        *,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | str | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.regularization = regularization
        self.curvature = curvature
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class AioliClassifier(WeightedClassifier):
    """Improper second-order logistic regression for two classes, without a learning rate (`aioli`).

    Guarantee: regret <= lambda B^2 + d/(2 kappa) ln(1 + kappa T R^2/(4 d lambda)), norm(theta) <= B. Time of
    a round: 3 d^2 flops a round; memory: d^2 numbers. Source: jezequel2020aioli, equation (3), Theorem 1.

    For two classes only.

    Parameters
    ----------
    norm : float, default=None
        Bound B on the Euclidean norm of the comparator, > 0. None: 30 / radius.
    regularization : float, default=None
        Weight lambda of the comparator's squared norm, > 0. None: 1 / norm^2.
    curvature : float | str, default=None
        Curvature kappa of the surrogates: `paper`, `safe`, `tight` or a number > 0. None: paper: 1 / (2 (1 +
        norm radius)).
    improper_weight : float, default=None
        Weight rho of the coming round's losses, >= 0; the guarantee needs 1, and 0 gives a proper learner.
        None: 1.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "aioli"
    _own = ("norm", "regularization", "curvature", "improper_weight")

    def __init__(
        self,
        *,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | str | None = None,
        improper_weight: float | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.regularization = regularization
        self.curvature = curvature
        self.improper_weight = improper_weight
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class KernelAioliClassifier(WeightedClassifier):
    """AIOLI with a kernel: non-linear logistic regression for two classes (`kernel-aioli`).

    Guarantee: regret <= lambda B^2 + 1/(2 kappa) ln det(I + kappa/(4 lambda) K_T), RKHS norm <= B, up to
    max_rounds. Time of a round: t^2 + 2 t d flops in round t; memory: t^2/2 + t d numbers after t <=
    max_rounds rounds. Source: jezequel2020aioli, section 4.1.

    For two classes only.

    Parameters
    ----------
    kernel : Literal["linear", "polynomial", "rbf"], default=None
        `linear`, `polynomial` or `rbf`. None: rbf.
    degree : int, default=None
        Degree of the polynomial kernel, from 1 to 100. None: 2.
    offset : float, default=None
        Offset of the polynomial kernel, >= 0. None: 1.
    length_scale : float, default=None
        Length scale of the rbf kernel, > 0. None: 1.
    norm : float, default=None
        Bound B on the norm of the comparator in the kernel's Hilbert space, > 0. None: 30 / radius.
    regularization : float, default=None
        Weight lambda of the comparator's squared norm, > 0. None: 1 / norm^2.
    curvature : float | str, default=None
        Curvature kappa of the surrogates: `paper`, `safe`, `tight` or a number > 0. None: paper: 1 / (2 (1 +
        norm radius)).
    improper_weight : float, default=None
        Weight rho of the coming round's losses, >= 0; the guarantee needs 1. None: 1.
    max_rounds : int, default=None
        Rows that are stored at most, >= 1: after that the learner stops learning. None: 4096.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "kernel-aioli"
    _own = ("kernel", "degree", "offset", "length_scale", "norm", "regularization", "curvature", "improper_weight", "max_rounds")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "polynomial", "rbf"] | None = None,
        degree: int | None = None,
        offset: float | None = None,
        length_scale: float | None = None,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | str | None = None,
        improper_weight: float | None = None,
        max_rounds: int | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.offset = offset
        self.length_scale = length_scale
        self.norm = norm
        self.regularization = regularization
        self.curvature = curvature
        self.improper_weight = improper_weight
        self.max_rounds = max_rounds
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class GafClassifier(WeightedClassifier):
    """Gaussian aggregating forecaster: the mean softmax of a Gaussian posterior (`gaf`).

    Guarantee: regret <= lambda B^2 + K d (1/2 + 2 sqrt(3)/beta) ln(1 + T beta R^2/(2 lambda)) in the
    Frobenius ball. Time of a round: 2(K-1)^2 d^2 + (K-1)^3 d^2 flops a round, and the expectation; memory:
    (K-1)^2 d^2 numbers. Source: jezequel2021gaf, Algorithm 1, Theorem 1.

    Parameters
    ----------
    norm : float, default=None
        Bound B on the Frobenius norm of the comparator, > 0. None: 30 / radius.
    regularization : float, default=None
        Weight lambda of the comparator's squared Frobenius norm, > 0. None: 32 features classes radius^2.
    curvature : float, default=None
        Curvature beta of the surrogates, > 0; the guarantee needs at most the default. None: 1 /
        (ln(classes)/2 + norm radius + 1).
    smoothing : float, default=None
        Weight mu of the uniform distribution in the forecast, from 0 to less than 1. None: 0 with quadrature,
        0.001 with samples.
    samples : int, default=None
        Samples m of the posterior, >= 1. Unset for 2 or 3 classes: quadrature instead. None: quadrature for
        classes <= 3, else 100.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "gaf"
    _own = ("norm", "regularization", "curvature", "smoothing", "samples")

    def __init__(
        self,
        *,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | None = None,
        smoothing: float | None = None,
        samples: int | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.regularization = regularization
        self.curvature = curvature
        self.smoothing = smoothing
        self.samples = samples
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class OgdClassifier(WeightedClassifier):
    """Online gradient descent on the logistic loss (`ogd`).

    Guarantee: regret <= 3 sqrt(2) B R sqrt(T) in the Frobenius ball; rows: times sqrt(K). Time of a round: 4
    K nnz(x) flops a round; memory: K d numbers. Source: zinkevich2003ogd, Theorem 1.

    Parameters
    ----------
    norm : float, default=None
        Radius B of the ball of comparators, > 0. None: 30 / radius.
    rate : float, default=None
        Step size eta_0, > 0. None: sqrt: 2 N / (sqrt(2) radius); constant: N / (sqrt(2) radius
        sqrt(horizon)), N = norm, or norm sqrt(classes) for ball = rows.
    schedule : Literal["sqrt", "constant"], default=None
        `sqrt` or `constant` (which needs a horizon or a rate). None: sqrt.
    ball : Literal["frobenius", "rows", "none"], default=None
        `frobenius`, `rows` or `none`. None: frobenius.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "ogd"
    _own = ("norm", "rate", "schedule", "ball")

    def __init__(
        self,
        *,
        norm: float | None = None,
        rate: float | None = None,
        schedule: Literal["sqrt", "constant"] | None = None,
        ball: Literal["frobenius", "rows", "none"] | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.rate = rate
        self.schedule = schedule
        self.ball = ball
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class OnsClassifier(WeightedClassifier):
    """Online Newton step on the logistic loss, proper second-order baseline (`ons`).

    Guarantee: regret <= 5 (exp(sqrt(2) B R)(K-1) + 2 sqrt(2) B R) K d ln T in the Frobenius ball. Time of a
    round: 3(K-1)^2 d^2 flops a round, and (K-1)^3 d^3 where the projection is active; memory: (K-1)^2 d^2
    numbers, twice that with projection. Source: hazan2007ons, section 3.2, Theorem 2.

    Parameters
    ----------
    norm : float, default=None
        Bound B on the Frobenius norm of the comparator, > 0. None: 3 / radius (with the learner's own 30 /
        radius the theorem's steps are too small to be seen).
    rate : float, default=None
        Inverse step size gamma_o, > 0. None: min(1 / (8 sqrt(2) radius norm), exp(-sqrt(2) norm radius) /
        (classes - 1)) / 2.
    regularization : float, default=None
        Weight epsilon of the identity in A_0, > 0. None: 1 / (2 rate norm)^2.
    projection : bool, default=None
        Whether the weights are projected to the ball; the guarantee needs it. None: true.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "ons"
    _own = ("norm", "rate", "regularization", "projection")
    _reach = 3.0

    def __init__(
        self,
        *,
        norm: float | None = None,
        rate: float | None = None,
        regularization: float | None = None,
        projection: bool | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.rate = rate
        self.regularization = regularization
        self.projection = projection
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class OnsDiagClassifier(WeightedClassifier):
    """Online Newton step with a diagonal matrix, for many sparse features (`ons-diag`).

    Guarantee: none: the theorem is about the full matrix. Time of a round: 8 K nnz(x) flops a round; memory:
    2 K d numbers. Source: hazan2007ons, section 3.2, diagonal.

    Parameters
    ----------
    norm : float, default=None
        Bound B on the Frobenius norm of the comparator, > 0. None: 3 / radius (with the learner's own 30 /
        radius the theorem's steps are too small to be seen).
    rate : float, default=None
        Inverse step size gamma_o, > 0. None: min(1 / (8 sqrt(2) radius norm), exp(-sqrt(2) norm radius) /
        (classes - 1)) / 2.
    regularization : float, default=None
        Weight epsilon of the identity in A_0, > 0. None: 1 / (2 rate norm)^2.
    projection : bool, default=None
        Whether the weights are projected to the ball; the guarantee needs it. None: true.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "ons-diag"
    _own = ("norm", "rate", "regularization", "projection")
    _reach = 3.0

    def __init__(
        self,
        *,
        norm: float | None = None,
        rate: float | None = None,
        regularization: float | None = None,
        projection: bool | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.rate = rate
        self.regularization = regularization
        self.projection = projection
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class FtrlClassifier(WeightedClassifier):
    """Follow the regularised leader: logistic regression on all rounds so far, solved anew each round
    (`ftrl`).

    Guarantee: regret <= lambda |U|^2 + R^2 T/(2 lambda) for every U. Time of a round: 3 to 5 Newton steps of
    T (K-1)^2 d^2 flops: for short streams; memory: (d + K) numbers per distinct row, and (K-1)^2 d^2. Source:
    shalevshwartz2007ftrl, primal-dual framework, the dual solved exactly.

    Parameters
    ----------
    regularization : float, default=None
        Weight lambda of the squared Frobenius norm of the weights, > 0. None: 1.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "ftrl"
    _own = ("regularization",)

    def __init__(
        self,
        *,
        regularization: float | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.regularization = regularization
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class PerceptronClassifier(Classifier):
    """The multiclass Perceptron: moves weights on mistakes only, nothing to tune (`perceptron`).

    Guarantee: mistakes <= H + 2 X^2 |U|^2 + X |U| sqrt(2 H) for every U, H its hinge loss. Time of a round: 2
    K nnz(x) flops a round, twice that on a mistake; memory: K d numbers. Source: beygelzimer2017soba, Theorem
    1.

    It forecasts labels, not probabilities: there is no `predict_proba`.

    Parameters
    ----------
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "perceptron"
    _own = ()

    def __init__(
        self,
        *,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class SecondOrderPerceptronClassifier(Classifier):
    """The Perceptron on whitened features: SOBA with full information (`second-order-perceptron`).

    Guarantee: mistakes <= L_eta + a eta/(2 - eta) |U|^2 + d K ln(1 + 2 X^2 T/(a d K))/(eta (2 - eta)), every
    U. Time of a round: 4 K d^2 + K^2 d^2 flops a round; memory: K^2 d^2 numbers. Source: beygelzimer2017soba,
    Algorithm 1, Theorem 2, with full information.

    It forecasts labels, not probabilities: there is no `predict_proba`.

    Parameters
    ----------
    regularization : float, default=None
        Start a of the diagonal of A, > 0. None: radius^2.
    margin_updates : bool, default=None
        Whether right predictions with a small margin may be learnt from. None: true.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "second-order-perceptron"
    _own = ("regularization", "margin_updates")

    def __init__(
        self,
        *,
        regularization: float | None = None,
        margin_updates: bool | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.regularization = regularization
        self.margin_updates = margin_updates
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class SecondOrderPerceptronDiagClassifier(Classifier):
    """The second-order Perceptron with a diagonal matrix, for many features (`second-order-perceptron-diag`).

    Guarantee: none: the theorem is about the full matrix. Time of a round: 2 K nnz(x) flops a round; memory:
    3 K d numbers. Source: beygelzimer2017soba, Algorithm 1, Theorem 2, with full information.

    It forecasts labels, not probabilities: there is no `predict_proba`.

    Parameters
    ----------
    regularization : float, default=None
        Start a of the diagonal of A, > 0. None: radius^2.
    margin_updates : bool, default=None
        Whether right predictions with a small margin may be learnt from. None: true.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "second-order-perceptron-diag"
    _own = ("regularization", "margin_updates")

    def __init__(
        self,
        *,
        regularization: float | None = None,
        margin_updates: bool | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.regularization = regularization
        self.margin_updates = margin_updates
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class GaptronLogisticClassifier(Classifier):
    """Gradient descent on logistic loss, played with as much chance as the surrogate gap pays for
    (`gaptron-logistic`).

    Guarantee: expected mistakes <= logistic loss (bits) of U + K X^2 |U|^2 / ln 2, for every U. Time of a
    round: 4 K nnz(x) flops a round; memory: K d numbers. Source: vanderhoeven2020gaptron, Algorithm 1,
    Theorem 1.

    It forecasts labels, not probabilities: there is no `predict_proba`.

    Parameters
    ----------
    rate : float, default=None
        Learning rate eta, > 0; the guarantee holds up to the default. None: logistic: ln 2 / (2 K radius^2);
        hinge: (K - 1) / (K radius)^2; smooth: 1 / (4 K radius^2), K = classes; with mode = bandit times
        exploration / K (logistic: at least (K - 1) / (K - 1 + exp(sqrt(2) norm radius)) / K).
    exploration : float | str, default=None
        Least rate gamma of uniform play: a number in [0, 1], or with mode = bandit also `adaptive`, which
        falls as 1/sqrt t. None: 0; with mode = bandit min(1, c / sqrt(horizon)), c = K radius norm times 1 /
        sqrt(ln 2) (logistic), K / (sqrt(2) (K - 1)) (hinge), sqrt(2) (smooth); adaptive if the horizon is
        unknown.
    norm : float, default=None
        Radius D of the ball that the weights are projected to, > 0; `inf` for no projection. None: inf; with
        mode = bandit 10 / radius.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "gaptron-logistic"
    _own = ("rate", "exploration", "norm")

    def __init__(
        self,
        *,
        rate: float | None = None,
        exploration: float | str | None = None,
        norm: float | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.rate = rate
        self.exploration = exploration
        self.norm = norm
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class GaptronHingeClassifier(Classifier):
    """Gradient descent on hinge loss, played with as much chance as the surrogate gap pays for
    (`gaptron-hinge`).

    Guarantee: expected mistakes <= hinge loss of U + K^2 X^2 |U|^2 / (2 (K - 1)), for every U. Time of a
    round: 4 K nnz(x) flops a round; memory: K d numbers. Source: vanderhoeven2020gaptron, Algorithm 1,
    Theorem 2.

    It forecasts labels, not probabilities: there is no `predict_proba`.

    Parameters
    ----------
    rate : float, default=None
        Learning rate eta, > 0; the guarantee holds up to the default. None: logistic: ln 2 / (2 K radius^2);
        hinge: (K - 1) / (K radius)^2; smooth: 1 / (4 K radius^2), K = classes; with mode = bandit times
        exploration / K (logistic: at least (K - 1) / (K - 1 + exp(sqrt(2) norm radius)) / K).
    exploration : float | str, default=None
        Least rate gamma of uniform play: a number in [0, 1], or with mode = bandit also `adaptive`, which
        falls as 1/sqrt t. None: 0; with mode = bandit min(1, c / sqrt(horizon)), c = K radius norm times 1 /
        sqrt(ln 2) (logistic), K / (sqrt(2) (K - 1)) (hinge), sqrt(2) (smooth); adaptive if the horizon is
        unknown.
    norm : float, default=None
        Radius D of the ball that the weights are projected to, > 0; `inf` for no projection. None: inf; with
        mode = bandit 10 / radius.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "gaptron-hinge"
    _own = ("rate", "exploration", "norm")

    def __init__(
        self,
        *,
        rate: float | None = None,
        exploration: float | str | None = None,
        norm: float | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.rate = rate
        self.exploration = exploration
        self.norm = norm
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class GaptronSmoothClassifier(Classifier):
    """Gradient descent on smooth hinge loss, played with as much chance as the surrogate gap pays for
    (`gaptron-smooth`).

    Guarantee: expected mistakes <= smooth hinge loss of U + 2 K X^2 |U|^2, for every U. Time of a round: 4 K
    nnz(x) flops a round; memory: K d numbers. Source: vanderhoeven2020gaptron, Algorithm 1, Theorem 3.

    It forecasts labels, not probabilities: there is no `predict_proba`.

    Parameters
    ----------
    rate : float, default=None
        Learning rate eta, > 0; the guarantee holds up to the default. None: logistic: ln 2 / (2 K radius^2);
        hinge: (K - 1) / (K radius)^2; smooth: 1 / (4 K radius^2), K = classes; with mode = bandit times
        exploration / K (logistic: at least (K - 1) / (K - 1 + exp(sqrt(2) norm radius)) / K).
    exploration : float | str, default=None
        Least rate gamma of uniform play: a number in [0, 1], or with mode = bandit also `adaptive`, which
        falls as 1/sqrt t. None: 0; with mode = bandit min(1, c / sqrt(horizon)), c = K radius norm times 1 /
        sqrt(ln 2) (logistic), K / (sqrt(2) (K - 1)) (hinge), sqrt(2) (smooth); adaptive if the horizon is
        unknown.
    norm : float, default=None
        Radius D of the ball that the weights are projected to, > 0; `inf` for no projection. None: inf; with
        mode = bandit 10 / radius.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "gaptron-smooth"
    _own = ("rate", "exploration", "norm")

    def __init__(
        self,
        *,
        rate: float | None = None,
        exploration: float | str | None = None,
        norm: float | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
    ) -> None:
        self.rate = rate
        self.exploration = exploration
        self.norm = norm
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory


class AdaboostOlmClassifier(Classifier):
    """AdaBoost.OLM++: online multiclass boosting of trees, stumps or any learner (`adaboost-olm`).

    Guarantee: mistakes <= 4 min_i M_i + 2 ln(N/delta) with probability 1 - delta, M_i those of prefix i. Time
    of a round: N (K + weak learner); memory: N weak learners; trees keep rows in at most 8 MiB each. Source:
    agarwal2022folklore, Algorithm 4, Theorem 4.5.

    It forecasts labels, not probabilities: there is no `predict_proba` except with `play="best"`,
    `play="last"`, `play="mixture"` or `play="vote"`.

    Parameters
    ----------
    weak : str, default=None
        Weak learner: `tree`, `best-stump`, `stump`, `linear-cost`, or a learner that sees the label, as in
        `ogd`; its parameters as weak__grace=8 and so on. None: tree.
    copies : int, default=None
        Number N of copies, from 1 to 10000. None: 30.
    play : Literal["hedge", "best", "last", "mixture", "vote"], default=None
        `hedge` draws a prefix as the theorem asks; `best`, `last`, `mixture` and `vote` are deterministic and
        outside it. None: hedge.
    candidates : str, default=None
        Stumps to choose from, for stumps only: [[[feature, threshold], ...], ...], a list for every copy.
        None: found while rows come.
    passes : int, default=1
        How often `fit` learns every row. The learner's guarantee is about one pass.
    scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
        How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
        deviations. `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`.
    fit_intercept : bool, default=True
        Whether a feature that is always 1 is added.
    radius : float, default=None
        Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
        `partial_fit` what `scale` guarantees.
    random_state : int, RandomState instance or None, default=0
        Decides the order of rows in `fit` and the learner's own randomness.
    memory : int, default=8192
        Most memory that the learner's state may take, in MiB.
    **nested : float, int, str or bool
        Parameters of `weak`, whose names begin with `weak__`; one that is not given, or None, takes its own
        default.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    n_rounds_ : int
        Rounds learnt.
    params_ : dict
        The learner's parameters in use.
    learner_ : noregret.Learner
        The learner underneath, to save, merge or certify.
    """

    _learner_name = "adaboost-olm"
    _own = ("weak", "copies", "play", "candidates")
    _nested = "weak"

    def __init__(
        self,
        *,
        weak: str | None = None,
        copies: int | None = None,
        play: Literal["hedge", "best", "last", "mixture", "vote"] | None = None,
        candidates: str | None = None,
        passes: int = 1,
        scale: str = "auto",
        fit_intercept: bool = True,
        radius: float | None = None,
        random_state: Any = 0,
        memory: int = 8192,
        **nested: Any,
    ) -> None:
        self.weak = weak
        self.copies = copies
        self.play = play
        self.candidates = candidates
        self.passes = passes
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.random_state = random_state
        self.memory = memory
        self._set_nested(nested)
