"""Statistics and shards, on the processes of one machine."""

import math

import numpy as np
import pytest
from conftest import stream

from noregret import Learner
from noregret.cluster import KeyedLearners, LocalEngine, fit, sweep
from noregret.cluster._fit import split

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


def test_statistics_tell_what_voids_a_bound():
    value = Learner("vaw", features=1, radius=1.0, target_bound=1.0)
    value.update(np.ones((2, 1)), np.array([100.0, -100.0]))
    again = value.with_statistics(value.statistics(), 1)
    assert again.certificate() == pytest.approx(value.certificate(), rel=1e-9)
    with pytest.raises(ValueError, match="a target of 100 was beyond target_bound = 1"):
        again.regret_bound()
    x, y = stream(90, 4, 3)
    heavy = learner(radius=1.0, regularization=1e-6)
    heavy.update(x, y, np.where(np.arange(90) == 30, 1e9, 1.0))
    for made in (heavy, heavy.with_statistics(heavy.statistics(), 1)):
        with pytest.raises(ValueError, match="the regularization 1e-6 is too small"):
            made.certificate()


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

    seen, first, second, radius, _ = _core.survey(np.ascontiguousarray(x), None, "standard", True)
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


def test_words_that_come_in_a_later_shard_are_learnt():
    # "columns: 14 in one block; must be 6, as in the first", unless a column of categories was beside.
    pandas = pytest.importorskip("pandas")
    texts = ["it came broken", "refund please"] * 100 + ["it is late again", "thanks a lot"] * 50
    frame, y = pandas.DataFrame({"t": texts}), np.array(["bad", "good"] * 150, dtype=object)
    for beside in ({}, {"hue": ["red", "blue", "green"] * 100}):
        fitted = fit(split(frame.assign(**beside), y, 3), engine=ENGINE, text=["t"])
        assert {"t~broken", "t~thanks"} <= set(fitted.learner.columns)
        asked = pandas.DataFrame({"t": ["late again", "thanks a lot"], **({"hue": ["red"] * 2} if beside else {})})
        assert fitted.learner.predict(asked).tolist() == ["bad", "good"]


def test_numbers_that_go_missing_behind_the_first_rows():
    # The rows that decide about the columns are whole: missing numbers behind them were 0 before standardising.
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x, gone = rng.normal(size=(2400, 2)), rng.random((2400, 2)) < 0.2
    y = np.where(x[:, 0] + 0.5 * x[:, 1] > 0, "up", "down")
    gone[:1100] = False
    holes = pandas.DataFrame(np.where(gone, np.nan, x + 50).round(3), columns=["a", "b"])
    errors = {}
    for name, frame in (("filled", holes.fillna(50.0)), ("holes", holes)):
        for shards in (1, 3):
            learner = fit(split(frame, y, shards), engine=ENGINE).learner
            errors[name, shards] = float((np.asarray(learner.predict(frame)) != y).mean())
    assert max(errors.values()) < min(errors.values()) + 0.03, errors


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


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_truth_values_in_one_part_are_no_numbers_in_another(shards):
    """Each would be a class of its own, of which no row of the other part is."""
    x, y = stream(120, 4, 2)
    blocks = [(x[:40], y[:40]), (x[40:80], y[40:80] == 1), (x[80:], y[80:].astype(float))]
    parts = [blocks] if shards == 1 else [blocks[:1], blocks[1:]] if shards == 2 else [[one] for one in blocks]
    with pytest.raises(ValueError, match="the labels are truth values in one part, such as (True|False), and numbers in another, such as [01]"):
        fit(parts, "folklore", engine=ENGINE)
    assert fit([[(x, y == 1)] for x, y in blocks], "folklore", engine=ENGINE).labels == [False, True]
    assert fit([[one] for one in blocks], "vaw", engine=ENGINE).learner.rounds == 108  # As targets they are numbers.


def test_blocks_with_more_rows_than_labels_are_refused():
    x, y = stream(60, 3, 2)
    sparse = pytest.importorskip("scipy.sparse").csr_matrix(x)
    frame = pytest.importorskip("pandas").DataFrame(x, columns=["a", "b", "c"])
    for rows in (x, sparse, frame):
        for labels in (y[:-3], [*y, 1]):
            with pytest.raises(ValueError, match=f"a block has 60 rows and {len(labels)} labels; as many were needed"):
                fit([[(rows, y), (rows, labels)]], engine=ENGINE)
    with pytest.raises(TypeError, match="columns: for tables only, since the columns of an array have no names"):
        fit([[(x, y)]], engine=ENGINE, columns=["a"])
    assert fit([[(frame, y)]], engine=ENGINE, columns=["c", "a"]).learner.columns == ["c", "a"]


def test_sparse_blocks_are_learnt_like_dense_ones():
    sparse = pytest.importorskip("scipy.sparse")
    x, y = stream(200, 5, 3)
    x[np.abs(x) < 0.3] = 0
    dense, thin = (fit(split(rows, y, 3), engine=ENGINE, scale="none") for rows in (x, sparse.csr_matrix(x)))
    assert thin.held_out["rounds"] == 20 and thin.held_out["log_loss"] == pytest.approx(dense.held_out["log_loss"], rel=1e-6)
    np.testing.assert_allclose(thin.learner.scores(x), dense.learner.scores(x), rtol=1e-5, atol=1e-6)


def test_columns_have_the_roles_that_they_were_given():
    pandas = pytest.importorskip("pandas")
    x, y = stream(200, 2, 2)
    frame = pandas.DataFrame({"size": x[:, 0], "shop": [17, 4] * 100, "row": np.arange(200.0) ** 2})
    told = []
    learner = fit(split(frame, y, 2), engine=ENGINE, categorical=["shop"], drop=["row"], progress=told.append).learner
    one = Learner("folklore", categorical=["shop"], drop=["row"])
    one.update(frame, y)
    assert sorted(learner.columns) == ["shop=17", "shop=4", "size"] == sorted(one.columns)
    assert told[:3] == ["200 rows on 2 shards, 3 columns, 2 labels", "180 rows learnt", "pass 1"]
    assert fit(split(x, y, 2), engine=ENGINE, drop=["0"]).learner.columns == ["1"]
    with pytest.raises(ValueError, match='has no column "shops" .did you mean "shop"'):
        fit(split(frame, y, 2), engine=ENGINE, categorical=["shops"])
    with pytest.raises(TypeError, match="categorical is 'shop'; a list was needed"):
        fit(split(frame, y, 2), engine=ENGINE, categorical="shop")


def frames():
    """A table in two parts: numbers, whole numbers, and labels that both tell."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    a, c = rng.normal(size=200), rng.integers(0, 4, size=200)
    table = pandas.DataFrame({"a": a, "c": c, "y": np.where(c % 2 == 0, "even", "odd")})
    return table.iloc[:100], table.iloc[100:]


def test_shards_agree_on_how_categories_are_written():
    first, second = frames()
    whole = fit([[first], [second]], engine=ENGINE, categorical=["c"])
    # Pandas makes 1.0 of 1 where another cell is missing: also of a category that one shard alone has as a whole number.
    pandas = pytest.importorskip("pandas")
    for at, other in enumerate((second.astype({"c": float}), second.astype({"c": float}).replace({"c": {3.0: np.nan}}))):
        for parts in ([first, other], [first[first["c"] < 3], other, first[first["c"] == 3]]):
            fitted = fit([[part] for part in parts], engine=ENGINE, categorical=["c"])
            assert sorted(name for name in fitted.learner.columns if name.startswith("c=")) == [f"c={at}" for at in range(4)], at
    same = fit([[first], [second.astype({"c": float})]], engine=ENGINE, categorical=["c"])
    np.testing.assert_array_equal(same.learner.predict_proba(first[["a", "c"]]), whole.learner.predict_proba(first[["a", "c"]]))
    # True may be 1 elsewhere, in categories and in numbers.
    truths = [pandas.DataFrame({"b": part["c"] % 2 == 0, "y": part["y"]}) for part in (first, second)]
    alike = fit([[truths[0]], [truths[1].astype({"b": int})]], engine=ENGINE)
    assert alike.learner.columns == ["b=True", "b=False"] and alike.held_out["errors"] == 0
    alike = fit([[truths[0].astype({"b": int})], [truths[1]]], engine=ENGINE)
    assert alike.learner.columns == ["b"] and alike.held_out["errors"] == 0


def test_parts_with_other_columns_are_refused():
    first, second = frames()
    for shown in (lambda part: part, lambda part: {name: part[name].tolist() for name in part}):
        with pytest.raises(ValueError, match="x has no column 'c', which the first table had"):
            fit([[shown(first)], [shown(second.drop(columns="c"))]], engine=ENGINE)
        with pytest.raises(ValueError, match="x has a column 'd', which the first table did not have; columns= names those to learn from"):
            fit([[shown(first)], [shown(second.assign(d=1))]], engine=ENGINE)
        assert fit([[shown(first)], [shown(second.assign(d=1))]], engine=ENGINE, columns=["c", "a"]).learner.columns == ["c", "a"]
    matrix = {"x": first[["a", "c"]].to_numpy(), "y": first["y"].to_numpy()}
    assert fit([[matrix]], engine=ENGINE).learner.features == 2
    # A matrix and another column: both are learnt.
    assert fit([[{**matrix, "d": first["c"].to_numpy()}]], engine=ENGINE).learner.columns == ["x[0]", "x[1]", "d"]
    with pytest.raises(ValueError, match="column 'd': the columns are x"):
        fit([[matrix]], engine=ENGINE, columns=["d"])


def test_what_is_no_list_of_shards_is_named():
    first, second = frames()
    for blocks, name in ((first, "blocks is a DataFrame"), ([[first], second], r"blocks\[1\] is a DataFrame")):
        with pytest.raises(TypeError, match=f"{name}; a list of shards was needed, each a list of tables"):
            fit(blocks, engine=ENGINE)


def test_collections_of_dask_are_computed_or_refused(tmp_path):
    dask = pytest.importorskip("dask")
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    x, y = stream(60, 2, 2)
    late_x, late_y, late = (dask.delayed(lambda one: one)(one) for one in (x, y, (x, y)))
    expected = Learner("ogd")
    expected.update(x, y)
    given = Learner("ogd")
    given.update(late_x, late_y)
    np.testing.assert_array_equal(given.scores(late_x), expected.scores(x))
    table = frames.from_pandas(pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y}), npartitions=2)
    named = Learner("ogd")
    named.update(table, "y")
    assert named.columns == ["a", "b"] and named.predict(table).tolist() == expected.predict(x).tolist()
    here, later = (sweep(data, "ogd", engine=ENGINE).settings for data in ((x, y), late))
    assert here[0]["error_rate"] == later[0]["error_rate"]
    with KeyedLearners(tmp_path, "ogd", labels=[0, 1], actors=1) as keyed:
        keyed.learn(dask.delayed(["a"] * 60), late_x, late_y)
        assert keyed.get("a").rounds == 60
    # Every pass would compute a block again.
    for block, kind in ((late, "Delayed"), ((late_x, y), "Delayed"), ((x, late_y), "Delayed"), (table, "DataFrame")):
        with pytest.raises(TypeError, match=rf"blocks\[0\]\[0\] has a {kind} of Dask that is not computed: client.compute\(...\) makes a handle"):
            fit([[block]], "folklore", engine=ENGINE)
    assert fit([[late.compute()]], "folklore", engine=ENGINE).learner.rounds == 54


def test_times_of_other_zones_in_another_part_are_told_of():
    pandas = pytest.importorskip("pandas")
    x, y = stream(90, 2, 2)
    at = pandas.Series(pandas.date_range("2026-01-01", periods=90, freq="37min", tz="UTC"))
    parts = [
        pandas.DataFrame({"a": x[part, 0], "at": at[part].reset_index(drop=True).dt.tz_convert(zone), "y": y[part]})
        for part, zone in ((slice(0, 30), "UTC"), (slice(30, 60), "Asia/Tokyo"), (slice(60, 90), None))
    ]
    (note,) = fit([[part] for part in parts[:2]], "folklore", engine=ENGINE).notes
    assert note.startswith("column 'at' has times of different zones in different parts, Asia/Tokyo, UTC: an hour is that of the clock of its part")
    assert ", Asia/Tokyo, UTC, none:" in fit([parts], "folklore", engine=ENGINE).notes[0]
    assert not fit([[part.assign(at=part["at"].dt.tz_convert("UTC"))] for part in parts[:2]], "folklore", engine=ENGINE).notes


def test_numbers_as_targets_are_no_classes():
    x = np.random.default_rng(0).normal(size=(400, 2))
    with pytest.raises(ValueError, match="y has 400 different numbers in 400 rows, .*real-valued target"):
        fit(split(x, x[:, 0], 2), engine=ENGINE)
    fitted = fit(split(x, x[:, 0], 2), "vaw", engine=ENGINE)
    assert fitted.held_out["squared_loss"] < 0.1 and fitted.labels == []  # Nor does every target travel to the driver.
    assert type(fitted.learner.predict(x[0])) is float


def test_what_a_column_holds_is_told_by_its_first_cell_wherever_it_is():
    """Of a column without a cell in the first part it was said that it holds numbers, and the texts of others were missing."""
    pandas = pytest.importorskip("pandas")
    x, y = stream(120, 2, 2)
    hours = pandas.Series(pandas.date_range("2026-01-01", periods=120, freq="h"))
    texts = [" ".join(words) for words in np.random.default_rng(0).choice(["it", "came", "late", "again", "broken"], size=(120, 5))]
    frame = pandas.DataFrame({"a": x[:, 0], "hue": ["red", "blue"] * 60, "text": texts, "at": hours, "n": 1.5})
    frame.loc[:39, ["hue", "text", "at", "n"]] = None
    frame = frame.assign(none=None, y=y)
    whole = fit([[frame]], engine=ENGINE)
    assert {"hue=red", "text~late"} < set(whole.learner.columns) and any(name.startswith("at") for name in whole.learner.columns)
    for parts in ([[frame[:40]], [frame[40:]]], [[frame[:20], frame[20:50]], [frame[50:]]]):
        fitted = fit(parts, engine=ENGINE)
        assert fitted.learner.columns == whole.learner.columns and fitted.notes == []
        assert fitted.held_out["log_loss"] == pytest.approx(whole.held_out["log_loss"], rel=1e-9)


def test_columns_may_have_numbers_as_names():
    pandas = pytest.importorskip("pandas")
    x, y = stream(90, 2, 2)
    frame = pandas.DataFrame({0: x[:, 0], 1: x[:, 1], 2: y})
    assert fit([[frame[:45]], [frame[45:]]], engine=ENGINE, label=2).learner.columns == ["0", "1"]
    for columns in ([1], "1"):
        assert fit([[frame[:45]], [frame[45:]]], engine=ENGINE, label=2, columns=columns).learner.columns == ["1"]


def test_parts_without_rows_may_have_lost_their_columns():
    pandas = pytest.importorskip("pandas")
    first, second = frames()
    whole = fit([[first], [second]], engine=ENGINE)
    empty = pandas.DataFrame()
    for blocks in ([[empty], [first], [second]], [[first, empty], [], [second.iloc[:0], second]]):
        fitted = fit(blocks, engine=ENGINE)
        assert fitted.learner.columns == whole.learner.columns
        assert fitted.held_out["log_loss"] == pytest.approx(whole.held_out["log_loss"], rel=1e-6)
    parts = [[(part[["a", "c"]], part["y"])] for part in (first, second)]
    assert fit([parts[0], [(empty, [])], parts[1]], engine=ENGINE).learner.columns == ["a", "c"]


def test_cells_of_parts_that_are_no_numbers_are_told_of():
    first, second = frames()
    told = []
    for parts in ([[first], [second.assign(c="k")]], [[first, second.assign(c="k")], [second]]):
        fitted = fit(parts, engine=ENGINE, progress=told.append)
        assert fitted.notes == ['column "c": 100 cells are no numbers, the first "k" in row 0: they count as missing']
        assert fitted.notes[0] in told
    assert fit([[first], [second]], engine=ENGINE).notes == []
