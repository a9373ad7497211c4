"""What becomes of a batch of keyed learners: a table of all that may happen to it, each line tried."""

import contextlib
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import killed, stream
from test_keyed import alone, make, same_learners

from noregret.cluster import KeyedBandits
from noregret.cluster._store import partition_of

PARTITIONS = 4
X, Y = stream(60, 3, 2, seed=8)
LABELS = [("no", "yes")[label] for label in Y]


def keys_of(*partitions):
    """Twenty keys in some of the files."""
    found = [key for at in range(1000) if partition_of(key := f"shop {at}", PARTITIONS) in partitions]
    return found[:5] * 4


A = keys_of(0, 1, 2, 3), X[:20], LABELS[:20]
B = keys_of(0, 1), X[20:40], LABELS[20:40]
C = keys_of(2, 3), X[40:], LABELS[40:]
OPEN, CHECKPOINT = "opened again", "checkpoint"
LEARNT, AGAIN = "learnt", "answered again, and not learnt"
OTHER, OVERTAKEN = "other rows were learnt under this number", "the numbers of a source increase, and batch [0-9] was learnt"

# What happens, in order: batches with their numbers (and sources), a checkpoint, or the store is closed and opened again. Then what becomes of
# the last one.
OUTCOMES = {
    "a new number": ([(A, 1), (B, 2)], LEARNT),
    "no numbers": ([(A, None), (A, None)], LEARNT),
    "the same rows under a new number": ([(A, 1), (A, 2)], LEARNT),
    "a repeated batch": ([(A, 1), (A, 1)], AGAIN),
    "a repeated batch after a checkpoint": ([(A, 1), CHECKPOINT, (A, 1)], AGAIN),
    "a repeated batch after a start": ([(A, 1), OPEN, (A, 1)], AGAIN),
    "a repeated batch after another": ([(A, 1), (B, 2), (A, 1)], AGAIN),
    "other rows under the last number": ([(A, 1), (B, 1)], OTHER),
    "other rows under the last number after a start": ([(A, 1), OPEN, (B, 1)], OTHER),
    "other rows under an earlier number": ([(B, 1), (B, 2), (C, 1)], OTHER),
    "other rows under a number that a checkpoint has forgotten": ([(B, 1), (B, 2), CHECKPOINT, (C, 1)], OVERTAKEN),
    "some other rows under a number that a checkpoint has forgotten": ([(B, 1), (B, 2), CHECKPOINT, (A, 1)], OVERTAKEN),
    "a number that was left out": ([(B, 2), (C, 1)], OVERTAKEN),
    "a number that was left out after a start": ([(B, 2), OPEN, (C, 1)], OVERTAKEN),
    "the number of another source": ([(A, 1, "north"), (B, 1, "south")], LEARNT),
    "a lower number than another source's": ([(A, 7, "north"), (B, 1, "south")], LEARNT),
    "a batch of another source under its number": ([(A, 1, "north"), (A, 1, "south"), (A, 1, "south")], AGAIN),
}


def send(keyed, batch):
    (keys, x, y), number, *source = batch
    return keyed.learn(keys, x, y, batch=number, source=source[0] if source else "")


def holds(keyed, batches):
    """The learners are those that have learnt these batches, to the bit, and no others are there."""
    keys, x, y = (sum((list(batch[at]) for batch in batches), []) for at in range(3))
    expected = alone(keys, x, y)
    assert len(keyed) == len(expected)
    same_learners(keyed, expected, X)


@pytest.mark.parametrize("actors", [1, 3])
@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes(name, actors, tmp_path):
    (*before, last), outcome = OUTCOMES[name]
    keyed, answers, learnt = make(tmp_path, actors=actors, partitions=PARTITIONS), {}, []
    for step in before:
        if step == OPEN:
            keyed.close()
            keyed = make(tmp_path, actors=actors, partitions=PARTITIONS)
        elif step == CHECKPOINT:
            keyed.checkpoint()
        else:
            answers[str(step)] = send(keyed, step)
            learnt.append(step[0])
    if outcome == LEARNT:
        send(keyed, last)
        learnt.append(last[0])
    elif outcome == AGAIN:
        again, first = send(keyed, last), answers[str(last)]
        assert again.played == first.played and np.array_equal(again.losses, first.losses)
    else:
        with pytest.raises(ValueError, match=outcome):
            send(keyed, last)
    holds(keyed, learnt)
    send(keyed, (C, None, "later"))
    holds(keyed, [*learnt, C])
    keyed.close()


def with_row(column, value, at=13):
    """The batch A with one other cell."""
    batch = [list(one) for one in A]
    batch[column][at] = value
    return batch[0], batch[1] if column == 1 else A[1], batch[2]


BAD = {
    "an unknown label": (with_row(2, "maybe"), r"row 13 \(key 'shop [0-9]+'\) has 'maybe'"),
    "a missing key": (with_row(0, None), r"keys\[13\] is missing"),
    "an infinite number": (with_row(1, [0.0, np.inf, 0.0]), r"x\[13\]: column 1 has the value inf"),
    "a missing number": (with_row(1, [0.0, np.nan, 0.0]), r"x\[13\]: column 1 has the value nan"),
    "numbers that are too large": (with_row(1, [0.0, 1e200, 0.0]), "row 13: its values are too large"),
    "a row that is too short": (with_row(1, [0.0, 1.0]), "x has rows of different lengths"),
    "too few labels": ((A[0], A[1], A[2][:-1]), "19 rows for 20 keys"),
    "too few keys": ((A[0][:-1], A[1], A[2]), "20 rows for 19 keys"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_batch_with_one_bad_row_is_not_learnt_and_may_be_mended(name, tmp_path):
    bad, message = BAD[name]
    with make(tmp_path, actors=3, partitions=PARTITIONS) as keyed:
        send(keyed, (B, 1))
        with pytest.raises((TypeError, ValueError), match=message):
            send(keyed, (bad, 2))
        holds(keyed, [B])
        send(keyed, (A, 2))
        holds(keyed, [B, A])


def test_a_bandit_decides_for_all_rows_of_a_batch_or_for_none(tmp_path):
    with KeyedBandits(tmp_path, "soba", features=3, labels=["no", "yes"], actors=3, partitions=PARTITIONS) as keyed:
        with pytest.raises(ValueError, match="row 13: its values are too large"):
            keyed.decide(A[0], with_row(1, [0.0, 1e200, 0.0])[1], batch=1)
        assert len(keyed) == 0
        assert len(keyed.decide(A[0], A[1], batch=1)) == 20


WRONG = {
    "a number that is none": ({"batch": "7"}, "batch = '7': a whole number was needed"),
    "half a number": ({"batch": 7.5}, "batch = 7.5: a whole number was needed"),
    "a truth value": ({"batch": True}, "batch = True: a whole number was needed"),
    "a number below 1": ({"batch": 0}, "batch = 0: must be from 1 to 4611686018427387904"),
    "a number that no file holds": ({"batch": 2**70}, "batch = 1180591620717411303424: must be from 1 to"),
    "no source": ({"source": None}, "source = None: a text was needed"),
    "one text for all keys": ({"keys": "abcdefghijklmnopqrst"}, "keys is 'abcdefghijklmnopqrst'; a list with a key for every row was needed"),
    "a list as a key": ({"keys": [["shop", 1]] * 20}, r"keys\[0\] is \['shop', 1\]; a text or a number was needed"),
    "half of a character": ({"keys": ["\ud800"] * 20}, r"keys\[0\] is '.ud800', half of a character"),
}


@pytest.mark.parametrize("name", WRONG)
def test_numbers_sources_and_keys_are_checked(name, tmp_path):
    wrong, message = WRONG[name]
    keys, x, y = A
    with make(tmp_path, actors=2, partitions=PARTITIONS) as keyed:
        with pytest.raises((TypeError, ValueError), match=message):
            keyed.learn(**{"keys": keys, "x": x, "y": y} | wrong)
        assert len(keyed) == 0
        send(keyed, (A, np.int64(1)))
        send(keyed, (A, None))
        holds(keyed, [A, A])


KILLED = """
import os, sys
from noregret.cluster._store import Partitions
import test_outcomes as t

learn, calls = Partitions.learn, []

def dies(self, *batch):
    calls.append(batch)
    if len(calls) == 2:  # The first actor has answered.
        os._exit(9)
    return learn(self, *batch)

keyed = t.make(sys.argv[1], actors=2, partitions=t.PARTITIONS)
t.send(keyed, (t.B, 1))
Partitions.learn = dies
t.send(keyed, (t.A, 2))
"""


def test_a_batch_that_a_crash_has_halved_is_completed_under_its_number(tmp_path):
    killed(KILLED, tmp_path)
    for refused in ((B, 2), (C, 2), (with_row(2, "no" if A[2][13] == "yes" else "yes"), 2)):
        with make(tmp_path, actors=1, partitions=PARTITIONS) as keyed, pytest.raises(ValueError, match=OTHER):
            send(keyed, refused)
    with make(tmp_path, actors=3, partitions=PARTITIONS) as keyed:
        send(keyed, (A, 2))
        holds(keyed, [B, A])
        send(keyed, (A, 2))
        holds(keyed, [B, A])


def test_a_batch_that_a_crash_has_halved_without_a_number_is_learnt_twice_in_part(tmp_path):
    killed(KILLED.replace("(t.A, 2)", "(t.A, None)"), tmp_path)
    with make(tmp_path, actors=3, partitions=PARTITIONS) as keyed:
        before = rounds(keyed)
        assert 20 < before < 40
        send(keyed, (A, None))
        assert rounds(keyed) == before + 20


def rounds(keyed):
    """The rows that all keys have learnt."""
    return sum(one.rounds for one in known(keyed).values())


def known(keyed):
    """The learners that are there."""
    found = {}
    for key in {*A[0], *B[0], *C[0]}:
        with contextlib.suppress(KeyError):
            found[key] = keyed.get(key)
    return found


# The same for the decisions of bandits and their feedback: what happens, in order, and what becomes of the last step.
RIGHT, WRONG_ONES = [True] * 20, [False] * 20
DECISIONS = {
    "a new number": ([("decide", A, 1), ("decide", B, 2)], LEARNT),
    "decisions for a repeated batch": ([("decide", A, 1), ("decide", A, 1)], AGAIN),
    "decisions for a repeated batch after feedback": ([("decide", A, 1), ("feedback", RIGHT, 2), ("decide", A, 1)], AGAIN),
    "decisions for a repeated batch after a start": ([("decide", A, 1), OPEN, ("decide", A, 1)], AGAIN),
    "decisions for a repeated batch after a checkpoint": ([("decide", A, 1), CHECKPOINT, ("decide", A, 1)], AGAIN),
    "decisions for other rows under a number": ([("decide", A, 1), ("decide", C, 1)], OTHER),
    "feedback": ([("decide", A, 1), ("feedback", RIGHT, 2)], LEARNT),
    "feedback under the number of its decisions": ([("decide", A, 1), ("feedback", RIGHT, 1)], LEARNT),
    "repeated feedback": ([("decide", A, 1), ("feedback", RIGHT, 2), ("feedback", RIGHT, 2)], AGAIN),
    "repeated feedback after a start": ([("decide", A, 1), ("feedback", RIGHT, 2), OPEN, ("feedback", RIGHT, 2)], AGAIN),
    "other feedback under its number": ([("decide", A, 1), ("feedback", RIGHT, 2), ("feedback", WRONG_ONES, 2)], OTHER),
    "feedback that comes again": ([("decide", A, 1), ("feedback", RIGHT, None), ("feedback", WRONG_ONES, None)], "nothing"),
    "feedback under an earlier number": ([("decide", A, 1), ("decide", B, 2), ("feedback", RIGHT, 1)], OVERTAKEN),
}


@pytest.mark.parametrize("actors", [1, 3])
@pytest.mark.parametrize("name", DECISIONS)
def test_outcomes_of_decisions(name, actors, tmp_path):
    (*before, last), outcome = DECISIONS[name]

    def begin():
        return KeyedBandits(tmp_path, "soba", features=3, labels=["no", "yes"], exploration=0.2, actors=actors, partitions=PARTITIONS)

    keyed, answers, ids = begin(), {}, []

    def step(what, given, number):
        if what == "decide":
            return keyed.decide(given[0], given[1], batch=number)
        return keyed.feedback(A[0], ids, given, batch=number)

    def models():
        return {key: one._core.to_bytes() for key, one in known(keyed).items()}

    for one in before:
        if one == OPEN:
            keyed.close()
            keyed = begin()
        elif one == CHECKPOINT:
            keyed.checkpoint()
        else:
            answers[str(one)] = step(*one)
            ids = ids or [id for _, _, id in answers[str(one)]]
    earlier = models()
    if outcome in (OTHER, OVERTAKEN):
        with pytest.raises(ValueError, match=outcome):
            step(*last)
    else:
        answer = step(*last)
        assert outcome != AGAIN or answer == answers[str(last)]
        assert outcome != "nothing" or answer == [False] * 20
        assert outcome != LEARNT or last[0] == "decide" or all(answer)
    assert (models() == earlier) == (outcome != LEARNT)
    keyed.close()


def test_a_second_program_is_refused(tmp_path):
    with make(tmp_path, actors=2, partitions=PARTITIONS) as keyed:
        send(keyed, (A, 1))
        other = f"import test_outcomes as t; t.make({str(tmp_path)!r}, actors=1, partitions=t.PARTITIONS)"
        told = subprocess.run([sys.executable, "-c", other], cwd=os.path.dirname(__file__), capture_output=True, text=True, timeout=300)
        assert told.returncode == 1 and "is open already, by this or another process" in told.stderr
        send(keyed, (B, 2))
        holds(keyed, [A, B])


def test_a_writer_that_takes_over_answers_the_batches_of_the_first(tmp_path):
    first = make(tmp_path, actors=2, partitions=PARTITIONS)
    told = send(first, (A, 1))
    first._lease.close()  # As where files are not locked.
    with make(tmp_path, actors=3, partitions=PARTITIONS) as second:
        for late in ((A, 1), (B, 2), (B, None)):
            with pytest.raises(RuntimeError, match="was opened by another writer since: open it again to go on"):
                send(first, late)
        with pytest.raises(RuntimeError, match="was opened by another writer since"):
            first.checkpoint()
        again = send(second, (A, 1))
        assert again.played == told.played and np.array_equal(again.losses, told.losses)
        with pytest.raises(ValueError, match=OTHER):
            send(second, (B, 1))
        send(second, (B, 2))
        holds(second, [A, B])


@pytest.mark.parametrize("number", [None, 1])
def test_a_batch_of_which_an_actor_failed_is_learnt_once_when_it_comes_again(number, monkeypatch, tmp_path):
    """As when a disk is full: other actors have learnt their rows."""
    from noregret.cluster._store import Partitions

    learn, left = Partitions._learn, [15]

    def fails(self, *row):
        left[0] -= 1
        if left[0] == 0:
            raise OSError("the disk is full")
        return learn(self, *row)

    with make(tmp_path, actors=2, partitions=PARTITIONS) as keyed:
        with monkeypatch.context() as context, pytest.raises(OSError, match="disk is full"):
            context.setattr(Partitions, "_learn", fails)
            send(keyed, (A, number))
        assert 0 < len(keyed) < len(set(A[0]))
        keyed.predict(A[0], A[1])
        send(keyed, (A, number))
        holds(keyed, [A])
        send(keyed, (A, number and 2))  # The next one is another batch.
        holds(keyed, [A, A])
