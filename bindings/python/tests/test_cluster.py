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
from noregret.cluster._keyed import partition_of

ENGINE = LocalEngine(jobs=1)


def learner(name="folklore", features=4, classes=3, **facts):
    return Learner(name, features=features, labels=[str(label) for label in range(classes)], **facts)


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
    assert added.certificate() == pytest.approx(merged.certificate(), rel=1e-9)


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
    fitted = fit(split(x, y, 1), engine=ENGINE)
    one = fitted.learner
    assert one.rounds == 200 and fitted.rates["rounds"] == 200
    alone = learner(scale="standard", intercept=True)
    from noregret import _core

    seen, first, second, _ = _core.survey(np.ascontiguousarray(x), None, "standard", True)
    alone._core.set_scaling(seen, first, second)
    rates = alone._core.run(np.ascontiguousarray(x), y, frozen=True)[3]
    assert fitted.rates["errors"] == rates["errors"]
    assert fitted.rates["log_loss"] == pytest.approx(rates["log_loss"], rel=1e-12)
    np.testing.assert_allclose(one.scores(x), alone.scores(x), rtol=1e-8, atol=1e-9)


def test_the_merged_learner_does_not_depend_on_blocks():
    x, y = stream(300, 4, 3)
    whole = fit(split(x, y, 3), engine=ENGINE)
    pieces = [[(rows[:40], labels[:40]), (rows[40:], labels[40:])] for ((rows, labels),) in split(x, y, 3)]
    again = fit(pieces, engine=ENGINE)
    assert whole.learner.rounds == again.learner.rounds == 300
    np.testing.assert_allclose(whole.learner.scores(x), again.learner.scores(x), rtol=1e-7, atol=1e-7)
    # Not the errors: at first, classes that did not occur have equal scores, up to rounding.
    assert whole.rates["log_loss"] == pytest.approx(again.rates["log_loss"], rel=1e-9)


def test_the_certificate_covers_all_shards_or_is_withheld():
    x, y = stream(400, 4, 3)
    merged = fit(split(x, y, 4), engine=ENGINE)
    assert merged.withheld is None and merged.certificate > 0
    often = fit(split(x, y, 4), engine=ENGINE, period=20)
    assert often.certificate is None and "merged learners" in often.withheld
    assert len(often.periods) == 5 and often.rates["rounds"] == 400
    assert often.rates["log_loss"] < merged.rates["log_loss"]  # What the others have seen helps.
    alone = fit(split(x, y, 1), engine=ENGINE)
    assert alone.rates["log_loss"] < often.rates["log_loss"]


def test_shards_that_cannot_be_learnt_are_refused():
    x, y = stream(20, 3, 2)
    with pytest.raises(ValueError, match="there are no shards"):
        fit([], engine=ENGINE)
    with pytest.raises(ValueError, match="does not add up"):
        fit(split(x, y, 2), "ogd", engine=ENGINE)
    with pytest.raises(ValueError, match="'lambda-once' was needed"):
        fit(split(x, y, 2), engine=ENGINE, period=5, how="sum-all")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": x[:, 0], "word": "w", "y": y})
    with pytest.raises(ValueError, match="column 'word'"):
        fit([[table]], engine=ENGINE)
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
        with pytest.raises(ValueError, match="'maybe' is none of the known classes"):
            keyed.learn(names[20:], x[20:], [*y[20:-1], "maybe"])
        keyed.learn(names[20:], x[20:], y[20:])
        for key, one in alone(names, x, y).items():
            np.testing.assert_array_equal(keyed.get(key).scores(x), one.scores(x))


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
