# Written by generate.py from the registry. Do not edit.
"""The classifiers, one for each learner."""

from __future__ import annotations

from typing import Literal

from ._base import Classifier, WeightedClassifier

__all__ = [
    "Aioli",
    "Auto",
    "Folklore",
    "FolkloreDiag",
    "Gaf",
    "GaptronHinge",
    "GaptronLogistic",
    "GaptronSmooth",
    "Ogd",
    "Ons",
    "OnsDiag",
    "Perceptron",
    "SecondOrderPerceptron",
    "SecondOrderPerceptronDiag",
]


class Auto(WeightedClassifier):
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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import Auto
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), Auto(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
    """

    _learner_name = "auto"
    _own = ("budget", "members")

    def __init__(
        self,
        *,
        budget: float | None = None,
        members: str | None = None,
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.budget = budget
        self.members = members
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class Folklore(WeightedClassifier):
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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import Folklore
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), Folklore(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
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
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.regularization = regularization
        self.curvature = curvature
        self.linear_term = linear_term
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class FolkloreDiag(WeightedClassifier):
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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import FolkloreDiag
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), FolkloreDiag(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
    """

    _learner_name = "folklore-diag"
    _own = ("norm", "regularization", "curvature")

    def __init__(
        self,
        *,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | str | None = None,
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.regularization = regularization
        self.curvature = curvature
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class Aioli(WeightedClassifier):
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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import Aioli
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), Aioli(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
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
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.regularization = regularization
        self.curvature = curvature
        self.improper_weight = improper_weight
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class Gaf(WeightedClassifier):
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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import Gaf
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), Gaf(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
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
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.regularization = regularization
        self.curvature = curvature
        self.smoothing = smoothing
        self.samples = samples
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class Ogd(WeightedClassifier):
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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import Ogd
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), Ogd(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
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
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.rate = rate
        self.schedule = schedule
        self.ball = ball
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class Ons(WeightedClassifier):
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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import Ons
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), Ons(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
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
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.rate = rate
        self.regularization = regularization
        self.projection = projection
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class OnsDiag(WeightedClassifier):
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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import OnsDiag
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), OnsDiag(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
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
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.norm = norm
        self.rate = rate
        self.regularization = regularization
        self.projection = projection
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class Perceptron(Classifier):
    """The multiclass Perceptron: moves weights on mistakes only, nothing to tune (`perceptron`).

    Guarantee: mistakes <= H + 2 X^2 |U|^2 + X |U| sqrt(2 H) for every U, H its hinge loss. Time of a round: 2
    K nnz(x) flops a round, twice that on a mistake; memory: K d numbers. Source: beygelzimer2017soba, Theorem
    1.

    It forecasts labels: `predict_proba_one` has the probabilities with which it plays each, which are no
    forecasts of the truth.

    Parameters
    ----------
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import Perceptron
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), Perceptron(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
    """

    _learner_name = "perceptron"
    _own = ()

    def __init__(
        self,
        *,
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class SecondOrderPerceptron(Classifier):
    """The Perceptron on whitened features: SOBA with full information (`second-order-perceptron`).

    Guarantee: mistakes <= L_eta + a eta/(2 - eta) |U|^2 + d K ln(1 + 2 X^2 T/(a d K))/(eta (2 - eta)), every
    U. Time of a round: 4 K d^2 + K^2 d^2 flops a round; memory: K^2 d^2 numbers. Source: beygelzimer2017soba,
    Algorithm 1, Theorem 2, with full information.

    It forecasts labels: `predict_proba_one` has the probabilities with which it plays each, which are no
    forecasts of the truth.

    Parameters
    ----------
    regularization : float, default=None
        Start a of the diagonal of A, > 0. None: radius^2.
    margin_updates : bool, default=None
        Whether right predictions with a small margin may be learnt from. None: true.
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import SecondOrderPerceptron
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), SecondOrderPerceptron(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
    """

    _learner_name = "second-order-perceptron"
    _own = ("regularization", "margin_updates")

    def __init__(
        self,
        *,
        regularization: float | None = None,
        margin_updates: bool | None = None,
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.regularization = regularization
        self.margin_updates = margin_updates
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class SecondOrderPerceptronDiag(Classifier):
    """The second-order Perceptron with a diagonal matrix, for many features (`second-order-perceptron-diag`).

    Guarantee: none: the theorem is about the full matrix. Time of a round: 2 K nnz(x) flops a round; memory:
    3 K d numbers. Source: beygelzimer2017soba, Algorithm 1, Theorem 2, with full information.

    It forecasts labels: `predict_proba_one` has the probabilities with which it plays each, which are no
    forecasts of the truth.

    Parameters
    ----------
    regularization : float, default=None
        Start a of the diagonal of A, > 0. None: radius^2.
    margin_updates : bool, default=None
        Whether right predictions with a small margin may be learnt from. None: true.
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import SecondOrderPerceptronDiag
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), SecondOrderPerceptronDiag(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
    """

    _learner_name = "second-order-perceptron-diag"
    _own = ("regularization", "margin_updates")

    def __init__(
        self,
        *,
        regularization: float | None = None,
        margin_updates: bool | None = None,
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.regularization = regularization
        self.margin_updates = margin_updates
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class GaptronLogistic(Classifier):
    """Gradient descent on logistic loss, played with as much chance as the surrogate gap pays for
    (`gaptron-logistic`).

    Guarantee: expected mistakes <= logistic loss (bits) of U + K X^2 |U|^2 / ln 2, for every U. Time of a
    round: 4 K nnz(x) flops a round; memory: K d numbers. Source: vanderhoeven2020gaptron, Algorithm 1,
    Theorem 1.

    It forecasts labels: `predict_proba_one` has the probabilities with which it plays each, which are no
    forecasts of the truth.

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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import GaptronLogistic
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), GaptronLogistic(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
    """

    _learner_name = "gaptron-logistic"
    _own = ("rate", "exploration", "norm")

    def __init__(
        self,
        *,
        rate: float | None = None,
        exploration: float | str | None = None,
        norm: float | None = None,
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.rate = rate
        self.exploration = exploration
        self.norm = norm
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class GaptronHinge(Classifier):
    """Gradient descent on hinge loss, played with as much chance as the surrogate gap pays for
    (`gaptron-hinge`).

    Guarantee: expected mistakes <= hinge loss of U + K^2 X^2 |U|^2 / (2 (K - 1)), for every U. Time of a
    round: 4 K nnz(x) flops a round; memory: K d numbers. Source: vanderhoeven2020gaptron, Algorithm 1,
    Theorem 2.

    It forecasts labels: `predict_proba_one` has the probabilities with which it plays each, which are no
    forecasts of the truth.

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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import GaptronHinge
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), GaptronHinge(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
    """

    _learner_name = "gaptron-hinge"
    _own = ("rate", "exploration", "norm")

    def __init__(
        self,
        *,
        rate: float | None = None,
        exploration: float | str | None = None,
        norm: float | None = None,
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.rate = rate
        self.exploration = exploration
        self.norm = norm
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()


class GaptronSmooth(Classifier):
    """Gradient descent on smooth hinge loss, played with as much chance as the surrogate gap pays for
    (`gaptron-smooth`).

    Guarantee: expected mistakes <= smooth hinge loss of U + 2 K X^2 |U|^2, for every U. Time of a round: 4 K
    nnz(x) flops a round; memory: K d numbers. Source: vanderhoeven2020gaptron, Algorithm 1, Theorem 3.

    It forecasts labels: `predict_proba_one` has the probabilities with which it plays each, which are no
    forecasts of the truth.

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
    scale : str
        How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
        (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take
        another for thousands of features).
    intercept : bool
        Whether a feature that is always 1 is added.
    radius : float
        Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
        many features as the first row has; without scaling the square root of their number.
    seed : int
        Seed of the learner's own randomness.
    memory : int
        Most memory that the learner's state may take, in MiB.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from noregret.river import GaptronSmooth
    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), GaptronSmooth(), metrics.Accuracy())
    >>> metric.get() > 0.7
    True
    """

    _learner_name = "gaptron-smooth"
    _own = ("rate", "exploration", "norm")

    def __init__(
        self,
        *,
        rate: float | None = None,
        exploration: float | str | None = None,
        norm: float | None = None,
        scale: str = "standard",
        intercept: bool = True,
        radius: float | None = None,
        seed: int = 0,
        memory: int = 8192,
    ) -> None:
        self.rate = rate
        self.exploration = exploration
        self.norm = norm
        self.scale = scale
        self.intercept = intercept
        self.radius = radius
        self.seed = seed
        self.memory = memory
        self._begin()
