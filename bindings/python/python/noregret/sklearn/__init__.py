"""Classifiers for scikit-learn, one for each full-information learner; `pip install noregret[sklearn]`."""

from . import _classifiers
from ._classifiers import *  # noqa: F403

__all__ = _classifiers.__all__
