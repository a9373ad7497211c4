"""Learning on several processes or machines, with any engine.

`Engine` is the interface of an engine, with four functions. `LocalEngine` (joblib), `ProcessEngine`, `DaskEngine` and `SparkEngine` are
thin adapters; for Ray see `noregret.ray`. `sweep`, `fit` and `KeyedLearners` work with every engine. Statistics of
learners are added by `Learner.statistics`, where the theory permits it.
"""

from ._engine import Actor, Engine, LocalEngine, ProcessEngine
from ._fit import Fitted, fit
from ._keyed import KeyedBandits, KeyedLearners
from ._sweep import Sweep, sweep

__all__ = ["Actor", "Engine", "Fitted", "KeyedBandits", "KeyedLearners", "LocalEngine", "ProcessEngine", "Sweep", "fit", "sweep"]
