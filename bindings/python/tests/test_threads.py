"""The interpreter is free while rows are learnt, and threads may share a learner."""

import threading

import numpy as np
from conftest import stream

from noregret import Learner


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

    threads = [threading.Thread(target=rows, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in found:
        np.testing.assert_array_equal(each, expected)


def test_no_round_is_lost():
    x, y = stream(200, 5, 3)
    learner = Learner("ogd", features=5, classes=3, radius=1.0)

    def learn():
        for row, label in zip(x, y, strict=True):
            learner.learn_one(row, label)
            learner.predict_proba(row)

    threads = [threading.Thread(target=learn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learner.rounds == 800
