"""The interpreter is free while rows are learnt, and threads may share a learner."""

import threading

import numpy as np
import pytest
from conftest import in_threads, stream

from noregret import Bandit, Learner, _arrays
from noregret.sklearn import AutoClassifier


def test_other_threads_go_on_meanwhile():
    x, y = stream(3000, 20, 5)
    learner = Learner("folklore", features=20, classes=5, radius=1.0)
    work = threading.Thread(target=learner.run, args=(x, y))
    work.start()
    turns = 0
    while work.is_alive():
        turns += 1
    # A call that held the interpreter would let this loop run a handful of times.
    assert turns > 1000 and learner.rounds == 3000


def test_predictions_are_the_same_from_many_threads():
    x, y = stream(500, 5, 3)
    learner = Learner("folklore", features=5, classes=3, radius=1.0)
    learner.update(x, y)
    expected = np.array([learner.predict_proba(row) for row in x])
    found = [None] * 4

    def rows(at):
        found[at] = np.array([learner.predict_proba(row) for row in x])

    in_threads(rows, 4)
    for each in found:
        np.testing.assert_array_equal(each, expected)


def test_no_round_is_lost():
    x, y = stream(200, 5, 3)
    learner = Learner("ogd", features=5, classes=3, radius=1.0)

    def learn(_):
        for row, label in zip(x, y, strict=True):
            learner.learn_one(row, label)
            learner.predict_proba(row)

    in_threads(learn, 4)
    assert learner.rounds == 800


def test_no_first_row_is_lost():
    # Each of several threads made a learner of its own row, and that of the last one stayed.
    for _ in range(20):
        learner, begin = Learner("folklore"), threading.Barrier(8)
        shop, decided = Bandit("squarecb", labels=[1, 2], oracle="pooled"), []

        def learn(at, learner=learner, shop=shop, begin=begin, decided=decided):
            begin.wait()
            learner.learn_one({"a": float(at)}, at)
            decided.append(shop.decide({"a": at}))
            shop.feedback(decided[-1].id, reward=0.5)

        in_threads(learn, 8)
        assert learner.rounds == 8 and sorted(learner._labels_out().tolist()) == list(range(8))
        assert shop.rounds == 8 and len({decision.id for decision in decided}) == 8 and {decision.label for decision in decided} <= {1, 2}


@pytest.mark.parametrize("name", ["auto", "folklore"])
def test_bits_do_not_depend_on_the_number_of_threads(name):
    x, y = stream(400, 12, 4)
    table = [{"a": row[0], "b": row[1], "word": "xyz"[label % 3]} for row, label in zip(x.tolist(), y.tolist(), strict=True)]
    expected, weight = None, np.arange(400) % 3
    for threads in (1, 2, 3):
        learners = Learner(name, features=12, classes=4, radius=4.0), Learner(name)
        runs = [
            learner.run(rows, y, weight, threads=threads, probabilities=True)
            for learner, rows in zip(learners, (x, table), strict=True)
        ]
        found = *(run.probabilities.tobytes() for run in runs), *(learner._core.to_bytes() for learner in learners)
        assert found == (expected or found), threads
        expected = found


def test_classifiers_learn_with_threads():
    x, y = stream(300, 6, 3)
    expected = AutoClassifier(orders=1).fit(x, y).partial_fit(x, y).predict_proba(x)
    found = AutoClassifier(orders=1, n_jobs=2).fit(x, y).partial_fit(x, y).predict_proba(x)
    np.testing.assert_array_equal(found, expected)


def test_progress_is_told_from_other_threads():
    x, y = stream(2000, 20, 5)
    told = []
    learner = Learner("auto", features=20, classes=5, radius=4.0)
    learner._core.run(np.ascontiguousarray(x), y, threads=2, progress=told.append)
    assert 0 < sum(told) <= 2000


@pytest.mark.parametrize("threads", [0, 1025])
def test_the_number_of_threads_is_checked(threads):
    x, y = stream(10, 2, 2)
    learner = Learner("auto", features=2, classes=2, radius=1.0)
    with pytest.raises(ValueError, match=f"threads = {threads}: must be from 1 to 1024"):
        learner.run(x, y, threads=threads)
    assert learner.rounds == 0


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_that_another_thread_changes_are_refused(kind):
    # So many that a call looks for signals, and calls `change`, before the last one.
    count = 60_000
    x, y = stream(count, 20, 5)
    rows = x
    if kind == "sparse":
        rows = pytest.importorskip("scipy.sparse").csr_array(x)
        x = rows.data
    learner = Learner("folklore", features=20, classes=5, radius=1.0)
    before = learner.copy()

    def change(_):
        x.flat[-3] = np.nan

    with pytest.raises(ValueError, match=f"row {count - 1}: another thread has changed the row while it was learnt or forecast, and column 17 has the value NaN"):
        learner._core.run(_arrays.rows(rows), _arrays.targets(y, False, {}), progress=change)
    before.update(rows[: count - 1], y[: count - 1])
    assert learner.rounds == count - 1
    np.testing.assert_allclose(learner.predict_proba(np.eye(20)), before.predict_proba(np.eye(20)), rtol=0, atol=1e-12)


def test_labels_and_weights_are_copies():
    y, weights = np.arange(3), np.ones(3)
    assert not np.shares_memory(_arrays.targets(y, False, {}), y) and not np.shares_memory(_arrays.weights(weights), weights)
