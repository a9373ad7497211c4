"""Keyed learners and bandits, on the processes of one machine."""

import fractions

import numpy as np
import pytest
from conftest import stream

from noregret import Bandit, Learner
from noregret.cluster import KeyedBandits, KeyedLearners
from noregret.cluster._store import partition_of


def keyed_rows(keys=7, rows=200):
    x, y = stream(rows, 3, 2, seed=5)
    rng = np.random.default_rng(6)
    return [f"sensor {key}" for key in rng.integers(keys, size=rows)], x, [("no", "yes")[label] for label in y]


def alone(names, x, y):
    """One learner a key, each with its rows."""
    learners = {}
    for key, row, label in zip(names, x, y, strict=True):
        one = learners.setdefault(key, Learner("folklore", features=3, labels=["no", "yes"]))
        one.learn_one(row, label)
    return learners


def same_learners(keyed, expected, x):
    """Every key has the learner that is expected, by its rounds and its scores for `x`."""
    for key, one in expected.items():
        assert keyed.get(key).rounds == one.rounds
        np.testing.assert_array_equal(keyed.get(key).scores(x), one.scores(x))


def make(folder, **facts):
    return KeyedLearners(folder, "folklore", features=3, labels=["no", "yes"], **facts)


def test_every_key_has_the_learner_of_its_own_rows(tmp_path):
    names, x, y = keyed_rows()
    expected = alone(names, x, y)
    keyed = make(tmp_path, actors=2, in_memory=2, partitions=4)  # Learners are evicted and loaded all the time.
    for at in range(0, 200, 20):
        learnt = keyed.learn(names[at : at + 20], x[at : at + 20], y[at : at + 20])
        assert len(learnt.played) == 20 and np.isfinite(learnt.losses).all()
    assert len(keyed) == len(expected)
    assert keyed.counts()["evictions"] > 10
    same_learners(keyed, expected, x)
    with pytest.raises(KeyError):
        keyed.get("nobody")
    keyed.close()


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_store_is_opened_again_with_another_number_of_actors(tmp_path, checkpoint):
    names, x, y = keyed_rows()
    expected = alone(names, x, y)
    keyed = make(tmp_path, actors=3, partitions=4)
    keyed.learn(names[:120], x[:120], y[:120])
    if checkpoint:
        keyed.checkpoint()
        assert keyed.counts()["events"] <= 120
    del keyed  # Nobody says goodbye: what was answered is in the files.
    with make(tmp_path, actors=1, partitions=4) as again:
        again.learn(names[120:], x[120:], y[120:])
        same_learners(again, expected, x)
    with pytest.raises(ValueError, match="learner = 'ogd': the store was made with 'folklore'"):
        KeyedLearners(tmp_path, "ogd", features=3, labels=["no", "yes"], partitions=4)


def test_a_batch_that_is_repeated_is_answered_and_not_learnt_again(tmp_path):
    names, x, y = keyed_rows(rows=40)
    with make(tmp_path, actors=2, partitions=4) as keyed:
        first = keyed.learn(names, x, y, batch=1)
        again = keyed.learn(names, x, y, batch=1)
        assert first.played == again.played
        np.testing.assert_array_equal(first.losses, again.losses)
        assert sum(keyed.get(key).rounds for key in set(names)) == 40


def test_a_batch_with_a_mistake_leaves_every_learner_as_it_was(tmp_path):
    names, x, y = keyed_rows(rows=30)
    with make(tmp_path, actors=1, partitions=1) as keyed:
        keyed.learn(names[:20], x[:20], y[:20])
        with pytest.raises(ValueError, match="row 9 .key 'sensor [0-9]'. has 'maybe'; the label is none of the 2 known classes"):
            keyed.learn(names[20:], x[20:], [*y[20:-1], "maybe"])
        keyed.learn(names[20:], x[20:], y[20:])
        same_learners(keyed, alone(names, x, y), x)


def test_a_batch_is_learnt_whole_or_not_at_all(tmp_path):
    names, x, y = keyed_rows(rows=40)
    with make(tmp_path, actors=2, partitions=4) as keyed:
        for bad in ({"y": [*y[:-1], "maybe"]}, {"x": np.where(np.arange(40)[:, None] == 39, np.inf, x)}, {"keys": [*names[:-1], None]}):
            given = {"keys": names, "x": x, "y": y} | bad
            with pytest.raises(ValueError, match="row 39 .key|x.39.: column 0 has the value inf|keys.39. is missing"):
                keyed.learn(**given, batch=1)
            assert len(keyed) == 0
        keyed.learn(names, x, y, batch=1)
        assert sum(keyed.get(key).rounds for key in set(names)) == 40


def test_a_number_stands_for_one_batch_of_a_source(tmp_path):
    names, x, y = keyed_rows(rows=60)
    with make(tmp_path, actors=2, partitions=4) as keyed:
        first = keyed.learn(names[:20], x[:20], y[:20], batch=7)
        with pytest.raises(ValueError, match="batch = 7: other rows were learnt under this number"):
            keyed.learn(names[20:40], x[20:40], y[20:40], batch=7)
        assert keyed.learn(names[:20], x[:20], y[:20], batch=7).played == first.played
        keyed.learn(names[20:40], x[20:40], y[20:40], batch=7, source="another producer")
        keyed.learn(names[40:], x[40:], y[40:], batch=8)
        keyed.checkpoint()
        with pytest.raises(ValueError, match="batch = 7: the numbers of a source increase, and batch 8 was learnt"):
            keyed.learn(names[:20], x[:20], y[:20], batch=7)
        assert sum(keyed.get(key).rounds for key in set(names)) == 60
    with make(tmp_path, actors=1, partitions=4) as again:
        again.learn(names[40:], x[40:], y[40:], batch=8)
        assert again.learn(["a"], x[:1], y[:1]).played and again.get("a").rounds == 1
        assert sum(again.get(key).rounds for key in set(names)) == 60


def test_one_writer_has_a_store(tmp_path):
    names, x, y = keyed_rows(rows=20)
    first = make(tmp_path, actors=1, partitions=2)
    with pytest.raises(RuntimeError, match="is open already, by this or another process; close"):
        make(tmp_path, actors=1, partitions=2)
    first.learn(names, x, y)
    # Where files are not locked, the later writer counts.
    first._lease.close()
    with make(tmp_path, actors=1, partitions=2) as second:
        with pytest.raises(RuntimeError, match="was opened by another writer since: open it again to go on"):
            first.learn(names, x, y)
        second.learn(names, x, y)
        assert sum(second.get(key).rounds for key in set(names)) == 40


def test_a_store_of_an_earlier_version_is_read(tmp_path):
    import sqlite3

    names, x, y = keyed_rows(rows=20)
    with make(tmp_path, actors=1, partitions=1) as keyed:
        first = keyed.learn(names, x, y)
    with sqlite3.connect(tmp_path / "0000.sqlite") as file:
        file.execute("CREATE TABLE batches (batch INTEGER NOT NULL, method TEXT NOT NULL, first INTEGER, last INTEGER)")
        file.execute("INSERT INTO batches SELECT batch, method, first, last FROM numbered")
        file.execute("DROP TABLE numbered")
    with make(tmp_path, actors=1, partitions=1) as again:
        assert again.learn(names, x, y, batch=1).played == first.played
        again.learn(names, x, y)
        assert sum(again.get(key).rounds for key in set(names)) == 40


def test_feedback_and_predictions_make_no_keys(tmp_path):
    with KeyedBandits(tmp_path / "bandits", "soba", features=3, labels=["no", "yes"], actors=1, exploration=0.2) as keyed:
        assert keyed.feedback(["nobody"], ["0"], [True]) == [False] and len(keyed) == 0
        keyed.checkpoint()
        assert len(keyed) == 0
        with pytest.raises(KeyError):
            keyed.get("nobody")
    with make(tmp_path / "learners", actors=1) as keyed:
        assert keyed.predict(["nobody"], [[1.0, 0.0, 0.0]]) in (["no"], ["yes"]) and len(keyed) == 0


def test_keyed_labels_and_tables_are_those_of_a_learner(tmp_path):
    pandas = pytest.importorskip("pandas")
    names, x, _ = keyed_rows(rows=120)
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    truth = (x[:, 0] > 0).astype(int)
    with KeyedLearners(tmp_path / "numbers", "folklore", features=3, labels=[0, 1], actors=1) as keyed:
        learnt = keyed.learn(names, frame, [None if at % 5 == 0 else label for at, label in enumerate(truth)])
        assert set(learnt.played) == {0, 1} and np.isnan(learnt.losses[::5]).all() and np.isfinite(learnt.losses[1:5]).all()
        assert sum(keyed.get(key).rounds for key in set(names)) == 96
        turned = keyed.predict(names, frame[["c", "b", "a"]])
        assert turned == keyed.predict(names, frame) == keyed.predict(names, x) and set(turned) == {0, 1}
        assert keyed.get(names[0]).predict(x[0]) in (0, 1)
        with pytest.raises(ValueError, match="x has the columns a, b; those of the first table were needed: a, b, c"):
            keyed.predict(names, frame[["a", "b"]])
    frame["hue"] = ["red", "green"] * 60
    frame["size"] = np.where(x[:, 1] > 1, np.nan, x[:, 1])
    with KeyedLearners(tmp_path / "table", "folklore", labels=["down", "up"], actors=2) as keyed:
        labels = np.where(frame["hue"] == "red", "up", "down")
        keyed.learn(names[:60], frame[:60], labels[:60])
        keyed.learn(names[60:], frame[60:], labels[60:])
        assert keyed.predict(["sensor 1"] * 4, frame[:4][["size", "hue", "c", "b", "a"]]) == ["up", "down"] * 2
        one = keyed.get("sensor 1")
        assert one.roles["hue"] == "categorical" and one.predict(frame[:2]).tolist() == ["up", "down"]
        with pytest.raises(ValueError, match="x has no column 'hue', which the first table had"):
            keyed.predict(["sensor 1"], frame[:1].drop(columns="hue"))
        spaced = frame[:2].rename(columns={"hue": " hue", "a": "a "})  # blanks around a name are no part of it
        assert keyed.predict(["sensor 1"] * 2, spaced) == ["up", "down"]
    with KeyedLearners(tmp_path / "table", "folklore", labels=["down", "up"], actors=1) as again:
        assert again.predict(["sensor 1"] * 2, frame[:2]) == ["up", "down"]


def test_missing_numbers_are_means(tmp_path):
    """The first batch, which decides about the columns, is whole; of numbers around 50 a missing one was 0 later."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1200, 2))
    labels, holes = np.where(x[:, 0] + 0.5 * x[:, 1] > 0, "up", "down"), rng.random((1200, 2)) < 0.2
    holes[:600] = False
    wrong = []
    for name, hole in (("filled", 50.0), ("holes", np.nan)):
        frame = pandas.DataFrame(np.where(holes, hole, x + 50).round(3), columns=["a", "b"])
        with KeyedLearners(tmp_path / name, "folklore", labels=["down", "up"], actors=1) as keyed:
            keyed.learn(["k"] * 600, frame[:600], labels[:600])
            played = keyed.learn(["k"] * 600, frame[600:], labels[600:]).played
            wrong.append((np.array(played) != labels[600:]).mean())
            before = keyed.predict(["k"] * 600, frame[600:])
        with KeyedLearners(tmp_path / name, "folklore", labels=["down", "up"], actors=1) as again:
            assert again.predict(["k"] * 600, frame[600:]) == before
    assert abs(wrong[0] - wrong[1]) < 0.03, wrong


def test_bandits_by_key(tmp_path):
    names, x, y = keyed_rows(rows=60)
    facts = {"features": 3, "labels": ["no", "yes"], "exploration": 0.2, "seed": 3}
    expected = {}
    with KeyedBandits(tmp_path, "soba", actors=2, in_memory=2, partitions=4, **facts) as keyed:
        for at in range(0, 60, 10):
            part = slice(at, at + 10)
            decisions = keyed.decide(names[part], x[part])
            right = [label == truth for (label, _, _), truth in zip(decisions, y[part], strict=True)]
            heard = keyed.feedback(names[part], [id for _, _, id in decisions], right)
            assert all(heard)
            for key, row in zip(names[part], x[part], strict=True):
                one = expected.setdefault(key, Bandit("soba", **facts))
                one.decide(row)
            for key, (_, _, id), correct in zip(names[part], decisions, right, strict=True):
                expected[key].feedback(id, correct)
        assert keyed.feedback(names[:1], ["99"], [True]) == [False]
        with pytest.raises(TypeError, match="neither True nor False"):
            keyed.feedback(names[:1], ["0"], [0.7])
        same_learners(keyed, expected, x)


def test_keys_are_spread_the_same_way_everywhere():
    assert [partition_of(key, 64) for key in ("a", "b", "sensor 1")] == [0, 4, 41]  # Stores depend on it.
    counts = np.bincount([partition_of(f"key {at}", 8) for at in range(8000)], minlength=8)
    assert counts.min() > 850 and counts.max() < 1150


def test_words_for_missing_labels_are_missing_and_times_are_labels(tmp_path):
    import datetime

    x = np.random.default_rng(0).normal(size=(40, 2))
    days = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]
    y = [days[int(row[0] > 0)] for row in x]
    with KeyedLearners(tmp_path / "store", "folklore", features=2, labels=days, actors=1) as keyed:
        learnt = keyed.learn(["k"] * 40, x, ["NA" if at % 4 == 0 else label for at, label in enumerate(y)])
        assert np.isnan(learnt.losses[::4]).all() and set(learnt.played) <= set(days)
        one = keyed.get("k")
        assert one.rounds == 30 and one.predict(x[0]) in days
        one.save(tmp_path / "model")
        assert Learner.load(tmp_path / "model").predict(x).tolist() == one.predict(x).tolist() == keyed.predict(["k"] * 40, x)
        with pytest.raises(ValueError, match="nothing was learnt, because row 0 .* has 'NO'"):
            keyed.learn(["k"], x[:1], ["NO"])


@pytest.mark.parametrize("bare", [lambda n: np.zeros((n, 0)), lambda n: [{}] * n], ids=["array", "dictionaries"])
def test_rows_without_columns_have_keys(bare, tmp_path):
    with KeyedLearners(tmp_path / "bare", "folklore", labels=["down", "up"], actors=1) as keyed:
        learnt = keyed.learn(["a", "b"] * 40, bare(80), ["up", "down"] * 40)
        assert np.isfinite(learnt.losses).all() and keyed.predict(["a", "b"], bare(2)) == ["up", "down"]
        assert keyed.get("a").rounds == 40
    with KeyedLearners(tmp_path / "bare", "folklore", labels=["down", "up"], actors=1) as again:
        assert again.predict(["a", "b"], bare(2)) == ["up", "down"]
    with KeyedLearners(tmp_path / "columns", "folklore", labels=["down", "up"], actors=1) as keyed:
        keyed.learn(["a"] * 4, [{"age": at} for at in range(4)], ["up", "down"] * 2)
        with pytest.raises(ValueError, match="x has 2 rows without columns; the 1 of the first table were needed: age"):
            keyed.predict(["a"] * 2, bare(2))


def test_a_closed_store_says_so(tmp_path):
    keyed, row = make(tmp_path), [[1.0, 2.0, 3.0]]
    keyed.learn(["k"], row, ["no"])
    keyed.close()
    for asked in (lambda: keyed.predict(["k"], row), lambda: keyed.get("k"), lambda: len(keyed), keyed.counts, keyed.checkpoint):
        with pytest.raises(RuntimeError, match="the store is closed; a new one of the same folder goes on"):
            asked()
    keyed.close()


@pytest.mark.parametrize("limit", [{"in_memory_mib": 0.02}, {"in_memory": 3}])
def test_learners_in_memory_are_bounded(tmp_path, limit):
    names, x, y = keyed_rows(keys=40, rows=200)
    expected = alone(names, x, y)
    with make(tmp_path, actors=1, partitions=4, **limit) as keyed:
        counts = keyed.counts()
        for at in range(0, 200, 100):  # A batch has more keys than memory.
            part = slice(at, at + 100)
            learnt = keyed.learn(names[part], x[part], y[part])
            counts = keyed.counts()
            assert counts["in_memory"] < 12 and 0 < counts["bytes"] < 0.021 * 2**20
        assert counts["evictions"] > 50 and np.isfinite(learnt.losses).all()
        with pytest.raises(ValueError, match="maybe"):
            keyed.learn(names, x, ["maybe"] * 200)
        for key, one in expected.items():
            np.testing.assert_array_equal(keyed.get(key).scores(x), one.scores(x))
            assert keyed.counts()["in_memory"] < 12
        assert keyed.predict(names, x) == [one.labels[int(np.argmax(expected[key].scores(row)))] for key, row in zip(names, x, strict=True)]
        assert keyed.counts()["in_memory"] < 12
        keyed.checkpoint()
        assert keyed.counts()["in_memory"] < 12
    with make(tmp_path, actors=2, partitions=4) as again:
        same_learners(again, expected, x)
    with pytest.raises(ValueError, match="in_memory_mib = 0: must be above 0"):
        make(tmp_path / "other", in_memory_mib=0)


def test_a_batch_that_fails_leaves_what_was_put_away(tmp_path, monkeypatch):
    from noregret.cluster._store import Partitions

    names, x, y = keyed_rows(keys=20, rows=100)
    with make(tmp_path, actors=1, partitions=4, in_memory=2) as keyed:
        keyed.learn(names[:50], x[:50], y[:50])
        learn_row, rows = Partitions._learn_row, []

        def fails(self, *row):
            rows.append(row)
            if len(rows) == 30:
                raise OSError("the disk is full")
            return learn_row(self, *row)

        monkeypatch.setattr(Partitions, "_learn_row", fails)
        with pytest.raises(OSError, match="disk is full"):
            keyed.learn(names[50:], x[50:], y[50:], batch=2)
        monkeypatch.undo()
        same_learners(keyed, alone(names[:50], x[:50], y[:50]), x)
        keyed.learn(names[50:], x[50:], y[50:], batch=2)
        same_learners(keyed, alone(names, x, y), x)


def test_equal_keys_have_one_learner_whatever_holds_them(tmp_path):
    import decimal

    tuples = [("a", 1, 0.5), ("a", np.int64(1), np.float32(0.5)), (np.str_("a"), 1.0, np.float64(0.5))]
    same = [1, 1.0, np.int64(1), np.float32(1), decimal.Decimal("1.00")], tuples, [True, np.True_]
    x = np.ones((5, 3))
    with make(tmp_path) as keyed:
        for count, keys in enumerate(same, 1):
            keyed.learn(keys, x[: len(keys)], ["no"] * len(keys))
            assert len(keyed) == count
        for wrong, why in ((b"a", "of bytes; a text was needed"), (object(), "a text or a number was needed"), (frozenset("a"), "a text or a number")):
            with pytest.raises(TypeError, match=rf"keys\[0\] is .*{why}"):
                keyed.learn([wrong], x[:1], ["no"])


def test_a_text_is_not_the_number_that_it_writes(tmp_path):
    with make(tmp_path) as keyed:
        keyed.predict(["1"], np.ones((1, 3)))  # Makes no key.
        with pytest.raises(ValueError, match="batch = 0: must be from 1"):
            keyed.learn(["1"], np.ones((1, 3)), ["no"], batch=0)
        keyed.learn([1], np.ones((1, 3)), ["no"])
    for _ in range(2):
        with make(tmp_path) as keyed:
            assert keyed.get(1).rounds == keyed.get(1.0).rounds == 1
            with pytest.raises(KeyError, match="'1'"):
                keyed.get("1")
            with pytest.raises(TypeError, match="of bytes"):
                keyed.get(b"1")


def test_keys_are_a_column_with_an_order(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    x, frame = np.ones((2, 3)), {"shop": ["a", "b"], "day": [1, 2]}
    with make(tmp_path) as keyed:
        for library in (pandas, polars):
            table = library.DataFrame(frame)
            with pytest.raises(TypeError, match="keys is a table of 2 columns; one was needed, or a list of tuples"):
                keyed.learn(table, x, ["no", "yes"])
            keyed.learn(table[["shop"]], x, ["no", "yes"])
        with pytest.raises(TypeError, match="keys is a set, which has no order; a list in the order of the rows was needed"):
            keyed.learn({"a", "b"}, x, ["no", "yes"])
        keyed.learn(pandas.Series(["a", "b"], index=["u", "v"]), x, ["no", "yes"])
        assert len(keyed) == 2 and keyed.get("a").rounds == 3
        with pytest.raises(TypeError, match="ids is a set"):
            keyed.predict(["a", "b"], x, ids={1, 2})


@pytest.mark.parametrize("features", [None, 2])
def test_a_batch_that_is_refused_determines_no_columns(features, tmp_path):
    pandas = pytest.importorskip("pandas")
    first = pandas.DataFrame({"a": ["1", "x"] if features is None else [1.0, 2.0], "b": [1.0, 2.0]})
    second = pandas.DataFrame({"b": [1.0, 2.0], "c": [3.0, 4.0]})
    with KeyedLearners(tmp_path, "folklore", features=features, labels=["no", "yes"], actors=1) as keyed:
        with pytest.raises(ValueError, match=r"keys\[1\] is missing"):
            keyed.learn(["k", None], first, ["no", "yes"])
        with pytest.raises(ValueError, match="batch = 0: must be from 1"):
            keyed.learn(["k", "k"], first, ["no", "yes"], batch=0)
        keyed.learn(["k", "k"], second, ["no", "yes"])
        assert keyed.get("k").rounds == 2
        with pytest.raises(ValueError, match="x has no column|x has the columns"):
            keyed.learn(["k", "k"], first, ["no", "yes"])
    with KeyedLearners(tmp_path, "folklore", features=features, labels=["no", "yes"], actors=1) as again:
        assert len(again.predict(["k", "k"], second[["c", "b"]])) == 2


def test_a_writer_that_was_overtaken_determines_no_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    made = {"features": None, "labels": ["no", "yes"], "actors": 1}
    first = KeyedLearners(tmp_path, "folklore", **made)
    first._lease.close()  # As where files are not locked.
    with KeyedLearners(tmp_path, "folklore", **made) as second:
        second.learn(["k", "k"], pandas.DataFrame({"b": [1.0, 2.0]}), ["no", "yes"])
        with pytest.raises(RuntimeError, match="was opened by another writer since"):
            first.learn(["k", "k"], pandas.DataFrame({"a": ["u", "v"]}), ["no", "yes"])
    with KeyedLearners(tmp_path, "folklore", **made) as again:
        assert set(again.get("k").roles) == {"b", "label"}


def test_what_the_rows_need_is_on_the_disk_before_them(tmp_path, monkeypatch):
    """A name that a failing machine keeps without its content, or not at all, would make rows that were answered unreadable."""
    import os

    from noregret.cluster._store import Store

    steps, sync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (steps.append("content"), sync(file)))
    monkeypatch.setattr(os, "replace", lambda *names: (steps.append("name"), replace(*names)))
    Store.write(tmp_path / "columns.json", b"[]")
    assert steps == ["content", "name", *["content"] * (os.name == "posix")] and (tmp_path / "columns.json").read_bytes() == b"[]"


def test_settings_may_be_numbers_of_numpy(tmp_path):
    for features in (np.int64(2), 2):
        with KeyedLearners(tmp_path, "ogd", features=features, labels=[0, 1], actors=1, rate=np.float32(0.5)) as keyed:
            keyed.learn(["k"], [[1.0, 2.0]], [1])
            assert keyed.get("k").params["rate"] == 0.5
    with pytest.raises(ValueError, match="the store was made with"):
        KeyedLearners(tmp_path, "ogd", features=np.int64(3), labels=[0, 1], actors=1, rate=0.5)
    with pytest.raises(TypeError, match="is of type Fraction, and a store keeps settings that are numbers, texts"):
        KeyedLearners(tmp_path, "ogd", features=2, labels=[0, 1], actors=1, rate=fractions.Fraction(1, 2))


def test_a_source_that_has_ended_keeps_no_rows_of_others(tmp_path):
    names, x, y = keyed_rows(rows=40)
    with make(tmp_path, actors=1, partitions=2) as keyed:
        ended = keyed.learn(names[:4], x[:4], y[:4], batch=1, source="ended")
        for at in range(4, 40, 4):
            last = keyed.learn(names[at : at + 4], x[at : at + 4], y[at : at + 4], source="goes on")
            keyed.checkpoint()
            assert keyed.counts()["events"] <= 4 + 4 * 2  # The last batch of each source, in both files.
    with make(tmp_path, actors=1, partitions=2) as keyed:
        assert keyed.learn(names[:4], x[:4], y[:4], batch=1, source="ended").played == ended.played
        assert keyed.learn(names[36:], x[36:], y[36:], batch=9, source="goes on").played == last.played
        same_learners(keyed, alone(names, x, y), x)


def test_threads_of_a_producer_lose_no_batch(tmp_path):
    import sys
    from concurrent.futures import ThreadPoolExecutor

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with KeyedLearners(tmp_path, "ogd", labels=["no", "yes"], actors=1) as keyed, ThreadPoolExecutor(6) as pool:
            sent = [pool.submit(keyed.learn, ["k", "l"], [{"a": 1.0, "b": float(at)}] * 2, ["no", "yes"]) for at in range(60)]
            assert [len(one.result().played) for one in sent] == [2] * 60 and keyed.get("k").rounds == keyed.get("l").rounds == 60
    finally:
        sys.setswitchinterval(before)


def test_times_that_are_keys_are_written_alike(tmp_path):
    import datetime

    noon, later = datetime.datetime(2026, 1, 1, 12), datetime.timezone(datetime.timedelta(hours=2))
    others = {
        r"datetime64.* is a time of NumPy in the unit s\b": np.array(["2026-01-01T12:00:00"], dtype="M8[s]"),
        r"is a time of the zone UTC\+02:00": [noon.replace(tzinfo=datetime.timezone.utc), noon.replace(tzinfo=later)],
        r"datetime.date\(2026, 1, 1\) is a day": [noon.date()],
    }
    x = np.ones((2, 3))
    for checkpoint in range(2):
        with make(tmp_path) as keyed:  # Opened again, the store knows how they are written.
            keyed.learn([noon, "shop 7"], x, ["no", "yes"])
            assert len(keyed) == 2 and keyed.get(noon).rounds == keyed.get(str(noon)).rounds == checkpoint + 1
            for why, keys in others.items():
                with pytest.raises(ValueError, match=f"keys: .*{why}.* so that one moment may be two keys; write all times of a store alike"):
                    keyed.learn(keys, x[: len(keys)], ["no"] * len(keys))
            assert keyed.predict([str(noon)], x[:1]) == ["no"] and len(keyed) == 2


def test_keys_of_arrow_may_not_be_missing(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    with make(tmp_path) as keyed:
        with pytest.raises(ValueError, match=r"keys\[1\] is missing"):
            keyed.learn(pyarrow.array(["a", None]), np.ones((2, 3)), ["no", "yes"])
        keyed.learn(pyarrow.chunked_array([["a"], ["b"]]), np.ones((2, 3)), ["no", "yes"])
        assert keyed.get("b").rounds == 1 and len(keyed) == 2


def test_keys_and_labels_in_another_order_are_warned_of(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(np.ones((2, 3)), columns=["a", "b", "c"], index=[7, 8])
    keys, labels = pandas.Series(["u", "v"], index=[7, 8]), pandas.Series(["no", "yes"], index=[7, 8])
    with make(tmp_path) as keyed:
        keyed.learn(keys, rows, labels)
        for others in ((keys[::-1], labels), (keys, labels[::-1])):
            with pytest.warns(UserWarning, match="has the index of x in another order") as told:
                keyed.learn(others[0], rows, others[1])
            assert told[0].filename == __file__


def test_a_store_whose_writer_lost_its_number_goes_on(tmp_path):
    """The file is short, and a machine that fails may leave it empty."""
    for at in range(3):
        with make(tmp_path) as keyed:
            keyed.learn(["a"], [[1.0, 0.0, 0.0]], ["no"])
            number = keyed._lease.number
            assert number == at + 1
    (tmp_path / "writer").write_text("")
    with make(tmp_path) as keyed:
        assert keyed._lease.number == number + 1
        keyed.learn(["a"], [[1.0, 0.0, 0.0]], ["no"])
        assert keyed.get("a").rounds == 4


def test_cells_that_are_no_numbers_and_new_columns_are_warned_of(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [0.5, 1.0, 1.5, 2.5] * 10, "c": [1, 2, 3, 4] * 10})
    with KeyedLearners(tmp_path, "folklore", labels=["no", "yes"]) as keyed:
        keyed.learn(["u"] * 40, table, ["no", "yes"] * 20)
        with pytest.warns(UserWarning, match='column "c": 40 cells are no numbers, the first "k" in row 0: they count as missing') as told:
            keyed.learn(["u"] * 40, table.assign(c="k"), ["no", "yes"] * 20)
        assert told[0].filename == __file__
        with pytest.warns(UserWarning, match='the column "d" is new: the model was trained without it, and it is ignored'):
            keyed.predict(["u"] * 40, table.assign(d=1))
