"""The classifiers in River: its own checks, and what they do not ask."""

import datetime
import decimal
import pickle

import numpy as np
import pytest

pytest.importorskip("river")

from river import checks, compose, datasets, evaluate, metrics, preprocessing

from conftest import stream

from noregret import Learner, catalogue
from noregret import river as face

CLASSIFIERS = [getattr(face, name) for name in face.__all__]
each = pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)


def all_checks():
    for kind in CLASSIFIERS:
        for check in checks.yield_checks(kind()):
            yield pytest.param(kind, check, id=f"{kind.__name__}-{check.__name__}")


@pytest.mark.parametrize(("kind", "check"), list(all_checks()))
def test_rivers_checks(kind, check):
    check(kind())


def test_every_learner_that_can_grow_has_a_classifier():
    able = [e for e in catalogue() if e["grows"] and e["classes"] != "real" and e["feedback"] in ("full", "either")]
    assert {e["name"] for e in able} == {kind._learner_name for kind in CLASSIFIERS}
    assert len(CLASSIFIERS) >= 16


def test_in_a_pipeline_with_metrics():
    model = compose.Select("empty_server_form_handler", "popup_window", "https") | face.Folklore()
    metric = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.LogLoss())
    assert metric.get() < 0.45
    model = preprocessing.StandardScaler() | face.Ogd(scale="none")
    assert evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.MicroF1()).get() > 0.75


def test_classes_and_features_that_come_and_go():
    model = face.Folklore(scale="none", radius=2.0)
    assert model.predict_proba_one({"a": 1.0}) == {} and model.predict_one({"a": 1.0}) is None
    model.learn_one({"a": 1.0}, "x")
    assert model.predict_proba_one({"a": 1.0}) == {"x": 1.0}
    model.learn_one({"b": 1.0}, "y")
    model.learn_one({"c": 1.0, "a": 0.5}, 3)
    p = model.predict_proba_one({"c": 1.0, "unknown": 5.0})
    assert list(p) == ["x", "y", 3] and sum(p.values()) == pytest.approx(1) and model.predict_one({"c": 1.0}) == 3
    assert model.learner.features == 3 and model.learner.classes == 3
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba_one({"a": 1.0}) == model.predict_proba_one({"a": 1.0})


def test_what_grew_was_always_there():
    rng = np.random.default_rng(0)
    rows = [{f"f{at}": value for at, value in enumerate(rng.normal(size=3 + t // 10))} for t in range(50)]
    labels = rng.integers(0, 3, 50).tolist()
    model = face.Folklore(scale="none", intercept=False, radius=3.0)
    learner = Learner("folklore", features=7, classes=3, radius=3.0, sparse=True)
    names = list(dict.fromkeys(labels))
    for t, (row, label) in enumerate(zip(rows, labels, strict=True)):
        if len(model._classes) == 3:
            ours = model.predict_proba_one(row)
            x = np.array([row.get(f"f{at}", 0.0) for at in range(7)])
            theirs = learner.predict_proba(x)
            if t > 45:
                np.testing.assert_allclose([ours[name] for name in names], theirs, atol=0.05)
        model.learn_one(row, label)
        learner.learn_one([row.get(f"f{at}", 0.0) for at in range(7)], names.index(label))


def test_texts_are_categories_and_none_is_missing():
    model = face.Ogd(scale="none")
    for _ in range(20):
        model.learn_one({"colour": "red", "size": None}, "stop")
        model.learn_one({"colour": "green", "size": 1, "weight": float("nan")}, "go")
    assert model.predict_one({"colour": "red"}) == "stop" and model.predict_one({"colour": "green"}) == "go"
    assert set(model._columns) == {"colour=red", "colour=green", "size"}


def test_missing_labels_are_not_learnt():
    import pandas

    rows = [{"a": float(at % 7 - 3)} for at in range(60)]
    labels = ["x" if row["a"] > 0 else "y" for row in rows]
    for missing in (None, float("nan"), np.nan, pandas.NA, pandas.NaT, decimal.Decimal("NaN"), np.datetime64("NaT"), "NA", "null", "?", "-"):
        gaps, whole = face.Folklore(), face.Folklore()
        for at, (row, label) in enumerate(zip(rows, labels, strict=True)):
            gaps.learn_one(row, missing if at % 5 == 0 else label)
            if at % 5:
                whole.learn_one(row, label)
        assert gaps.predict_proba_one({"a": 1.0}) == whole.predict_proba_one({"a": 1.0})
        many = face.Folklore()
        y = pandas.Series([missing if at % 5 == 0 else label for at, label in enumerate(labels)], dtype=object)
        many.learn_many(pandas.DataFrame(rows), y)
        assert many.predict_proba_one({"a": 1.0}) == whole.predict_proba_one({"a": 1.0})


def test_words_that_count_as_missing_are_given_or_taken_back():
    import pandas

    rows = [{"size": -999 if at % 3 else at, "hue": ["red", "unknown", "NA"][at % 3], "tags": ["unknown", "x"]} for at in range(30)]
    labels = [["unknown", "a", "b"][at % 3] for at in range(30)]
    said, holes = face.Ogd(missing=["unknown", -999]), face.Ogd()
    for row, label in zip(rows, labels, strict=True):
        said.learn_one(row, label)
        if label != "unknown":
            kept = {name: value for name, value in row.items() if value not in (-999, "unknown")}
            holes.learn_one(kept | {"tags": ["x"]}, label)
    assert list(said.predict_proba_one(rows[0])) == ["a", "b"] and "hue=NA" in said._columns
    assert said._columns == holes._columns and said.predict_proba_one({"hue": "NA"}) == holes.predict_proba_one({"hue": "NA"})
    assert said.clone().missing == ["unknown", -999]
    many = face.Ogd(missing=["unknown", -999])
    many.learn_many(pandas.DataFrame(rows)[["size", "hue"]], pandas.Series(labels))
    assert sorted(many.predict_proba_one(rows[0])) == ["a", "b"] and "hue=unknown" not in many.learner.columns
    named = face.Ogd(not_missing=["NA", "?"])
    for label in ("NA", "?", "x"):
        named.learn_one({"a": 1.0}, label)
    assert list(named.predict_proba_one({"a": 1.0})) == ["NA", "?", "x"]
    # A mark is a class beside a sign, and not before.
    signs = face.Ogd()
    for label in ("-", "+", "-", "?"):
        signs.learn_one({"a": 1.0}, label)
    assert list(signs.predict_proba_one({"a": 1.0})) == ["+", "-", "?"]


def test_missing_values_of_every_kind_are_left_out():
    import pandas

    missing = [None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT, decimal.Decimal("NaN"), np.datetime64("NaT"), np.timedelta64("NaT")]
    whole, gaps = face.Ogd(), face.Ogd()
    for at in range(24):
        row, label = {"n": float(at), "deep": {"m": 1}}, "xy"[at % 2]
        whole.learn_one(row, label)
        gaps.learn_one(row | {"gone": missing[at % 8], "deep": {"m": 1, "gone": missing[at % 8]}}, label)
    assert gaps._columns == whole._columns and gaps.predict_proba_one({"n": 1.0, "gone": pandas.NA}) == whole.predict_proba_one({"n": 1.0})


def test_times_are_those_of_a_table():
    import pandas

    when = datetime.datetime(2026, 3, 1, 6, 30)
    model = face.Ogd(scale="none")
    for value in (when, pandas.Timestamp(when), np.datetime64(when), when.replace(tzinfo=datetime.timezone.utc)):
        model.learn_one({"at": value, "gone": pandas.NA, "never": pandas.NaT, "n": 1}, "a")
    names = {"at:days", "at:hour_sin", "at:hour_cos", "at:year_sin", "at:year_cos", "at:weekday=Sun", "n"}
    assert set(model._columns) == names
    model.learn_one({"at": when.date(), "took": datetime.timedelta(minutes=1), "n": 2}, "b")
    assert set(model._columns) == names | {"took"}
    took = [face.Ogd(scale="none") for _ in range(3)]
    for each, value in zip(took, (datetime.timedelta(minutes=1), np.timedelta64(1, "m"), pandas.Timedelta("1min")), strict=True):
        each.learn_one({"took": value}, "a")
        each.learn_one({"took": 2.0}, "b")
    assert len({tuple(each.predict_proba_one({"took": 1.0}).values()) for each in took}) == 1
    # The same features as those of a column of a table.
    table = Learner("ogd")
    table.run(pandas.DataFrame({"at": [when + datetime.timedelta(days=at) for at in range(40)]}), ["a", "b"] * 20)
    assert names - {"n"} <= set(table.columns)


def test_bad_rows_change_nothing():
    model = face.Ogd()
    model.learn_one({"a": 1.0, "b": 2.0}, "x")
    before = pickle.dumps(model)
    for x, error, sentence in [
        ({"new": 1.0, "a": float("inf")}, ValueError, "feature 'a' has the value inf"),
        ({"new": b"1"}, TypeError, "feature 'new' is b'1'; a number or a text was needed"),
        ({"a": 1e200}, ValueError, "values are too large"),
    ]:
        with pytest.raises(error, match=sentence):
            model.learn_one(x, "y")
        with pytest.raises(error, match=sentence):
            model.predict_proba_one({**x, "a": x.get("a", b"1")} if "new" in x else x)
    with pytest.raises(ValueError, match="the weight is -1"):
        model.learn_one({"a": 1.0}, "y", w=-1.0)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="y = 'maybe': must be True or False: aioli is binary"):
        face.Aioli().learn_one({"a": 1.0}, "maybe")


def test_weights_are_importance():
    heavy, light = face.Ogd(scale="none", radius=1.0), face.Ogd(scale="none", radius=1.0)
    heavy.learn_one({"a": 1.0}, "x", w=3.0)
    light.learn_one({"a": 1.0}, "x")
    for model in (heavy, light):
        model.learn_one({"b": 1.0}, "y", w=0.0)
        assert model.learner.rounds == 1
    assert not hasattr(face.Perceptron.learn_one, "w")


def test_tables_of_rows():
    import pandas

    rows = [x for x, _ in datasets.ImageSegments().take(100)]
    labels = [y for _, y in datasets.ImageSegments().take(100)]
    frame, many, one = pandas.DataFrame(rows), face.Ogd(), face.Ogd()
    many.learn_many(frame, pandas.Series(labels))
    for x, y in zip(rows, labels, strict=True):
        one.learn_one(x, y)
    table = many.predict_proba_many(frame)
    assert table.shape == (100, len(set(labels)))
    for at, x in enumerate(rows):
        assert table.iloc[at].to_dict() == one.predict_proba_one(x)


def test_forecasts_are_those_of_a_run():
    """A row is scaled for its forecast as for learning, so that the forecasts are those of the command line's loop."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(3.0, 2.0, 200), rng.exponential(50.0, 200)])
    y = (x[:, 0] + 0.1 * x[:, 1] > 8.0).tolist()
    model = face.Aioli(radius=8.0)
    forecasts = []
    for row, label in zip(x.tolist(), y, strict=True):
        forecasts.append(model.predict_proba_one(dict(zip("ab", row, strict=True))).get(True, 0.5))
        model.learn_one(dict(zip("ab", row, strict=True)), label)
    learner = Learner("aioli", classes=2, features=2, radius=8.0, scale="standard", intercept=True)
    run = learner.run(x, np.array(y, dtype=int), look_ahead=False, probabilities=True)
    np.testing.assert_allclose(forecasts, run.probabilities[:, 1], rtol=0, atol=1e-12)


def test_the_learner_underneath_has_the_labels(tmp_path):
    x, y = stream(60, 2, 3)
    model = face.Folklore()
    for row, label in zip(x.tolist(), y, strict=True):
        model.learn_one(dict(zip("uv", row, strict=True)), "abc"[label])
    assert model.learner.predict(x).tolist() == [model.predict_one(dict(zip("uv", row, strict=True))) for row in x.tolist()]
    with pytest.warns(UserWarning, match="rows that came one by one have numbered labels and columns in a file: '.' is 0"):
        model.learner.save(tmp_path / "model")


def test_a_table_that_is_refused_changes_nothing():
    pandas = pytest.importorskip("pandas")
    x, y = stream(60, 2, 3)
    frame = pandas.DataFrame(x, columns=["u", "v"])
    model = face.Folklore()
    model.learn_many(frame, y)
    before = model.predict_proba_one({"u": 1.0, "v": 2.0})
    frame["new"] = np.where(np.arange(60) == 40, np.inf, 1.0)
    for table, labels, sentence in (frame, y, "feature 'new' has the value inf"), (frame, y[:50], "y has 50 labels for 60 rows"):
        with pytest.raises(ValueError, match=sentence):
            model.learn_many(table, labels)
        assert model.learner.rounds == 60 and model.learner.features == 2
        assert model.predict_proba_one({"u": 1.0, "v": 2.0}) == before


def test_true_and_1_are_told_apart_or_refused():
    pandas = pytest.importorskip("pandas")
    for first, second in ((True, 1), (1, True), (False, 0)):
        model = face.Folklore()
        model.learn_one({"a": 1.0}, first)
        with pytest.raises(ValueError, match=f"the label {second} equals the class {first}, and River tells classes apart by that"):
            model.learn_one({"a": 2.0}, second)
        model.learn_one({"a": 1.0}, 2)
        assert list(model.predict_proba_one({"a": 1.0})) == [first, 2]
    with pytest.raises(ValueError, match="equals the class (1|True)"):
        face.Folklore().learn_many(pandas.DataFrame({"a": ["x", "y"]}), [True, 1])


def test_missing_values_of_every_kind_are_absent_in_a_first_row():
    pandas = pytest.importorskip("pandas")
    found = []
    for row in {"a": 1.0}, *({"a": 1.0, "b": hole} for hole in (None, float("nan"), pandas.NA, pandas.NaT)):
        model = face.Folklore(scale="none")
        model.learn_one(row, "x")
        model.learn_one({"a": -1.0, "b": 2.0}, "y")
        found.append(model.predict_proba_one({"a": 0.5, "b": 1.0}))
    assert found == [found[0]] * 5


def test_a_first_table_of_one_class_and_rows_that_lack_all_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, None] * 10, "hue": ["red", "blue"] * 10})
    model = face.Folklore()
    model.learn_many(frame, [None] * 20)
    assert model.learner is None
    model.learn_many(frame, ["a"] * 20)
    assert model.predict_proba_one({"hue": "red"}) == {"a": 1.0}
    model.learn_many(frame, ["b", "c"] * 10)
    assert sorted(model.predict_proba_one({"hue": "red"})) == ["a", "b", "c"]
    assert sum(model.predict_proba_one({}).values()) == pytest.approx(1) == sum(model.predict_proba_one({"other": 1.0}).values())
    model.learn_one({}, "a")
    assert model.learner.rounds == 41


def test_what_is_no_dictionary_is_named():
    pandas = pytest.importorskip("pandas")
    for x in ([1, 2], pandas.Series({"a": 1.0}), "a"):
        with pytest.raises(TypeError, match="a dictionary of features by name was needed"):
            face.Folklore().learn_one(x, "a")


def test_labels_and_weights_that_are_none_are_named():
    # "unhashable type: 'dict'", "can't multiply sequence by non-int of type 'float'"
    for model in (face.Folklore(), face.Folklore(class_weight={"a": 2.0})):
        for y in ({"a": True, "b": False}, ["a", "b"]):
            with pytest.raises(TypeError, match=r"one label was needed \(river.multioutput.ClassifierChain has a classifier for each"):
                model.learn_one({"x": 1.0}, y)
        with pytest.raises(TypeError, match="w = '2': must be a number"):
            model.learn_one({"x": 1.0}, "a", w="2")


def test_a_text_and_a_number_of_one_feature_are_refused():
    # They were refused in words of arrays, or, in a first row, became one column.
    for rows in ([{"hue": "red", "hue=red": 2.0}], [{"hue": "red"}, {"hue=red": 2.0, "hue": "red"}]):
        model = face.Folklore()
        with pytest.raises(ValueError, match="feature 'hue=red' appears twice: as a number, and as the text red of feature 'hue'"):
            for row in rows:
                model.learn_one(row, "a")


def test_empty_texts_are_missing():
    empty, none = face.Folklore(), face.Folklore()
    for at in range(60):
        label, hue = ("up", "red") if at % 2 else ("down", "blue")
        row = {"a": at % 7 + (3.0 if at % 2 else 0.0), "hue": hue}
        for model, hole in ((empty, ""), (none, None)):
            model.learn_one(row | ({"hue": hole} if at % 3 == 1 else {}) | ({"a": hole} if at % 5 == 3 else {}), label)
    for row in ({"a": 2.0, "hue": ""}, {"a": " ", "hue": "red"}, {"a": "", "hue": ""}):
        given = {name: value for name, value in row.items() if not (isinstance(value, str) and not value.strip())}
        assert empty.predict_proba_one(row) == none.predict_proba_one(dict.fromkeys(row) | given)


@pytest.mark.parametrize("share", [0.2, 0.4])
@pytest.mark.parametrize("hole", [None, float("nan"), -999], ids=str)
def test_missing_numbers_are_means(hole, share):
    # They were 0: of numbers around 50 half of the labels were wrong. With more holes they stayed 0.
    rng = np.random.default_rng(0)
    x, holes = rng.normal(size=(1000, 2)), rng.random((1000, 2)) < share
    # A feature has its column from its first number on; what it was before counts as 0.
    holes[0] = False
    y = np.where(x[:, 0] + 0.5 * x[:, 1] > 0, "up", "down").tolist()

    def errors(instead, **facts):
        model, wrong = face.Folklore(**facts), 0
        for (a, b), gone, label in zip((x + 50).tolist(), holes.tolist(), y, strict=True):
            row = {"a": instead if gone[0] else a, "b": instead if gone[1] else b}
            wrong += model.predict_one(row) != label
            model.learn_one(row, label)
        return wrong / 1000

    assert errors(hole, **({"missing": [-999]} if hole == -999 else {})) < errors(50.0) + 0.05


def ages(count):
    """Rows in which an age is missing in nine of ten rows of one label, and nothing else tells the label."""
    rows = []
    for t in range(count):
        old = t * 37 % 11 % 2 == 1
        hole = old and t % 10 != 3
        rows.append(({"age": None if hole else 47.5 + t * 7 % 5, "size": float(t * 5 % 13)}, "old" if old else "young"))
    return rows


@pytest.mark.parametrize("name", ["Ogd", "Folklore"])
def test_a_missing_number_far_from_0_is_seen(name):
    model, wrong = getattr(face, name)(), 0
    for at, (x, y) in enumerate(ages(600)):
        wrong += at >= 100 and model.predict_one(x) != y
        model.learn_one(x, y)
        if at == 300:
            again = pickle.loads(pickle.dumps(model))
        if at > 300:
            again.learn_one(x, y)
    assert wrong < 60
    assert set(model._columns) == {"age", "size", "age:missing"}, "size has no holes"
    x = {"age": None, "size": 3.0}
    assert model.predict_proba_one(x) == again.predict_proba_one(x)
    assert model.predict_proba_one(x) != model.predict_proba_one({"size": 3.0})


def test_a_missing_number_is_seen_after_20_others_far_from_0():
    pd = pytest.importorskip("pandas")
    few, near = face.Ogd(), face.Ogd()
    for at, (x, y) in enumerate(ages(200)):
        few.learn_one(x if at < 19 else {**x, "age": 50.0}, y)
        near.learn_one({**x, "age": None if at % 3 == 1 else float(at % 7) - 3.0}, y)
    # A table of one row, as one row.
    few.learn_many(pd.DataFrame([{"age": None, "size": 1.0}], dtype=float), ["old"])
    assert set(few._columns) == {"age", "size", "age:missing"}
    assert set(near._columns) == {"age", "size"}


@pytest.mark.parametrize("cells", [{"a": [0.5, -1.0, 2.0, 1.5] * 5, "b": [1, 2, 3, 4] * 5}, {"a": [0.5, None, 2.0, 1.5] * 5, "hue": ["x", "y", "x", None] * 5}])
def test_mini_batches_of_polars_and_arrow_come_back_as_such(cells):
    import pandas

    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    labels = ["up", "down", "up", "up"] * 5
    frames, found = [pandas.DataFrame(cells), polars.DataFrame(cells), pyarrow.table(cells)], []
    for frame in frames:
        model = face.Folklore()
        for _ in range(2):
            model.learn_many(frame, labels)
        probabilities, best = model.predict_proba_many(frame), model.predict_many(frame)
        assert type(probabilities) is type(frame)
        found.append((np.asarray(probabilities), list(best.to_pylist() if hasattr(best, "to_pylist") else best), sorted(model._columns)))
    for other in found[1:]:
        np.testing.assert_array_equal(other[0], found[0][0])
        assert other[1:] == found[0][1:]
    piped = preprocessing.StandardScaler() | face.Folklore()
    piped.learn_many(frames[1].select("a").fill_null(0.0), polars.Series(labels))
    assert isinstance(piped.predict_many(frames[1].select("a").fill_null(0.0)), polars.Series)
    with pytest.raises(TypeError, match="X is of type ndarray; a frame of pandas or polars, or a table of Arrow, was needed"):
        face.Folklore().learn_many(np.eye(2), ["a", "b"])


def test_a_row_is_any_mapping():
    import types

    from river.utils import VectorDict

    plain, others = face.Ogd(), face.Ogd()
    for at in range(10):
        row, label = {"a": float(at % 3), "b": at % 2}, at % 2 == 0
        plain.learn_one(row, label)
        others.learn_one(VectorDict(row) if at % 3 else types.MappingProxyType(row), label)
    assert others.predict_proba_one(VectorDict({"a": 1.0})) == plain.predict_proba_one({"a": 1.0})
    with pytest.raises(TypeError, match="a dictionary of features by name was needed"):
        others.learn_one([1.0, 2.0], True)
