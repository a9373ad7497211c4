"""Whatever holds numbers is taken as it is, and copied only where it must be."""

import numpy as np
import pytest
from conftest import stream

from noregret import Learner, _arrays

X, Y = stream(40, 3, 3)


def losses(x, y=Y):
    return Learner("folklore", features=3, classes=3, radius=1.0).run(x, y, look_ahead=False).losses


EXPECTED = losses(X)


def read_only():
    x = X.copy()
    x.setflags(write=False)
    return x


@pytest.mark.parametrize(
    "x",
    [
        X.tolist(),
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        np.column_stack([X, X])[:, :3],
        read_only(),
        X.astype(np.longdouble),
        X.astype(">f8"),
    ],
    ids=["list", "fortran", "every other", "columns", "read-only", "long double", "big-endian"],
)
def test_layouts(x):
    np.testing.assert_array_equal(losses(x), EXPECTED)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint16, bool])
def test_types(dtype):
    x = (X * 3).astype(dtype)
    np.testing.assert_array_equal(losses(x), losses(x.astype(float)))


@pytest.mark.parametrize("y", [Y.astype(np.int32), Y.astype(np.uint8), Y.tolist(), Y.astype(float), Y.astype(str)])
def test_targets(y):
    np.testing.assert_array_equal(losses(X, y), EXPECTED)


def test_no_rows():
    learner = Learner("folklore", features=3, classes=3)
    learner.update(np.empty((0, 3)), np.empty(0, dtype=int))
    run = learner.run(np.empty((0, 3)), [], probabilities=True)
    assert run.losses.shape == (0,) and learner.rounds == 0
    assert learner.predict_proba(np.empty((0, 3))).shape == (0, 3)


def test_what_fits_is_not_copied():
    assert _arrays.rows(X) is X
    frozen = read_only()
    assert _arrays.rows(frozen) is frozen
    sparse = pytest.importorskip("scipy.sparse")
    csr = sparse.csr_array(X)
    values, indices, _, width = _arrays.rows(csr)
    assert np.shares_memory(values, csr.data) and np.shares_memory(indices, csr.indices) and width == 3


def test_sparse_layouts():
    sparse = pytest.importorskip("scipy.sparse")
    csr = sparse.csr_array(X)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    backwards = csr.copy()
    for start, end in zip(csr.indptr, csr.indptr[1:], strict=False):
        backwards.indices[start:end] = csr.indices[start:end][::-1]
        backwards.data[start:end] = csr.data[start:end][::-1]
    backwards = sparse.csr_array((backwards.data, backwards.indices, backwards.indptr), shape=X.shape)
    for x in (csr, wide, backwards, sparse.csc_array(X), sparse.coo_matrix(X), sparse.csr_array(X.astype(np.float32))):
        np.testing.assert_allclose(losses(x), EXPECTED, atol=1e-6)
    twice = sparse.coo_array((np.ones(4), ([0, 0, 1, 1], [2, 2, 0, 1])), shape=(2, 3))
    np.testing.assert_allclose(losses(twice, [0, 1]), losses(twice.toarray(), [0, 1]), atol=1e-12)
    broken = sparse.csr_array(X)
    broken.indices = broken.indices.copy()
    broken.indices[0] = -1
    with pytest.raises(ValueError):
        losses(broken)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables(library):
    module = pytest.importorskip(library)
    columns = {f"c{at}": X[:, at] for at in range(3)}
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    y = module.array(Y) if library == "pyarrow" else module.Series(Y)
    np.testing.assert_array_equal(losses(table, y), EXPECTED)
    assert Learner("folklore", features=3, classes=3).predict_proba(table).shape == (40, 3)


def test_anything_that_speaks_arrow():
    pyarrow = pytest.importorskip("pyarrow")

    class Speaks:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    table = Speaks(pyarrow.table({f"c{at}": X[:, at] for at in range(3)}))
    np.testing.assert_array_equal(losses(table), EXPECTED)


def test_text_columns_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="x has dtype object; real numbers were needed"):
        losses(pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": ["x"] * 40}))


def test_missing_numbers_of_sparse_matrices_are_those_of_arrays():
    sparse = pytest.importorskip("scipy.sparse")
    holes = np.where(X > 0.5, np.nan, X)
    dense = Learner("folklore")
    dense.run(holes, Y)
    expected = dense.predict_proba(holes)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, sparse.lil_array):
        learner = Learner("folklore")
        learner.run(kind(holes), Y)
        np.testing.assert_array_equal(learner.predict_proba(kind(holes)), expected)
        np.testing.assert_array_equal(dense.predict_proba(kind(holes)), expected)
    assert learner.explain(sparse.csr_matrix(holes)).rows == len(Y)
    # Beyond some columns a missing number counts as 0, as an absent one.
    wide = sparse.csr_matrix((len(Y), 2000)) + sparse.hstack([sparse.csr_matrix(holes), sparse.csr_matrix((len(Y), 1997))]).tocsr()
    zeros = wide.copy()
    zeros.data[np.isnan(zeros.data)] = 0.0
    one, other = Learner("ogd"), Learner("ogd")
    one.run(wide, Y)
    other.run(zeros, Y)
    np.testing.assert_array_equal(one.predict_proba(wide), other.predict_proba(zeros))


def test_missing_numbers_of_a_single_column():
    sparse = pytest.importorskip("scipy.sparse")
    holes = np.where(np.arange(40) % 5 == 0, np.nan, X[:, 0])[:, None]
    learner = Learner("folklore")
    assert learner.run(holes, Y).rates["rounds"] == 40
    expected = learner.predict_proba(holes[:1])
    assert expected.shape == (1, 3)
    for row in (np.array([[np.nan]]), sparse.csr_matrix([[np.nan]]), [[None]]):
        np.testing.assert_array_equal(learner.predict_proba(row), expected)
    for row in (np.array([np.nan]), [None], [float("nan")]):
        np.testing.assert_array_equal(learner.predict_proba(row), expected[0])


def test_missing_numbers_of_lists_and_objects():
    holes = np.where(X > 0.5, np.nan, X)
    dense = Learner("folklore")
    dense.run(holes, Y)
    expected = dense.predict_proba(holes)
    nested = [[None if np.isnan(value) else value for value in row] for row in holes.tolist()]
    for rows in (nested, holes.tolist(), [tuple(row) for row in nested], holes.astype(object), (row for row in nested)):
        learner = Learner("folklore")
        learner.run(rows, Y)
        np.testing.assert_array_equal(learner.predict_proba(nested), expected)
    at = int(np.flatnonzero(np.isnan(holes).any(axis=1))[0])
    np.testing.assert_allclose(dense.predict_proba(nested[at]), expected[at], rtol=0, atol=1e-12)
    assert dense.predict(nested[at]) == dense.predict(holes)[at]
    dense.learn_one(nested[at], int(Y[at]))
    # Objects that are numbers are numbers.
    np.testing.assert_array_equal(losses(X.astype(object)), EXPECTED)
    with pytest.raises(TypeError, match="x has dtype object; real numbers were needed, and it has 'a'"):
        losses(np.array([["a", 1.0, 2.0]] * 40, dtype=object))


def test_missing_targets_that_are_numbers():
    target = np.where(np.arange(40) % 4 == 0, np.nan, X[:, 0])
    expected = Learner("vaw")
    expected.update(X[np.arange(40) % 4 != 0], target[np.arange(40) % 4 != 0])
    for y in (target, [None if np.isnan(value) else value for value in target]):
        for rows in (X, {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}):
            learner = Learner("vaw")
            assert learner.run(rows, y).rates["rounds"] == 30 == learner.rounds == expected.rounds
