"""Sweeps, shards and keyed learners, on the processes of one machine, and on the thin engines."""

import json
import math
import sys

import numpy as np
import pytest
from conftest import needs_the_command_line, noregret, stream

from noregret import Bandit, Learner
from noregret.cluster import KeyedBandits, KeyedLearners, LocalEngine, fit, sweep
from noregret.cluster._fit import split
from noregret.cluster._store import partition_of

ENGINE = LocalEngine(jobs=1)


def learner(name="folklore", features=4, classes=3, **facts):
    return Learner(name, features=features, labels=list(range(classes)), **facts)


# Statistics


@pytest.mark.parametrize(("name", "classes"), [("folklore", 3), ("aioli", 2), ("gaf", 3), ("vaw", 1)])
@pytest.mark.parametrize("how", ["lambda-once", "sum-all"])
def test_sums_of_statistics_are_mergers(name, classes, how):
    x, y = stream(90, 4, max(classes, 2))
    y = x.sum(axis=1) if classes == 1 else y
    facts = {"features": 4, "radius": 1.0} | ({} if classes == 1 else {"classes": classes})
    parts = []
    for at in range(3):
        parts.append(Learner(name, **facts))
        parts[-1].update(x[30 * at : 30 * at + 30], y[30 * at : 30 * at + 30])
    merged = Learner.merge(parts, how)
    total = parts[2].statistics() + parts[0].statistics() + parts[1].statistics()
    added = Learner(name, **facts).with_statistics(total, 3, how)
    assert added.rounds == merged.rounds == 90
    np.testing.assert_allclose(added.scores(x), merged.scores(x), rtol=1e-9, atol=1e-12)
    assert added.certificate() == pytest.approx(merged.certificate(), rel=1e-8)


def test_statistics_of_one_learner_make_the_same_learner():
    x, y = stream(50, 4, 3)
    one = learner(radius=1.0)
    one.update(x, y)
    again = learner(radius=1.0).with_statistics(one.statistics(), 1)
    np.testing.assert_allclose(again.scores(x), one.scores(x), rtol=1e-9, atol=1e-12)


def test_what_does_not_add_up_is_refused():
    with pytest.raises(ValueError, match="ogd cannot be merged: what it learns does not add up"):
        learner("ogd").statistics()
    empty = learner()
    with pytest.raises(ValueError, match="a list of 3 numbers is no sum of its statistics"):
        empty.with_statistics(np.zeros(3), 1)
    statistics = empty.statistics()
    statistics[0] = math.nan
    with pytest.raises(ValueError, match="positive definite"):
        empty.with_statistics(statistics, 1)


# Shards


def test_one_shard_is_one_learner():
    x, y = stream(200, 4, 3)
    fitted = fit(split(x, y, 1), engine=ENGINE, how="lambda-once", held_out=0)
    one = fitted.learner
    assert one.rounds == 200 and fitted.rates["rounds"] == 200 and fitted.held_out is None
    from noregret import _core

    seen, first, second, radius = _core.survey(np.ascontiguousarray(x), None, "standard", True)
    alone = learner(scale="standard", intercept=True, radius=radius)
    alone._core.set_scaling(seen, first, second)
    rates = alone._core.run(np.ascontiguousarray(x), y, frozen=True)[3]
    assert fitted.rates["errors"] == rates["errors"]
    assert fitted.rates["log_loss"] == pytest.approx(rates["log_loss"], rel=1e-12)
    np.testing.assert_allclose(one.scores(x), alone.scores(x), rtol=1e-8, atol=1e-9)


def test_the_merged_learner_does_not_depend_on_blocks():
    x, y = stream(300, 4, 3)
    whole = fit(split(x, y, 3), engine=ENGINE, held_out=0)
    pieces = [[(rows[:40], labels[:40]), (rows[40:], labels[40:])] for ((rows, labels),) in split(x, y, 3)]
    again = fit(pieces, engine=ENGINE, held_out=0)
    assert whole.learner.rounds == again.learner.rounds == 300
    np.testing.assert_allclose(whole.learner.scores(x), again.learner.scores(x), rtol=1e-7, atol=1e-7)
    # Not the errors: at first, classes that did not occur have equal scores, up to rounding.
    assert whole.rates["log_loss"] == pytest.approx(again.rates["log_loss"], rel=1e-9)


def columns(rows=3000, seed=1):
    """Rows whose columns have other units, some rare, and labels of four classes, in their order."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, 6)) * [1, 10, 0.1, 3, 1, 1]
    x[:, 4] = rng.random(rows) < 0.02
    logits = (x / [1, 10, 0.1, 3, 0.5, 1]) @ rng.standard_normal((6, 4))
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return x, y


def log_loss(model, x, y):
    return -np.log(model.predict_proba(x)[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize("scale", ["standard", "none"])
@pytest.mark.parametrize("in_order", [False, True])
def test_the_model_does_not_depend_on_the_number_of_shards(scale, in_order):
    linear_model = pytest.importorskip("sklearn.linear_model")
    x, y = columns()
    order = np.argsort(y[:2400], kind="stable") if in_order else np.arange(2400)
    (x, y), (later, truth) = (x[:2400][order], y[:2400][order]), (x[2400:], y[2400:])
    found = {shards: fit(split(x, y, shards), engine=ENGINE, scale=scale, held_out=0) for shards in (1, 2, 7, 64)}
    losses = {shards: log_loss(one.learner, later, truth) for shards, one in found.items()}
    assert max(losses.values()) <= min(losses.values()) * (1 + 1e-6)
    np.testing.assert_allclose(found[64].learner.predict_proba(later), found[1].learner.predict_proba(later), atol=1e-6)
    # The best in hindsight, found by others.
    units = x.std(axis=0)
    rival = linear_model.LogisticRegression(C=1e4, max_iter=2000).fit(x / units, y)
    assert losses[64] < 1.01 * -np.log(rival.predict_proba(later / units)[np.arange(len(truth)), truth]).mean()
    assert found[64].gap < 0.01 * found[64].loss and found[64].passes < 20


@pytest.mark.parametrize(("name", "classes"), [("aioli", 2), ("gaf", 3), ("vaw", 1)])
def test_every_learner_that_adds_up_is_delivered_alike(name, classes):
    x, y = stream(600, 4, max(classes, 2))
    y = x.sum(axis=1) if classes == 1 else y
    one, many = (fit(split(x, y, shards), name, engine=ENGINE) for shards in (1, 16))
    (rate,) = {"log_loss", "squared_loss"} & set(one.held_out)
    assert many.held_out[rate] == pytest.approx(one.held_out[rate], rel=1e-4)
    assert one.held_out[rate] < (0.02 if classes == 1 else 0.8 * math.log(classes))
    np.testing.assert_allclose(many.learner.scores(x), one.learner.scores(x), rtol=1e-4, atol=1e-4)


def test_what_is_delivered_is_scored_on_rows_that_it_has_not_learnt():
    x, y = columns()
    for shards in (1, 5):
        fitted = fit(split(x, y, shards), engine=ENGINE, held_out=0.25)
        rows = np.arange(len(y)) % 4 == 3
        assert fitted.held_out["rounds"] == rows.sum() == 750 and fitted.rates["rounds"] == fitted.learner.rounds == 2250
        assert fitted.held_out["log_loss"] == pytest.approx(log_loss(fitted.learner, x[rows], y[rows]), rel=1e-9)
        errors = (fitted.learner.predict_proba(x[rows]).argmax(axis=1) != y[rows]).mean()
        assert fitted.held_out["error_rate"] == pytest.approx(errors)
    with pytest.raises(ValueError, match="held_out = 1: must be a share of the rows"):
        fit(split(x, y, 2), engine=ENGINE, held_out=1)
    with pytest.raises(ValueError, match="how = 'mean': must be one of passes, lambda-once, sum-all"):
        fit(split(x, y, 2), engine=ENGINE, how="mean")


@pytest.mark.parametrize("scale", ["standard", "none"])
def test_periods_are_no_worse_than_the_mean_of_the_shards(scale):
    x, y = columns()
    x, y, later, truth = x[:2400], y[:2400], x[2400:], y[2400:]
    whole = log_loss(fit(split(x, y, 1), engine=ENGINE, scale=scale, held_out=0).learner, later, truth)
    for shards in (8, 32):
        ends = [fit([shard], engine=ENGINE, scale=scale, held_out=0).learner for shard in split(x, y, shards)]
        mean = np.mean([one.predict_proba(later) for one in ends], axis=0)
        stop_gap = -np.log(mean[np.arange(len(truth)), truth]).mean()
        for period in (10, 25, 75):
            often = fit(split(x, y, shards), engine=ENGINE, scale=scale, period=period, held_out=0)
            loss = log_loss(often.learner, later, truth)
            assert loss < stop_gap and loss == pytest.approx(whole, rel=1e-6), (shards, period, loss, stop_gap, whole)
            assert often.gap < 0.01 * often.loss


def test_a_delivered_learner_goes_on():
    x, y = columns()
    fitted = fit(split(x[:1500], y[:1500], 4), engine=ENGINE, held_out=0)
    again = Learner._wrap(type(fitted.learner._core).from_bytes(fitted.learner._core.to_bytes()))
    before = fitted.learner.predict_proba(x[:5])
    np.testing.assert_array_equal(again.predict_proba(x[:5]), before)
    rates = again.run(x[1500:], y[1500:]).rates
    assert again.rounds == 3000 and rates["log_loss"] < 1.02 * log_loss(fitted.learner, x[1500:], y[1500:])
    with pytest.raises(ValueError, match="1500 rounds were learnt before this run"):
        again.certificate()


def test_the_certificate_covers_all_shards_or_is_withheld():
    x, y = stream(400, 4, 3)
    merged = fit(split(x, y, 4), engine=ENGINE, held_out=0)
    assert merged.withheld is None and merged.certificate > 0
    often = fit(split(x, y, 4), engine=ENGINE, held_out=0, period=20)
    assert often.certificate is None and "merged learners" in often.withheld
    assert len(often.periods) == 5 and often.rates["rounds"] == 400
    assert often.rates["log_loss"] < merged.rates["log_loss"]  # What the others have seen helps.


def test_shards_that_cannot_be_learnt_are_refused():
    x, y = stream(20, 3, 2)
    with pytest.raises(ValueError, match="there are no shards"):
        fit([], engine=ENGINE)
    with pytest.raises(ValueError, match="does not add up"):
        fit(split(x, y, 2), "ogd", engine=ENGINE)
    with pytest.raises(ValueError, match="'passes' or 'lambda-once' was needed"):
        fit(split(x, y, 2), engine=ENGINE, period=5, how="sum-all")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": x[:, 0], "word": "w", "y": y})
    with pytest.raises(ValueError, match="a table in one block, an array in another; all must be of one kind"):
        fit([[table], [(x, y)]], engine=ENGINE)
    with pytest.raises(ValueError, match="column 'size': the columns are a, word"):
        fit([[table]], engine=ENGINE, columns=["a", "size"])
    with pytest.raises(ValueError, match="label = 'queue': the columns are a, word, y"):
        fit([[table]], engine=ENGINE, label="queue")


# Sweeps


@needs_the_command_line
def test_a_sweep_is_the_command_lines_table(tmp_path):
    x, y = stream(300, 4, 3)
    path = tmp_path / "rows.ndjson"
    path.write_text("".join(json.dumps({"x": a, "y": b}) + "\n" for a, b in zip(x.tolist(), y.tolist(), strict=True)))
    told = []
    swept = sweep(
        path,
        ["ogd", "gaptron-logistic"],
        {"ogd.rate": [0.1, 1.0]},
        seeds=3,
        options=["--label", "y"],
        engine=LocalEngine(jobs=2),
        progress=lambda done, total: told.append((done, total)),
    )
    words = ["compare", path, "--label", "y", "--learners", "ogd,gaptron-logistic", "--set", "ogd.rate=0.1,1", "--repeats", "3"]
    *runs, summary = noregret(*words, "--json", "--quiet")
    times = ("seconds", "rows_per_second", "data")

    def timeless(one):
        return {name: value for name, value in one.items() if name not in times}

    assert [timeless(run) for run in swept.runs] == [timeless(run) for run in runs]
    assert swept.settings == [timeless(one) for one in summary["settings"]]
    assert told[-1] == (5, 5) and swept.failures == []
    assert swept.best()["learner"] == min(swept.settings, key=lambda one: one["error_rate"]["mean"])["learner"]
    pytest.importorskip("pandas")
    assert list(swept.frame()["error_rate"]) == sorted(one["error_rate"]["mean"] for one in swept.settings)


def test_a_run_that_fails_is_reported_beside_the_others():
    x, y = stream(50, 3, 3)
    swept = sweep((x, y), ["ogd", "aioli"], options=["--label", "y"], engine=LocalEngine(jobs=1))
    assert [run["learner"] for run in swept.runs] == ["ogd"]
    assert [failure["learner"] for failure in swept.failures] == ["aioli"]
    assert "aioli" in swept.failures[0]["error"]
    with pytest.raises(ValueError, match="'ogdd' is no learner"):
        sweep((x, y), "ogdd")
    with pytest.raises(ValueError, match="ogd is not among the learners"):
        sweep((x, y), "ons", {"ogd.rate": [1]})


def test_a_sweep_leaves_nothing_behind(tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    x, y = stream(50, 3, 3)
    assert sweep((x, y), ["ogd"], options=["--label", "y"], engine=ENGINE).failures == []
    assert list(tmp_path.iterdir()) == []


def test_parameters_that_a_learner_does_not_have_are_refused():
    x, y = stream(50, 3, 3)
    for wrong in ({"ogd.speed": [1]}, {"speed": 1}, {"curvature": [1]}):
        with pytest.raises((TypeError, ValueError), match=next(iter(wrong)).removeprefix("ogd.")):
            sweep((x, y), ["folklore", "ogd"] if "curvature" in wrong else "ogd", wrong, engine=ENGINE)


class Spark:
    """What `SparkEngine` needs of a session. As Spark does, it gives up all calls when one raises."""

    def __init__(self, calls=None):
        self.calls, self.sparkContext, self.broadcast = calls, self, lambda value: value

    def parallelize(self, calls, parts):
        return Spark(calls)

    def map(self, function):
        return Spark([function(call) for call in self.calls])

    def collect(self):
        return self.calls


def test_a_failed_run_does_not_end_the_others_of_spark():
    from noregret.cluster.spark import SparkEngine

    engine = SparkEngine(Spark())
    done = dict(engine.completed(engine.map(divmod, [(7, 2), (7, 0), (9, 2)])))
    assert done[0] == (3, 1) and isinstance(done[1], ZeroDivisionError) and done[2] == (4, 1)
    assert [engine.get(one) for one in engine.map(divmod, [(7, 2)], outputs=2)[0]] == [3, 1]


# Keyed learners


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
    for key, one in expected.items():
        assert keyed.get(key).rounds == one.rounds
        np.testing.assert_array_equal(keyed.get(key).scores(x), one.scores(x))
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
        for key, one in expected.items():
            np.testing.assert_array_equal(again.get(key).scores(x), one.scores(x))
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
        for key, one in alone(names, x, y).items():
            np.testing.assert_array_equal(keyed.get(key).scores(x), one.scores(x))


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
    with KeyedLearners(tmp_path / "table", "folklore", labels=["down", "up"], actors=1) as again:
        assert again.predict(["sensor 1"] * 2, frame[:2]) == ["up", "down"]


def test_fit_reads_tables_as_a_learner_does():
    pandas = pytest.importorskip("pandas")
    x, at = stream(300, 3, 2)
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    frame["hue"] = ["red", "green", "blue"] * 100
    frame.loc[::7, "b"] = np.nan
    y = np.where(frame["hue"] == "red", "up", np.where(at == 1, "up", "down")).astype(object)
    y[::11] = None
    for shards in (1, 3):
        fitted = fit(split(frame, y, shards), engine=ENGINE, held_out=0)
        assert fitted.labels == ["down", "up"] and fitted.rates["rounds"] == sum(label is not None for label in y)
        assert fitted.rates["error_rate"] < 0.35 and fitted.learner.predict(frame[:9:3]).tolist() == ["up"] * 3
        turned = frame[["hue", "c", "b", "a"]]
        np.testing.assert_array_equal(fitted.learner.predict_proba(turned), fitted.learner.predict_proba(frame))
    # A category that only the last shard has.
    late = frame.assign(hue=["red"] * 200 + ["green"] * 100)
    fitted = fit(split(late, y, 3), engine=ENGINE)
    assert {"hue=red", "hue=green"} <= set(fitted.learner.columns)
    kept = [label is not None for label in y]
    swept = sweep((frame[kept], y[kept]), ["folklore"], engine=LocalEngine(jobs=1))
    assert not swept.failures and swept.runs[0]["error_rate"] < 0.35


def test_labels_that_are_words_for_missing_ones_are_not_learnt():
    x, at = stream(300, 3, 2)
    y = np.where(at == 1, "up", "down").astype(object)
    holes = np.array(y)
    holes[::7] = "NA"
    holes[3::7] = "unknown"
    holes[5::7] = None
    known = np.array([label in ("up", "down") for label in holes])
    fitted = fit(split(x, holes, 3), engine=ENGINE, held_out=0, missing=["unknown"])
    assert fitted.labels == ["down", "up"] and fitted.learner.rounds == known.sum()
    kept = fit(split(x, holes, 3), engine=ENGINE, held_out=0, not_missing=["NA"])
    assert kept.labels == ["NA", "down", "unknown", "up"]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    frame["hue"] = ["red", "unknown", "blue"] * 100
    learner = fit(split(frame, holes, 3), engine=ENGINE, missing=["unknown"]).learner
    assert "hue=red" in learner.columns and "hue=unknown" not in learner.columns


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
        for key, one in expected.items():
            np.testing.assert_array_equal(keyed.get(key).scores(x), one.scores(x))


def test_keys_are_spread_the_same_way_everywhere():
    assert [partition_of(key, 64) for key in ("a", "b", "sensor 1")] == [0, 4, 41]  # Stores depend on it.
    counts = np.bincount([partition_of(f"key {at}", 8) for at in range(8000)], minlength=8)
    assert counts.min() > 850 and counts.max() < 1150


# Engines


def engine_works(engine, folder):
    """The four functions, through what is built on them."""
    x, y = stream(120, 4, 3)
    shared = engine.broadcast(np.arange(5))
    assert [int(engine.get(one)) for one in engine.map(np.sum, [(shared,), (shared,)])] == [10, 10]
    handles = [engine.broadcast(np.array([float(at)])) for at in range(5)]
    assert float(engine.get(engine.reduce(np.add, handles))[0]) == 10.0
    here = fit(split(x, y, 3), engine=ENGINE)
    there = fit([[engine.broadcast(block) for block in shard] for shard in split(x, y, 3)], engine=engine)
    np.testing.assert_array_equal(here.learner.statistics(), there.learner.statistics())
    assert here.held_out == there.held_out
    names, rows, labels = keyed_rows(rows=30)
    keyed = make(folder, actors=2, partitions=2, engine=engine)
    keyed.learn(names, rows, labels)
    for key, one in alone(names, rows, labels).items():
        np.testing.assert_array_equal(keyed.get(key).scores(rows), one.scores(rows))
    keyed.close()


def test_joblib(tmp_path):
    engine_works(LocalEngine(jobs=2), tmp_path)


def test_dask(tmp_path):
    distributed = pytest.importorskip("distributed")
    from noregret.cluster.dask import DaskEngine

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        engine_works(DaskEngine(client), tmp_path)


def test_spark(tmp_path, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    # Its workers are else whatever is called python3.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    from noregret.cluster.spark import SparkEngine

    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    try:
        engine_works(SparkEngine(session), tmp_path)
    finally:
        session.stop()


def test_words_for_missing_labels_are_missing_and_times_are_labels(tmp_path):
    import datetime

    from noregret.cluster import KeyedLearners

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


TABLES = [
    "labels that are texts", "labels that are true and false", "labels that are texts of digits", "labels that are words for missing ones",
    "missing labels", "categories", "missing numbers", "missing categories that are words", "times", "free text", "no columns",
]


@pytest.mark.parametrize("name", TABLES)
def test_a_sweep_reads_tables_like_every_front(name):
    pytest.importorskip("pyarrow")
    from fronts.objects import frame
    from fronts.situations import SITUATIONS

    case = SITUATIONS[name]
    found = sweep((frame(case.rows), case.labels), "folklore", engine=LocalEngine(jobs=1))
    assert not found.failures and found.runs[0]["log_loss"] == Learner("folklore").run(frame(case.rows), case.labels).log_loss
