"""Rows in an order that does not depend on the given one, equal rows as often as their weights say."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .._arrays import Floats


_FEW = 10_000
"""Sum of weights that is learnt as it is."""


def merged(X: Any, targets: Any, weights: Floats | None) -> tuple[Any, Any, Floats | None]:
    """The rows in a canonical order, independent of the given one. With weights, rows of weight 0 are removed, and equal rows are as
    many as the sum of their weights, each with a weight of at most 1: one row of the weight of many would outweigh what was learnt
    before it. Where the weights add up to more than twice the number of different rows, and to more than a few thousand, only
    their proportions count."""
    if weights is not None:
        kept = np.flatnonzero(weights)
        X, targets, weights = X[kept], targets[kept], weights[kept]
    if len(targets) == 0:
        return X, targets, weights
    keys = _keys(X, targets)
    if weights is None:
        order = np.argsort(keys, kind="stable")
        return X[order], targets[order], None
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    total = np.bincount(which.ravel(), weights=weights).astype(np.float64)
    unit = max(1.0, float(total.sum()) / max(2 * len(total), _FEW))
    total = total / unit
    # Sums of weights differ in their last bits.
    copies = np.maximum(np.ceil(total - 1e-9), 1.0).astype(np.int64)
    rows = np.repeat(first, copies)
    return X[rows], targets[rows], np.repeat(total / copies, copies)


def _keys(X: Any, targets: Any) -> Any:
    """One sortable item for each row and target, equal if and only if both are equal."""
    if isinstance(X, np.ndarray):
        # Zeros of either sign are equal, so their bytes must be.
        whole = np.ascontiguousarray(np.column_stack([X + 0.0, targets.astype(np.float64)]))
        return whole.view(np.dtype((np.void, whole.shape[1] * 8))).ravel()
    whole = scipy.sparse.hstack([X, targets.astype(np.float64)[:, None]], format="csr")
    whole.sum_duplicates()
    whole.eliminate_zeros()
    # In the order of the bytes of dense rows: what is not there has bytes of 0, so the row that has a number first comes later.
    entries = np.empty(len(whole.data), dtype=[("from the end", ">i8"), ("number", "<f8")])
    entries["from the end"], entries["number"] = whole.shape[1] - whole.indices.astype(np.int64), whole.data
    keys = np.empty(len(targets), dtype=object)
    for at, (start, end) in enumerate(zip(whole.indptr[:-1], whole.indptr[1:], strict=True)):
        keys[at] = entries[start:end].tobytes()
    return keys
