"""Late labels of keyed learners: a row waits in the store under its id, and is learnt once, when its label comes."""

import math

import numpy as np
import pytest
from conftest import killed
from test_keyed import keyed_rows, make, same_learners

from noregret import Learner
from noregret.cluster import KeyedLearners

NAMES, X, Y = keyed_rows(rows=60)
IDS = [f"visit {at}" for at in range(60)]
ORDER = np.random.default_rng(9).permutation(60)
"""Labels come in another order than their rows."""


def pick(column, places):
    return [column[at] for at in places]


def ask(keyed, places, **numbers):
    return keyed.predict(pick(NAMES, places), X[places], ids=pick(IDS, places), **numbers)


def tell(keyed, places, **numbers):
    return keyed.label(pick(NAMES, places), pick(IDS, places), pick(Y, places), **numbers)


def holds(keyed, places, before=()):
    """The learners are those that have learnt the rows `before`, and then these, each once, to the bit; no others are there."""
    expected = {}
    for at in [*before, *places]:
        one = expected.setdefault(NAMES[at], Learner("folklore", features=3, labels=["no", "yes"]))
        one.learn_one(X[at], Y[at])
    assert len(keyed) == len(expected)
    same_learners(keyed, expected, X)


@pytest.mark.parametrize("checkpoint", [False, True])
def test_labels_come_later_in_any_order_and_after_a_start(tmp_path, checkpoint):
    with make(tmp_path, actors=2, in_memory=2, partitions=4) as keyed:
        keyed.learn(pick(NAMES, range(20)), X[:20], Y[:20])
        forecasts = {at: keyed.get(NAMES[at]).predict_proba(X[at]) for at in range(60)}
        assert ask(keyed, np.arange(60)) == keyed.predict(NAMES, X)
        assert keyed.counts()["waiting"] == 60
        holds(keyed, range(20))  # Rows that wait make no keys.
        first = tell(keyed, ORDER[:25])
        if checkpoint:
            keyed.checkpoint()
    with make(tmp_path, actors=3, partitions=4) as keyed:
        assert keyed.counts()["waiting"] == 35
        second = tell(keyed, ORDER[25:])
        assert keyed.counts()["waiting"] == keyed.counts()["forgotten"] == 0
        holds(keyed, ORDER, before=range(20))
        # Scored by what was forecast when the row came.
        for at, played, loss in zip(ORDER, first.played + second.played, [*first.losses, *second.losses], strict=True):
            assert played == ("no", "yes")[int(np.argmax(forecasts[at]))]
            assert loss == pytest.approx(-math.log(forecasts[at][int(Y[at] == "yes")]), rel=1e-12)


def test_a_label_that_comes_again_is_not_learnt(tmp_path):
    with make(tmp_path, actors=2, partitions=4) as keyed:
        ask(keyed, np.arange(30))
        tell(keyed, ORDER[ORDER < 30])
        again = tell(keyed, np.arange(40))  # Those from 30 on never came.
        assert again.played == [None] * 40 and np.isnan(again.losses).all()
        keyed.checkpoint()
        assert tell(keyed, np.arange(40)).played == [None] * 40
        twice = keyed.predict(["k"], X[:1], ids=[7]), keyed.label(["k"] * 2, [7, 7.0], ["no", "yes"])
        assert twice[0] == twice[1].played[:1] and twice[1].played[1] is None and keyed.get("k").rounds == 1
        assert len(keyed) == len({NAMES[at] for at in range(30)}) + 1
    with make(tmp_path, actors=1, partitions=4) as keyed:
        assert sum(keyed.get(key).rounds for key in set(pick(NAMES, range(30)))) == 30


def test_numbers_stand_for_rows_and_labels_that_come_later(tmp_path):
    some = np.arange(30)
    with make(tmp_path, actors=2, partitions=4) as keyed:
        asked = ask(keyed, some, batch=1)
        told = tell(keyed, some, batch=2)
        assert ask(keyed, some, batch=1) == asked and keyed.counts()["waiting"] == 0
        again = tell(keyed, some, batch=2)
        assert again.played == told.played and np.array_equal(again.losses, told.losses)
        with pytest.raises(ValueError, match="batch = 2: other rows were learnt under this number"):
            keyed.label(pick(NAMES, some), pick(IDS, some), pick(Y[::-1], some), batch=2)
        holds(keyed, some)
        with pytest.raises(TypeError, match="batch and source: only with ids"):
            keyed.predict(NAMES, X, batch=3)


def test_an_id_stands_for_one_row_of_its_key_at_a_time(tmp_path):
    with make(tmp_path, actors=3, partitions=4) as keyed:
        first = ask(keyed, np.arange(20))
        ids = [IDS[13] if at == 47 else IDS[at] for at in range(60)]
        names = [NAMES[13] if at == 47 else NAMES[at] for at in range(60)]
        with pytest.raises(ValueError, match=f"row 27: another row of the key '{names[13]}' waits under the id 'visit 13'"):
            keyed.predict(names[20:], X[20:], ids=ids[20:])
        with pytest.raises(ValueError, match="row 1: another row of the key 'k' waits under the id '1'; a row needs an id of its own"):
            keyed.predict(["k", "k", "j"], X[:3], ids=[1, 1, 1])
        assert keyed.counts()["waiting"] == 20
        assert ask(keyed, np.arange(20)) == first and keyed.counts()["waiting"] == 20
        keyed.predict(["k", "j"], X[:2], ids=[1, 1])
        assert keyed.label(["k", "j"], ["1", "1"], ["no", "yes"]).played.count(None) == 0
        keyed.predict(["k"], X[1:2], ids=[1])  # The id is free again.
        for wrong, message in ((None, r"ids\[0\] is None"), ("", r"ids\[0\] is ''"), ([1], r"ids\[0\] is \[1\]; a text or a number")):
            with pytest.raises((TypeError, ValueError), match=message):
                keyed.predict(["k"], X[:1], ids=[wrong])
        with pytest.raises(TypeError, match=r"ids is 'ab'; a list with an id for every row was needed"):
            keyed.predict(["k"] * 2, X[:2], ids="ab")
        with pytest.raises(ValueError, match="nothing was learnt, because row 1 .key 'j'. has 'maybe'"):
            keyed.label(["k", "j"], [1, 1], ["no", "maybe"])
        assert keyed.counts()["waiting"] == 21


def test_rows_that_wait_are_bounded_and_may_get_no_label(tmp_path):
    with make(tmp_path, actors=1, partitions=1, most_waiting=40) as keyed:
        ask(keyed, np.arange(60))
        assert (keyed.counts()["waiting"], keyed.counts()["forgotten"]) == (40, 20)
        told = tell(keyed, np.arange(50))  # The oldest were forgotten.
        assert told.played[:20] == [None] * 20 and None not in told.played[20:]
        never = keyed.label(pick(NAMES, range(50, 60)), IDS[50:], [None, "NA", math.nan, None, *Y[54:]])
        assert None not in never.played and np.isnan(never.losses[:4]).all() and np.isfinite(never.losses[4:]).all()
        assert keyed.counts()["waiting"] == 0
        holds(keyed, [*range(20, 50), *range(54, 60)])
    with make(tmp_path, actors=1, partitions=1) as keyed:
        assert keyed.counts()["forgotten"] == 20
    with pytest.raises(ValueError, match="most_waiting = 0: must be a whole number above 0"):
        make(tmp_path / "other", most_waiting=0)


def test_rows_of_tables_wait(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"hue": ["red", "green"] * 30, "size": np.where(X[:, 1] > 0.5, np.nan, X[:, 1])})
    labels = ["up", "down"] * 30
    with KeyedLearners(tmp_path / "late", "folklore", labels=["down", "up"], actors=2) as keyed:
        keyed.learn(NAMES[:20], frame[:20], labels[:20])
        keyed.predict(NAMES[20:], frame[20:][["size", "hue"]], ids=IDS[20:])
        keyed.label(NAMES[20:], IDS[20:], labels[20:])
        late = keyed.predict(NAMES, frame), {key: keyed.get(key).scores(frame) for key in set(NAMES)}
    with KeyedLearners(tmp_path / "soon", "folklore", labels=["down", "up"], actors=1) as keyed:
        keyed.learn(NAMES[:20], frame[:20], labels[:20])
        keyed.learn(NAMES[20:], frame[20:], labels[20:])
        assert keyed.predict(NAMES, frame) == late[0]
        for key, scores in late[1].items():
            np.testing.assert_array_equal(keyed.get(key).scores(frame), scores)


KILLED = """
import os, sys
import numpy as np
from noregret.cluster._store import Partitions
import test_late as t

method, folder, number = sys.argv[1], sys.argv[2], int(sys.argv[3]) or None
keyed = t.make(folder, actors=2, partitions=4)
if method == "label":
    t.ask(keyed, np.arange(60), batch=1)
whole, calls = getattr(Partitions, method), []

def dies(self, *batch):
    calls.append(batch)
    if len(calls) == 2:  # The first actor has answered.
        os._exit(9)
    return whole(self, *batch)

setattr(Partitions, method, dies)
(t.tell if method == "label" else t.ask)(keyed, t.ORDER, batch=number)
"""


@pytest.mark.parametrize("number", [2, 0])
@pytest.mark.parametrize("method", ["ask", "label"])
def test_a_program_that_is_killed_in_the_middle_repeats_its_call(tmp_path, method, number):
    killed(KILLED, method, tmp_path, number)
    with make(tmp_path, actors=3, partitions=4) as keyed:
        counts = keyed.counts()
        assert 0 < counts["waiting"] < 60
        again = (tell if method == "label" else ask)(keyed, ORDER, batch=number or None)
        if method == "ask":
            assert None not in again and keyed.counts()["waiting"] == 60
            tell(keyed, ORDER)
        holds(keyed, ORDER)  # Also without a number: what is learnt waits no more.


def test_rows_that_wait_determine_the_order_of_the_columns(tmp_path):
    """A later table in another order would otherwise be learnt with the numbers of other columns."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    with make(tmp_path) as keyed:
        keyed.predict(NAMES, table[["c", "a", "b"]], ids=IDS)
        keyed.learn(NAMES, table, Y)
        keyed.label(NAMES, IDS, Y)
        expected = {}
        for at in [*range(60), *range(60)]:
            one = expected.setdefault(NAMES[at], Learner("folklore", features=3, labels=["no", "yes"]))
            one.learn_one(X[at, [2, 0, 1]], Y[at])
        for key, one in expected.items():
            assert keyed.get(key).rounds == one.rounds
            np.testing.assert_allclose(keyed.get(key).scores(X[:, [2, 0, 1]]), one.scores(X[:, [2, 0, 1]]), rtol=1e-9)
