"""Learners that are told whether the label that they played was right, one class each."""

from ._bandit import Bandit
from ._classes import learners, publish

__all__ = publish(learners(Bandit, __name__, "bandit"), globals())
