"""Learners with bandit feedback, one class each."""

from ._bandit import Bandit
from ._classes import learners, publish

__all__ = publish(learners(Bandit, __name__, "bandit"), globals())
