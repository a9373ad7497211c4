# Written by generate.py from the registry. Do not edit.
"""Learners that see the truth of every round, one class each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ._learner import Learner

__all__ = [
    "AdaboostOlm",
    "Aggregating",
    "Aioli",
    "Auto",
    "Folklore",
    "FolkloreDiag",
    "Ftrl",
    "Gaf",
    "GaptronHinge",
    "GaptronLogistic",
    "GaptronSmooth",
    "KernelAioli",
    "Ogd",
    "Ons",
    "OnsDiag",
    "Perceptron",
    "SecondOrderPerceptron",
    "SecondOrderPerceptronDiag",
    "Vaw",
]


class Auto(Learner):
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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        budget: float | None = None,
        members: str | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "auto",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            budget=budget,
            members=members,
        )


class Folklore(Learner):
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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | str | None = None,
        linear_term: bool | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "folklore",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            norm=norm,
            regularization=regularization,
            curvature=curvature,
            linear_term=linear_term,
        )


class FolkloreDiag(Learner):
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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | str | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "folklore-diag",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            norm=norm,
            regularization=regularization,
            curvature=curvature,
        )


class Aioli(Learner):
    """Improper second-order logistic regression for two classes, without a learning rate (`aioli`).

    Guarantee: regret <= lambda B^2 + d/(2 kappa) ln(1 + kappa T R^2/(4 d lambda)), norm(theta) <= B. Time of
    a round: 3 d^2 flops a round; memory: d^2 numbers. Source: jezequel2020aioli, equation (3), Theorem 1.

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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | str | None = None,
        improper_weight: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "aioli",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            norm=norm,
            regularization=regularization,
            curvature=curvature,
            improper_weight=improper_weight,
        )


class KernelAioli(Learner):
    """AIOLI with a kernel: non-linear logistic regression for two classes (`kernel-aioli`).

    Guarantee: regret <= lambda B^2 + 1/(2 kappa) ln det(I + kappa/(4 lambda) K_T), RKHS norm <= B, up to
    max_rounds. Time of a round: t^2 + 2 t d flops in round t; memory: t^2/2 + t d numbers after t <=
    max_rounds rounds. Source: jezequel2020aioli, section 4.1.

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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        kernel: Literal["linear", "polynomial", "rbf"] | None = None,
        degree: int | None = None,
        offset: float | None = None,
        length_scale: float | None = None,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | str | None = None,
        improper_weight: float | None = None,
        max_rounds: int | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "kernel-aioli",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            kernel=kernel,
            degree=degree,
            offset=offset,
            length_scale=length_scale,
            norm=norm,
            regularization=regularization,
            curvature=curvature,
            improper_weight=improper_weight,
            max_rounds=max_rounds,
        )


class Gaf(Learner):
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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        norm: float | None = None,
        regularization: float | None = None,
        curvature: float | None = None,
        smoothing: float | None = None,
        samples: int | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "gaf",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            norm=norm,
            regularization=regularization,
            curvature=curvature,
            smoothing=smoothing,
            samples=samples,
        )


class Vaw(Learner):
    """Online regression for squared loss that counts the coming row: Vovk-Azoury-Warmuth (`vaw`).

    Guarantee: regret <= lambda B^2 + d Y^2 ln(1 + T R^2/(lambda d)), norm(theta) <= B, targets in [-Y, Y].
    Time of a round: 3 d^2 flops a round; memory: d^2 numbers. Source: vovk2001vaw, section 3; GAF: section
    4.1.

    Parameters
    ----------
    norm : float, default=None
        Bound B on the Euclidean norm of the comparator, > 0. None: 30 / radius.
    regularization : float, default=None
        Weight lambda of the comparator's squared norm, > 0. None: (target_bound / norm)^2, or 1 / norm^2
        without a target_bound.
    target_bound : float, default=None
        Bound Y on the absolute value of the targets, > 0; forecasts are clipped to it. None: unknown: nothing
        is clipped.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        norm: float | None = None,
        regularization: float | None = None,
        target_bound: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "vaw",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            norm=norm,
            regularization=regularization,
            target_bound=target_bound,
        )


class Ogd(Learner):
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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        norm: float | None = None,
        rate: float | None = None,
        schedule: Literal["sqrt", "constant"] | None = None,
        ball: Literal["frobenius", "rows", "none"] | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "ogd",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            norm=norm,
            rate=rate,
            schedule=schedule,
            ball=ball,
        )


class Ons(Learner):
    """Online Newton step on the logistic loss, proper second-order baseline (`ons`).

    Guarantee: regret <= 5 (exp(sqrt(2) B R)(K-1) + 2 sqrt(2) B R) K d ln T in the Frobenius ball. Time of a
    round: 3(K-1)^2 d^2 flops a round, and (K-1)^3 d^3 where the projection is active; memory: (K-1)^2 d^2
    numbers, twice that with projection. Source: hazan2007ons, section 3.2, Theorem 2.

    Parameters
    ----------
    norm : float, default=None
        Bound B on the Frobenius norm of the comparator, > 0. None: 30 / radius.
    rate : float, default=None
        Inverse step size gamma_o, > 0. None: min(1 / (8 sqrt(2) radius norm), exp(-sqrt(2) norm radius) /
        (classes - 1)) / 2.
    regularization : float, default=None
        Weight epsilon of the identity in A_0, > 0. None: 1 / (2 rate norm)^2.
    projection : bool, default=None
        Whether the weights are projected to the ball; the guarantee needs it. None: true.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        norm: float | None = None,
        rate: float | None = None,
        regularization: float | None = None,
        projection: bool | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "ons",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            norm=norm,
            rate=rate,
            regularization=regularization,
            projection=projection,
        )


class OnsDiag(Learner):
    """Online Newton step with a diagonal matrix, for many sparse features (`ons-diag`).

    Guarantee: none: the theorem is about the full matrix. Time of a round: 8 K nnz(x) flops a round; memory:
    2 K d numbers. Source: hazan2007ons, section 3.2, diagonal.

    Parameters
    ----------
    norm : float, default=None
        Bound B on the Frobenius norm of the comparator, > 0. None: 30 / radius.
    rate : float, default=None
        Inverse step size gamma_o, > 0. None: min(1 / (8 sqrt(2) radius norm), exp(-sqrt(2) norm radius) /
        (classes - 1)) / 2.
    regularization : float, default=None
        Weight epsilon of the identity in A_0, > 0. None: 1 / (2 rate norm)^2.
    projection : bool, default=None
        Whether the weights are projected to the ball; the guarantee needs it. None: true.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        norm: float | None = None,
        rate: float | None = None,
        regularization: float | None = None,
        projection: bool | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "ons-diag",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            norm=norm,
            rate=rate,
            regularization=regularization,
            projection=projection,
        )


class Ftrl(Learner):
    """Follow the regularised leader: logistic regression on all rounds so far, solved anew each round
    (`ftrl`).

    Guarantee: regret <= lambda |U|^2 + R^2 T/(2 lambda) for every U. Time of a round: 3 to 5 Newton steps of
    T (K-1)^2 d^2 flops: for short streams; memory: (d + K) numbers per distinct row, and (K-1)^2 d^2. Source:
    shalevshwartz2007ftrl, primal-dual framework, the dual solved exactly.

    Parameters
    ----------
    regularization : float, default=None
        Weight lambda of the squared Frobenius norm of the weights, > 0. None: 1.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        regularization: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "ftrl",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            regularization=regularization,
        )


class Aggregating(Learner):
    """Vovk's aggregating forecaster by quadrature, for one or two features (`aggregating`).

    Guarantee: regret <= d (1 + ln(2 B R T/d)) for |theta| <= B, up to the quadrature's error. Time of a
    round: two exponentials and a logarithm per node a round; memory: 4 numbers per node. Source:
    foster2018improper, Algorithm 1, binary.

    Parameters
    ----------
    norm : float, default=None
        Radius B of the ball of comparators, > 0. None: 10 / radius.
    smoothing : float, default=None
        Share mu of the uniform distribution in every prediction, in [0, 1]; costs at most 2mu a round. None:
        0.
    nodes : int, default=None
        Nodes on the interval (one feature; 16 to 2^20, rounded up to a multiple of 16), or in the radius,
        with twice as many angles (two features; 16 to 1024). None: 4096 for one feature, 120 for two.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        norm: float | None = None,
        smoothing: float | None = None,
        nodes: int | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "aggregating",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            norm=norm,
            smoothing=smoothing,
            nodes=nodes,
        )


class Perceptron(Learner):
    """The multiclass Perceptron: moves weights on mistakes only, nothing to tune (`perceptron`).

    Guarantee: mistakes <= H + 2 X^2 |U|^2 + X |U| sqrt(2 H) for every U, H its hinge loss. Time of a round: 2
    K nnz(x) flops a round, twice that on a mistake; memory: K d numbers. Source: beygelzimer2017soba, Theorem
    1.

    Parameters
    ----------
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "perceptron",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
        )


class SecondOrderPerceptron(Learner):
    """The Perceptron on whitened features: SOBA with full information (`second-order-perceptron`).

    Guarantee: mistakes <= L_eta + a eta/(2 - eta) |U|^2 + d K ln(1 + 2 X^2 T/(a d K))/(eta (2 - eta)), every
    U. Time of a round: 4 K d^2 + K^2 d^2 flops a round; memory: K^2 d^2 numbers. Source: beygelzimer2017soba,
    Algorithm 1, Theorem 2, with full information.

    Parameters
    ----------
    regularization : float, default=None
        Start a of the diagonal of A, > 0. None: radius^2.
    margin_updates : bool, default=None
        Whether right predictions with a small margin may be learnt from. None: true.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        regularization: float | None = None,
        margin_updates: bool | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "second-order-perceptron",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            regularization=regularization,
            margin_updates=margin_updates,
        )


class SecondOrderPerceptronDiag(Learner):
    """The second-order Perceptron with a diagonal matrix, for many features (`second-order-perceptron-diag`).

    Guarantee: none: the theorem is about the full matrix. Time of a round: 2 K nnz(x) flops a round; memory:
    3 K d numbers. Source: beygelzimer2017soba, Algorithm 1, Theorem 2, with full information.

    Parameters
    ----------
    regularization : float, default=None
        Start a of the diagonal of A, > 0. None: radius^2.
    margin_updates : bool, default=None
        Whether right predictions with a small margin may be learnt from. None: true.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        regularization: float | None = None,
        margin_updates: bool | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "second-order-perceptron-diag",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            regularization=regularization,
            margin_updates=margin_updates,
        )


class GaptronLogistic(Learner):
    """Gradient descent on logistic loss, played with as much chance as the surrogate gap pays for
    (`gaptron-logistic`).

    Guarantee: expected mistakes <= logistic loss (bits) of U + K X^2 |U|^2 / ln 2, for every U. Time of a
    round: 4 K nnz(x) flops a round; memory: K d numbers. Source: vanderhoeven2020gaptron, Algorithm 1,
    Theorem 1.

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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        rate: float | None = None,
        exploration: float | str | None = None,
        norm: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "gaptron-logistic",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            rate=rate,
            exploration=exploration,
            norm=norm,
        )


class GaptronHinge(Learner):
    """Gradient descent on hinge loss, played with as much chance as the surrogate gap pays for
    (`gaptron-hinge`).

    Guarantee: expected mistakes <= hinge loss of U + K^2 X^2 |U|^2 / (2 (K - 1)), for every U. Time of a
    round: 4 K nnz(x) flops a round; memory: K d numbers. Source: vanderhoeven2020gaptron, Algorithm 1,
    Theorem 2.

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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        rate: float | None = None,
        exploration: float | str | None = None,
        norm: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "gaptron-hinge",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            rate=rate,
            exploration=exploration,
            norm=norm,
        )


class GaptronSmooth(Learner):
    """Gradient descent on smooth hinge loss, played with as much chance as the surrogate gap pays for
    (`gaptron-smooth`).

    Guarantee: expected mistakes <= smooth hinge loss of U + 2 K X^2 |U|^2, for every U. Time of a round: 4 K
    nnz(x) flops a round; memory: K d numbers. Source: vanderhoeven2020gaptron, Algorithm 1, Theorem 3.

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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        rate: float | None = None,
        exploration: float | str | None = None,
        norm: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
    ) -> None:
        super().__init__(
            "gaptron-smooth",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            rate=rate,
            exploration=exploration,
            norm=norm,
        )


class AdaboostOlm(Learner):
    """AdaBoost.OLM++: online multiclass boosting of trees, stumps or any learner (`adaboost-olm`).

    Guarantee: mistakes <= 4 min_i M_i + 2 ln(N/delta) with probability 1 - delta, M_i those of prefix i. Time
    of a round: N (K + weak learner); memory: N weak learners; trees keep rows in at most 8 MiB each. Source:
    agarwal2022folklore, Algorithm 4, Theorem 4.5.

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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory
        As in `noregret.Learner`.
    **nested : float, int, str or bool
        Parameters of `weak`, whose names begin with `weak__`; one that is not given, or None, takes its own
        default.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        weak: str | None = None,
        copies: int | None = None,
        play: Literal["hedge", "best", "last", "mixture", "vote"] | None = None,
        candidates: str | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        **nested: float | int | str | bool | None,
    ) -> None:
        super().__init__(
            "adaboost-olm",
            features=features,
            classes=classes,
            radius=radius,
            horizon=horizon,
            seed=seed,
            scale=scale,
            intercept=intercept,
            sparse=sparse,
            labels=labels,
            memory=memory,
            weak=weak,
            copies=copies,
            play=play,
            candidates=candidates,
            **nested,
        )
