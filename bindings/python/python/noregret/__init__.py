"""Online multiclass learning with regret guarantees.

`Learner` sees the truth of every round, `Bandit` only whether the label that it played was right. `noregret.learners` and
`noregret.bandits` have one class for every algorithm, `noregret.sklearn` and `noregret.river` classifiers for scikit-learn
and River, `noregret.coba` learners for coba. `evaluate` says what other policies would have earned on logged decisions.
"""

from typing import TYPE_CHECKING, Any

from ._bandit import Bandit, Decision, DecisionLog
from ._core import __version__, catalogue
from ._evaluation import (
    Comparison,
    Difference,
    Estimate,
    Evaluation,
    compare_policies,
    evaluate,
    evaluate_arrays,
)
from ._explain import Explanation
from ._learner import Learner
from ._run import Run

if TYPE_CHECKING:
    from . import bandits, learners

__all__ = [
    "Bandit",
    "Comparison",
    "Decision",
    "DecisionLog",
    "Difference",
    "Estimate",
    "Evaluation",
    "Explanation",
    "Learner",
    "Run",
    "__version__",
    "bandits",
    "catalogue",
    "compare_policies",
    "evaluate",
    "evaluate_arrays",
    "learners",
]


def __getattr__(name: str) -> Any:
    """The modules of classes are made when they are first asked for: that takes a while."""
    if name in ("bandits", "learners"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
