"""Online multiclass learning with regret guarantees.

`Learner` sees the label of every round, `Bandit` only what the label that it played has earned. `noregret.learners` and
`noregret.bandits` have one class for every algorithm, `noregret.sklearn` and `noregret.river` classifiers for scikit-learn and
River, `noregret.coba` learners for coba, `noregret.cluster` learners on several processes or machines. `evaluate` estimates
the rewards of other policies from logged decisions.
"""

from typing import TYPE_CHECKING, Any

from ._bandit import Bandit
from ._core import __version__, catalogue
from ._decisions import Decision, DecisionLog
from ._evaluation import (
    Comparison,
    Difference,
    Estimate,
    Evaluation,
    Learnt,
    Stage,
    compare_policies,
    evaluate,
    evaluate_arrays,
)
from ._explain import Explanation
from ._export import export_dsjson
from ._learner import Learner
from ._run import Run
from ._slates import evaluate_slates

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
    "Learnt",
    "Run",
    "Stage",
    "__version__",
    "bandits",
    "catalogue",
    "compare_policies",
    "evaluate",
    "evaluate_arrays",
    "evaluate_slates",
    "export_dsjson",
    "learners",
]


def __getattr__(name: str) -> Any:
    """Imports the modules of classes at their first use, because making the classes takes time."""
    if name in ("bandits", "learners"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
