# Written by generate.py from the registry. Do not edit.
"""Learners with bandit feedback, one class each."""

from collections.abc import Sequence
from typing import Any, Literal

from ._bandit import Bandit

__all__ = [
    "Auto", "BanditReduction", "Banditron", "Confidit", "ConfiditDiag", "Exp4", "Fastcb", "GaptronHinge",
    "GaptronLogistic", "GaptronSmooth", "Newtron", "Offers", "Pnewtron", "RelativeGaps", "Soba", "SobaDiag",
    "SobaReduction", "SobaSketch", "Squarecb"
]

class Auto(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, budget: float | None = None,
        member_memory: int | None = None, members: str | None = None, cost_factors: str | None = None,
        prior: float | None = None, prior_rounds: float | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class BanditReduction(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, base: str | None = None,
        exploration: float | None = None, radius: float | None = None, horizon: int | None = None,
        seed: int = 0, scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, text: Sequence[str] = (), categorical: Sequence[str] = (),
        numeric: Sequence[str] = (), time: Sequence[str] = (), drop: Sequence[str] = (),
        missing: Sequence[Any] = (), not_missing: Sequence[Any] = (), memory: int = 8192,
        most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None, **nested: float | int | str | bool | None,
    ) -> None: ...
class Banditron(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, exploration: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192, most_waiting: int = 1000000,
        exploration_floor: float = 0.0, costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class Confidit(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, width: float | None = None,
        alpha: float | None = None, prior: float | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class ConfiditDiag(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, width: float | None = None,
        alpha: float | None = None, prior: float | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class Exp4(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, policies: int | None = None,
        exploration: float | None = None, rate: float | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class Fastcb(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, oracle: str | None = None,
        models: Literal["separate", "joint"] | None = None,
        schedule: Literal["certificate", "printed", "root"] | None = None, factor: float | None = None,
        prior: float | None = None, prior_rounds: float | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None, **nested: float | int | str | bool | None,
    ) -> None: ...
class GaptronHinge(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, rate: float | None = None,
        exploration: float | Literal["adaptive"] | None = None, norm: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192, most_waiting: int = 1000000,
        exploration_floor: float = 0.0, costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class GaptronLogistic(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, rate: float | None = None,
        exploration: float | Literal["adaptive"] | None = None, norm: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192, most_waiting: int = 1000000,
        exploration_floor: float = 0.0, costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class GaptronSmooth(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, rate: float | None = None,
        exploration: float | Literal["adaptive"] | None = None, norm: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192, most_waiting: int = 1000000,
        exploration_floor: float = 0.0, costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class Newtron(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, exploration: float | None = None,
        alpha: float | None = None, beta: float | None = None, norm: float | None = None,
        projection: Literal["exact", "scale", "none"] | None = None,
        centre: Literal["current", "played"] | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class Offers(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, width: int | None = None,
        oracle: str | None = None, schedule: Literal["learnt", "certificate"] | None = None,
        prior: float | None = None, prior_rounds: float | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None, **nested: float | int | str | bool | None,
    ) -> None: ...
class Pnewtron(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, exploration: float | None = None,
        alpha: float | None = None, beta: float | None = None, norm: float | None = None,
        projection: Literal["exact", "scale", "none"] | None = None,
        centre: Literal["current", "played"] | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class RelativeGaps(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, oracle: str | None = None,
        models: Literal["separate", "joint"] | None = None,
        schedule: Literal["certificate", "printed", "root"] | None = None, factor: float | None = None,
        prior: float | None = None, prior_rounds: float | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None, **nested: float | int | str | bool | None,
    ) -> None: ...
class Soba(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None,
        exploration: float | Literal["adaptive"] | None = None, regularization: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192, most_waiting: int = 1000000,
        exploration_floor: float = 0.0, costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class SobaDiag(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None,
        exploration: float | Literal["adaptive"] | None = None, regularization: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192, most_waiting: int = 1000000,
        exploration_floor: float = 0.0, costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class SobaReduction(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, exploration: float | None = None,
        loss_eta: float | None = None, norm: float | None = None, ons_rate: float | None = None,
        ons_regularization: float | None = None, radius: float | None = None, horizon: int | None = None,
        seed: int = 0, scale: str | None = None, intercept: bool | None = None, sparse: bool = False,
        labels: Sequence[Any] | None = None, text: Sequence[str] = (), categorical: Sequence[str] = (),
        numeric: Sequence[str] = (), time: Sequence[str] = (), drop: Sequence[str] = (),
        missing: Sequence[Any] = (), not_missing: Sequence[Any] = (), memory: int = 8192,
        most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class SobaSketch(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, rank: int | None = None,
        exploration: float | Literal["adaptive"] | None = None, regularization: float | None = None,
        radius: float | None = None, horizon: int | None = None, seed: int = 0, scale: str | None = None,
        intercept: bool | None = None, sparse: bool = False, labels: Sequence[Any] | None = None,
        text: Sequence[str] = (), categorical: Sequence[str] = (), numeric: Sequence[str] = (),
        time: Sequence[str] = (), drop: Sequence[str] = (), missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (), memory: int = 8192, most_waiting: int = 1000000,
        exploration_floor: float = 0.0, costs: tuple[float, float] | str | None = None,
    ) -> None: ...
class Squarecb(Bandit):
    def __init__(
        self, *, features: int | None = None, classes: int | None = None, oracle: str | None = None,
        models: Literal["separate", "joint"] | None = None,
        schedule: Literal["certificate", "printed", "root"] | None = None, factor: float | None = None,
        prior: float | None = None, prior_rounds: float | None = None, radius: float | None = None,
        horizon: int | None = None, seed: int = 0, scale: str | None = None, intercept: bool | None = None,
        sparse: bool = False, labels: Sequence[Any] | None = None, text: Sequence[str] = (),
        categorical: Sequence[str] = (), numeric: Sequence[str] = (), time: Sequence[str] = (),
        drop: Sequence[str] = (), missing: Sequence[Any] = (), not_missing: Sequence[Any] = (),
        memory: int = 8192, most_waiting: int = 1000000, exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None, **nested: float | int | str | bool | None,
    ) -> None: ...
