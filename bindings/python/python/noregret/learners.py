"""Learners that see the truth of every round, one class each."""

from ._classes import learners, publish
from ._learner import Learner

__all__ = publish(learners(Learner, __name__, "full"), globals())
