"""Learners with full information, one class each."""

from ._classes import learners, publish
from ._learner import Learner

__all__ = publish(learners(Learner, __name__, "full"), globals())
