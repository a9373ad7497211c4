"""Classifiers for River, one for each learner that can add classes and features in bounded memory;
`pip install noregret[river]`."""

from . import _classifiers
from ._classifiers import *  # noqa: F403

__all__ = _classifiers.__all__
