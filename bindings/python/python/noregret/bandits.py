# Written by generate.py from the registry. Do not edit.
"""Learners that are told whether the label that they played was right, one class each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ._bandit import Bandit

__all__ = [
    "BanditReduction",
    "Banditron",
    "Confidit",
    "ConfiditDiag",
    "Exp4",
    "GaptronHinge",
    "GaptronLogistic",
    "GaptronSmooth",
    "Newtron",
    "Pnewtron",
    "Soba",
    "SobaDiag",
    "SobaReduction",
]


class GaptronLogistic(Bandit):
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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
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
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            rate=rate,
            exploration=exploration,
            norm=norm,
        )


class GaptronHinge(Bandit):
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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
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
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            rate=rate,
            exploration=exploration,
            norm=norm,
        )


class GaptronSmooth(Bandit):
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
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
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
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            rate=rate,
            exploration=exploration,
            norm=norm,
        )


class Banditron(Bandit):
    """The Perceptron with bandit feedback: random play now and then, unbiased steps (`banditron`).

    Guarantee: expected mistakes <= M + gamma T, M <= H + X |U| sqrt(2 (K M / gamma + gamma T)), every U of
    hinge loss H. Time of a round: 4 K nnz(x) flops a round; memory: K d numbers. Source: kakade2008banditron,
    Algorithm 1, Theorem 2.

    Parameters
    ----------
    exploration : float, default=None
        Rate gamma of uniform play, in [0, 1]; the guarantee needs at most 1/2. None: min(1/2, (classes /
        horizon)^(1/3)); 0.05 if the horizon is unknown.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        exploration: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
    ) -> None:
        super().__init__(
            "banditron",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            exploration=exploration,
        )


class Newtron(Bandit):
    """Newton steps on logistic loss, its gradient estimated from the played label (`newtron`).

    Guarantee: log-loss regret O(K^3 d min(exp(4 alpha X D) ln T, X D T^(2/3))) for the paper's parameters,
    which are not the defaults. Time of a round: 3 K^2 d^2 flops a round, and K^3 d^3 where the exact
    projection is active; memory: K^2 d^2 numbers, twice that with the exact projection. Source:
    hazan2011newtron, Algorithm 1.

    Parameters
    ----------
    exploration : float, default=None
        Rate gamma of uniform play, in [0, 1]. None: 0.01.
    alpha : float, default=None
        Sharpness alpha of the softmax, > 0. None: 10.
    beta : float, default=None
        Curvature beta of the quadratic losses, >= 0. None: 0.01.
    norm : float, default=None
        Radius D of the ball of weights, > 0. None: 1.
    projection : Literal["exact", "scale", "none"], default=None
        How weights are brought into the ball: `exact` in the matrix's norm, `scale`, or `none`. None:
        newtron: exact; pnewtron: scale.
    centre : Literal["current", "played"], default=None
        Where quadratic losses are centred: `current` weights, or 0 on explored rounds (`played`). None:
        current.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        exploration: float | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        norm: float | None = None,
        projection: Literal["exact", "scale", "none"] | None = None,
        centre: Literal["current", "played"] | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
    ) -> None:
        super().__init__(
            "newtron",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            exploration=exploration,
            alpha=alpha,
            beta=beta,
            norm=norm,
            projection=projection,
            centre=centre,
        )


class Pnewtron(Bandit):
    """Newtron with a diagonal matrix, for many features (`pnewtron`).

    Guarantee: none: the theorem is about the full matrix. Time of a round: 4 K nnz(x) flops a round; memory:
    3 K d numbers. Source: hazan2011newtron, Algorithm 1.

    Parameters
    ----------
    exploration : float, default=None
        Rate gamma of uniform play, in [0, 1]. None: 0.01.
    alpha : float, default=None
        Sharpness alpha of the softmax, > 0. None: 10.
    beta : float, default=None
        Curvature beta of the quadratic losses, >= 0. None: 0.01.
    norm : float, default=None
        Radius D of the ball of weights, > 0. None: 1.
    projection : Literal["exact", "scale", "none"], default=None
        How weights are brought into the ball: `exact` in the matrix's norm, `scale`, or `none`. None:
        newtron: exact; pnewtron: scale.
    centre : Literal["current", "played"], default=None
        Where quadratic losses are centred: `current` weights, or 0 on explored rounds (`played`). None:
        current.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        exploration: float | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        norm: float | None = None,
        projection: Literal["exact", "scale", "none"] | None = None,
        centre: Literal["current", "played"] | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
    ) -> None:
        super().__init__(
            "pnewtron",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            exploration=exploration,
            alpha=alpha,
            beta=beta,
            norm=norm,
            projection=projection,
            centre=centre,
        )


class Soba(Bandit):
    """Second-order bandit learner of margins: the second-order Perceptron, told only if it was right
    (`soba`).

    Guarantee: expected mistakes <= L_eta + a eta/(2 - eta) |U|^2 + d K^2 ln(1 + 2 X^2 T/(a d K))/(gamma eta
    (2 - eta)) + gamma T, every U. Time of a round: 4 K d^2 + K^2 d^2 flops a right guess; memory: K^2 d^2
    numbers. Source: beygelzimer2017soba, Algorithm 1, Theorem 2.

    Parameters
    ----------
    exploration : float | str, default=None
        Rate gamma of uniform play: a number in [0, 1] or `adaptive`. None: min(1, classes sqrt(features
        ln(horizon) / horizon)); adaptive if the horizon is unknown.
    regularization : float, default=None
        Start a of the diagonal of A, > 0. None: radius^2.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        exploration: float | str | None = None,
        regularization: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
    ) -> None:
        super().__init__(
            "soba",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            exploration=exploration,
            regularization=regularization,
        )


class SobaDiag(Bandit):
    """SOBA with a diagonal matrix, for many features (`soba-diag`).

    Guarantee: none: the theorem is about the full matrix. Time of a round: 2 K nnz(x) flops a round; memory:
    3 K d numbers. Source: beygelzimer2017soba, Algorithm 1, Theorem 2.

    Parameters
    ----------
    exploration : float | str, default=None
        Rate gamma of uniform play: a number in [0, 1] or `adaptive`. None: min(1, classes sqrt(features
        ln(horizon) / horizon)); adaptive if the horizon is unknown.
    regularization : float, default=None
        Start a of the diagonal of A, > 0. None: radius^2.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        exploration: float | str | None = None,
        regularization: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
    ) -> None:
        super().__init__(
            "soba-diag",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            exploration=exploration,
            regularization=regularization,
        )


class SobaReduction(Bandit):
    """Bandit learning by online Newton steps on the mistakes that exploration repairs (`soba-reduction`).

    Guarantee: expected mistakes <= L_eta + O(K^2 d ln T / (gamma eta)) + gamma T in the Frobenius ball, one
    eta. Time of a round: 4 K d^2 + K^2 d^2 flops a repaired mistake, and K^3 d^3 where the projection is
    active; memory: 2 K^2 d^2 numbers. Source: beygelzimer2017soba, appendix E.

    Parameters
    ----------
    exploration : float, default=None
        Rate gamma of uniform play, in [0, 1]. None: min(1, classes sqrt(features ln(horizon) / (loss_eta
        horizon))); 0.05 if the horizon is unknown.
    loss_eta : float, default=None
        eta of the loss, in (0, 1]; the guarantee holds up to the default. None: 1 / max(2 radius norm, 1).
    norm : float, default=None
        Bound D on the Frobenius norm of the comparator, > 0. None: 10 / radius.
    ons_rate : float, default=None
        Inverse step size b of the oracle, > 0. None: min(1 / (8 G norm), alpha) / 2, alpha = exploration
        loss_eta (2 - loss_eta) / (8 classes), G = 4 sqrt(2) classes radius / (exploration (2 - loss_eta)).
    ons_regularization : float, default=None
        Weight epsilon of the identity in the oracle's A_0, > 0. None: 1 / (ons_rate norm)^2.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        exploration: float | None = None,
        loss_eta: float | None = None,
        norm: float | None = None,
        ons_rate: float | None = None,
        ons_regularization: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
    ) -> None:
        super().__init__(
            "soba-reduction",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            exploration=exploration,
            loss_eta=loss_eta,
            norm=norm,
            ons_rate=ons_rate,
            ons_regularization=ons_regularization,
        )


class Confidit(Bandit):
    """Plays the class with the largest upper confidence bound on its margin, no randomness (`confidit`).

    Guarantee: regret O(K sqrt(d T) ln T) where P(y = k given x) is linear in x, for the paper's width; none
    for adversaries. Time of a round: 2 K d^2 flops a round; memory: K d^2 numbers. Source:
    crammer2013confidit, Algorithm 1, Theorem 1.

    Parameters
    ----------
    width : float, default=None
        Confidence width eta, >= 0. None: 1.
    alpha : float, default=None
        Offset alpha of the noise model, >= 0; matrices start at (1 + alpha)^2 I. None: 1.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        width: float | None = None,
        alpha: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
    ) -> None:
        super().__init__(
            "confidit",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            width=width,
            alpha=alpha,
        )


class ConfiditDiag(Bandit):
    """Confidit with diagonal matrices, for many features (`confidit-diag`).

    Guarantee: none: the theorem is about full matrices. Time of a round: 6 K nnz(x) flops a round; memory: 2
    K d numbers. Source: crammer2013confidit, Algorithm 1, Theorem 1.

    Parameters
    ----------
    width : float, default=None
        Confidence width eta, >= 0. None: 1.
    alpha : float, default=None
        Offset alpha of the noise model, >= 0; matrices start at (1 + alpha)^2 I. None: 1.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        width: float | None = None,
        alpha: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
    ) -> None:
        super().__init__(
            "confidit-diag",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            width=width,
            alpha=alpha,
        )


class BanditReduction(Bandit):
    """Any online logistic regression with bandit feedback: it learns where exploration was right
    (`bandit-reduction`).

    Guarantee: expected mistakes <= log loss of U + K R / gamma + gamma T, R the base learner's regret. Time
    of a round: that of the base learner; memory: that of the base learner. Source: agarwal2022folklore,
    Algorithm 2, Theorem 4.1.

    Parameters
    ----------
    base : str, default=None
        Name of the base learner, one of probabilities; its parameters as base__norm=2 and so on. None:
        folklore.
    exploration : float, default=None
        Probability gamma of uniform play, in [0, 1]. None: min(1, sqrt(classes R / horizon)), R = classes
        features ln(1 + horizon); 0.1 if the horizon is unknown.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    **nested : float, int, str or bool
        Parameters of `base`, whose names begin with `base__`; one that is not given, or None, takes its own
        default.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        base: str | None = None,
        exploration: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
        **nested: float | int | str | bool | None,
    ) -> None:
        super().__init__(
            "bandit-reduction",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            base=base,
            exploration=exploration,
            **nested,
        )


class Exp4(Bandit):
    """Exponential weights over random linear policies, toy-sized, for tests and teaching (`exp4`).

    Guarantee: expected mistakes <= those of the best of M policies + sqrt(2 K T ln M). Time of a round: 2 M K
    nnz(x) flops a round; memory: M K d numbers. Source: auer2002exp4, section 7.

    Parameters
    ----------
    policies : int, default=None
        Number M of policies, from 2 to 10000. None: 100.
    exploration : float, default=None
        Rate gamma of uniform play, in [0, 1]. None: 0.
    rate : float, default=None
        Learning rate eta, > 0. None: sqrt(2 ln(policies) / (classes horizon)); sqrt(ln(policies) / (classes
        t)) if the horizon is unknown.
    features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory, most_waiting, exploration_floor
        As in `noregret.Bandit`.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        features: int,
        classes: int | None = None,
        policies: int | None = None,
        exploration: float | None = None,
        rate: float | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str = "none",
        intercept: bool = False,
        sparse: bool = False,
        labels: Sequence[str] | None = None,
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
    ) -> None:
        super().__init__(
            "exp4",
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
            most_waiting=most_waiting,
            exploration_floor=exploration_floor,
            policies=policies,
            exploration=exploration,
            rate=rate,
        )
