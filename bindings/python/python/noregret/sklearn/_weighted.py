"""Common part of the classifiers whose learners take importance weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from .. import _targets
from ._base import Classifier


class WeightedClassifier(Classifier):
    """Methods and common parameters of the classifiers with `sample_weight` and `class_weight`."""

    _weighs = True

    def _weights_of(self, y: Any, weights: Any, whole: bool) -> Any:
        if self.class_weight is None:
            return weights
        if not whole and self.class_weight == "balanced":
            raise ValueError(
                'class_weight = "balanced" needs all rows, and partial_fit sees some: give a dictionary of weights by class'
            )
        if isinstance(self.class_weight, Mapping):
            _targets.class_weights(self.class_weight)
        y = np.asarray(y)
        given = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
        by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        self._by_class = dict(zip(self.classes_.tolist(), by_class.tolist(), strict=True))
        weighted = given * by_class[self._targets(y)]
        total = weighted.sum()
        # Theorems' steps assume weights of about 1, so only the proportions of the classes are changed.
        return weighted * (given.sum() / total) if whole and total > 0 else weighted

    def _learner_weights(self) -> dict[str, float] | None:
        return None if self.class_weight is None else _targets.class_weights(getattr(self, "_by_class", None))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns from all rows: online-to-batch.

        The rows are shuffled by `random_state`, independently of their given order, and learnt online `passes` times.
        The classifier uses the learner's last state, which is better in practice than the random earlier state of the
        theory of online-to-batch. Of several `orders` each has a learner, and their forecasts are averaged. Columns
        are scaled by statistics of all rows. What `auto` fits to a part of the rows at times, its boosted trees, is in the
        end fitted to all. A row of weight 3 is the same as three rows of weight 1. Where the weights add up to more than
        10,000 and more than twice the number of different rows, only their proportions count.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights >= 0, by default 1.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, merge=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learns rows once, in the given order.

        Columns are scaled online, by statistics of the rows so far. The first call of `partial_fit`, unless `fit` was
        called before, needs `classes`. Without `radius` and with `scale="none"` the radius is the largest norm of the
        rows of the first call.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All possible classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights >= 0; rows of weight 0 are not learnt.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight)
