"""Learning on several processes or machines, whatever runs them.

`Engine` is what an engine has to do, in four functions; `LocalEngine` (joblib), `DaskEngine` and `SparkEngine` are thin, and
`noregret.ray` is the one that users meet first. `sweep`, `fit` and `KeyedLearners` are written once, against `Engine`. The
mathematics is the core's: statistics of learners add up where the theory says so (`Learner.statistics`).
"""

from ._engine import Actor, Engine, LocalEngine
from ._fit import Fitted, fit
from ._keyed import KeyedBandits, KeyedLearners
from ._sweep import Sweep, sweep

__all__ = ["Actor", "Engine", "Fitted", "KeyedBandits", "KeyedLearners", "LocalEngine", "Sweep", "fit", "sweep"]
