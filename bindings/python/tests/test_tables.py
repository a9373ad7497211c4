"""Tables of every kind, learners made by their first rows, and what the command line makes of the same rows: to the bit."""

import collections
import copy
import dataclasses
import datetime
import json
import pickle
import sqlite3

import numpy as np
import pytest
from conftest import stream
from program import program

import noregret
from noregret import Bandit, Explanation, Learner, _tables, learners

pandas = pytest.importorskip("pandas")


def tickets(rows=400, seed=0):
    """Numbers, categories, text, times, booleans, nullable integers and missing values, and the label that they tell of."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["billing", "login", "shipping"], rows)
    words = {"billing": "invoice refund charged twice", "login": "password reset locked out", "shipping": "parcel late never came"}
    text = [
        " ".join(["please help with", *rng.permutation(words[name].split())[:3], f"case {rng.integers(1000)}"]) for name in label
    ]
    start = datetime.datetime(2026, 1, 1)
    frame = pandas.DataFrame({
        "created": [start + datetime.timedelta(minutes=int(37 * at)) for at in range(rows)],
        "channel": pandas.Categorical(rng.choice(["mail", "phone", "web"], rows)),
        "text": text,
        "urgent": rng.random(rows) < 0.3,
        "amount": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows) * 20 + (label == "billing") * 15),
        "visits": pandas.array(np.where(rng.random(rows) < 0.2, None, rng.integers(0, 9, rows)), dtype="Int64"),
        "floors": rng.integers(1, 5, rows),
    })
    return frame, pandas.Series(label, name="queue")


def command_line(frame, y, tmp_path, *more):
    """What the command line says of the rows as a CSV file: the summary, and forecasts of a second half that it has not seen."""
    half = len(frame) // 2
    whole = frame.assign(queue=y.to_numpy())
    whole[:half].to_csv(tmp_path / "first.csv", index=False)
    frame[half:].to_csv(tmp_path / "second.csv", index=False)
    words = ["--label", "queue", "--json", "--save", tmp_path / "model.safetensors"]
    [summary] = program("run", tmp_path / "first.csv", *words, *more)[-1:]
    lines = program("predict", tmp_path / "model.safetensors", tmp_path / "second.csv", "--probabilities")
    return summary, np.array([list(line["probabilities"].values()) for line in lines])


def test_a_learner_of_a_table_is_the_command_lines(tmp_path):
    frame, y = tickets()
    half = len(frame) // 2
    summary, theirs = command_line(frame, y, tmp_path)
    learner = Learner()
    run = learner.run(frame[:half], y[:half])
    assert run.rates["error_rate"] == summary["error_rate"] < 0.5 and run.rates["log_loss"] == summary["log_loss"]
    assert (run.error_rate, run.log_loss) == (summary["error_rate"], summary["log_loss"])
    assert run.rates["errors"] == (run.predictions != y[:half].to_numpy()).sum()
    names = ["commonest_class_error_rate", "last_label_error_rate", "class_frequencies_log_loss"]
    baselines = [summary["baselines"][name] for name in names]
    assert list(run.baselines().values()) == pytest.approx(baselines, rel=1e-12)
    assert list(run.baselines()) == ["commonest class", "last label", "class frequencies"]
    np.testing.assert_allclose(learner.predict_proba(frame[half:]), theirs, rtol=0, atol=1e-12)
    learner = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(learner.predict_proba(frame[half:]), theirs)
    assert set(learner.predict(frame[half:])) <= set(y)
    # Columns are told by their names, and a row alone is the same row up to rounding.
    np.testing.assert_array_equal(learner.predict_proba(frame[half:][frame.columns[::-1]]), theirs)
    np.testing.assert_allclose(learner.predict_proba(frame.iloc[half].to_dict()), theirs[0], rtol=0, atol=1e-12)
    # The model that the command line has saved goes on here.
    loaded = Learner.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(frame[half:]), theirs)
    for again in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner)), loaded):
        more = again.run(frame[half:], y[half:])
        assert more.rates == learner.copy().run(frame[half:], y[half:]).rates


def test_cells_are_handed_over_as_they_are():
    """As text, a row without any cell would be no row, one of the names of the columns a header, and 31 February a category."""
    colours = ["red", "blue", "colour"] * 40
    y = ["a" if colour == "red" else "b" for colour in colours]
    learner = Learner("folklore")
    assert learner.run({"colour": colours}, y).rates["rounds"] == 120
    rows = learner.predict_proba({"colour": ["red", None, "colour", "red\n,\"x\""]})
    assert rows.shape == (4, 2) and rows[0, 0] > 0.9 > 0.1 > rows[2, 0] and rows[1].tolist() == rows[3].tolist()
    days = [f"2026-03-{1 + at % 28:02}" for at in range(99)] + ["2026-02-31"]
    learner = Learner("folklore")
    learner.run({"day": days}, y[:100])
    assert learner.roles["day"] == "time"
    rows = learner.predict_proba({"day": ["2026-02-31", None, "2026-03-03"]})
    assert rows[0].tolist() == rows[1].tolist() != rows[2].tolist()
    # Numbers as labels and categories, as Python writes them.
    spelt = [1e-07, 1e16, 0.5, 12345.678] * 30
    learner = Learner("folklore", categorical=["size"])
    learner.run({"size": spelt, "colour": colours}, spelt)
    assert set(learner.labels) == {str(size) for size in spelt}
    texts = {"size": [str(size) for size in spelt], "colour": colours}
    np.testing.assert_array_equal(learner.predict_proba(texts), learner.predict_proba({"size": spelt, "colour": colours}))
    assert [float(label) for label in learner.predict(texts)] == spelt


def test_classifiers_of_scikit_learn_take_tables(tmp_path):
    pytest.importorskip("sklearn")
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from noregret.sklearn import AutoClassifier, OnsClassifier

    frame, y = tickets()
    half = len(frame) // 2
    _, theirs = command_line(frame, y, tmp_path)
    for model in (AutoClassifier(), make_pipeline(AutoClassifier())):
        model = pickle.loads(pickle.dumps(model.fit(frame[:half], y[:half])))
        assert model.score(frame[half:], y[half:]) > 0.5
    model = AutoClassifier().partial_fit(frame[:half], y[:half], classes=["billing", "login", "shipping"])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(frame[half:]), theirs)
    assert list(model.feature_names_in_) == model.learner_.feature_names_in_
    assert pickle.loads(pickle.dumps(model)).predict(frame).tolist() == model.predict(frame).tolist()
    assert OnsClassifier().fit(frame, y).params_["norm"] < 3
    columns = make_column_transformer((OneHotEncoder(), ["channel"]), (StandardScaler(), ["floors"]))
    assert make_pipeline(columns, AutoClassifier()).fit(frame, y).predict(frame).shape == (400,)
    # What is passed on is an array of numbers and texts, without the names of its columns. (scikit-learn itself passes on no
    # pandas.NA, which "visits" has.)
    plain = frame.drop(columns="visits")
    columns = make_column_transformer((StandardScaler(), ["floors"]), remainder="passthrough")
    passed = make_pipeline(columns, AutoClassifier()).fit(plain[:half], y[:half])
    assert isinstance(columns.fit_transform(plain), np.ndarray)
    assert passed.score(plain[half:], y[half:]) > 0.5
    array = frame.to_numpy(dtype=object)
    learner = Learner()
    learner.run(array[:half], y[:half])
    np.testing.assert_array_equal(learner.predict_proba(array[half:]), theirs)


def test_classifiers_of_river_take_tables(tmp_path):
    pytest.importorskip("river")
    from noregret import river

    frame, y = tickets()
    half = len(frame) // 2
    _, theirs = command_line(frame, y, tmp_path)
    model = river.Auto()
    model.learn_many(frame[:half], y[:half])
    model = pickle.loads(pickle.dumps(model))
    table = model.predict_proba_many(frame[half:])
    np.testing.assert_array_equal(table.to_numpy(), theirs)
    assert list(table.columns) == ["billing", "login", "shipping"]
    one = frame.iloc[half].to_dict()
    np.testing.assert_allclose(list(model.predict_proba_one(one).values()), theirs[0], rtol=0, atol=1e-12)
    model.learn_one(one, y[half])
    assert model.learner.rounds == half + 1


def test_what_cannot_be_learnt_from_names_the_column():
    frame, y = tickets(60)
    frame["odd"] = [object()] * 60
    with pytest.raises(TypeError, match="column 'odd', row 0: a value of type object"):
        Learner().run(frame, y)
    with pytest.raises(ValueError, match="column 'a' appears twice"):
        Learner().run(pandas.DataFrame([[1, 2]], columns=["a", "a"]), [0])
    with pytest.raises(ValueError, match="column 'a' appears twice; .*: blanks around them are no part of them"):
        Learner().run(pandas.DataFrame([[1, 2]], columns=["a", "a "]), [0])
    with pytest.raises(ValueError, match="y has 3 targets for 60 rows"):
        Learner().run(tickets(60)[0], ["a", "b", "c"])
    with pytest.raises(ValueError, match="column 'amount', row 1: inf; a finite number was needed"):
        Learner().run(pandas.DataFrame({"amount": [1.0, np.inf, 2.0], "b": ["x", "y", "z"]}), [0, 1, 0])
    with pytest.raises(ValueError, match="there is no column 'quue'; the columns are 'created'"):
        Learner().run(tickets(60)[0], "quue")


def test_columns_are_what_they_are_said_to_be():
    frame, y = tickets(200)
    learner = Learner(categorical=["floors"], drop=["amount"])
    learner.run(frame, y)
    assert learner.roles["floors"] == "categorical" and "amount" not in learner.feature_names_in_
    assert "floors=1" in learner.columns and learner.roles["queue"] == "label"
    with pytest.raises(ValueError, match="has no column \"flors\""):
        Learner(categorical=["flors"]).run(frame, y)


def test_labels_that_are_new_are_taken_in():
    x, y = stream(200, 3, 3)
    names = np.array(["a", "b", "c"])[y]
    known = y < 2
    learner = Learner()
    learner.run(x[known], names[known])
    assert learner.classes == 2
    learner.run(x, names)
    assert learner.labels == ["a", "b", "c"] and learner.predict_proba(x).shape == (200, 3)
    learner.learn_one(x[0], "d")
    assert learner.labels[-1] == "d"
    with pytest.raises(ValueError, match="the label \"c\" is none of the 2 known classes"):
        Learner(labels=["a", "b"]).run(x, names)


def test_a_learner_that_has_seen_nothing():
    learner = Learner()
    assert repr(learner) == "Learner('auto', no rows yet)" and learner.name == "auto"
    assert repr(learners.Ogd()) == "Ogd(no rows yet)" and "no rows yet" in learner._repr_html_()
    for ask in (lambda: learner.predict([1.0]), lambda: learner.classes):
        with pytest.raises(RuntimeError, match="there were none yet"):
            ask()
    with pytest.raises(ValueError, match="there is no learner 'folklor'"):
        Learner("folklor")
    with pytest.raises(TypeError, match="nrm"):
        Learner("folklore", nrm=3)
    with pytest.raises(ValueError, match="every label is \"a\"; at least 2 classes were needed"):
        learner.run([[1.0], [2.0]], ["a", "a"])
    for one in (pickle.loads(pickle.dumps(learner)), learner.copy(), learner):
        one.learn_one([1.0, 2.0], "a")
        one.learn_one([2.0, 1.0], "b")
        one.learn_one([5.0, 1.0], "c")
        assert one.rounds == 3 and one.labels == ["a", "b", "c"] and one.predict([1.0, 2.0]) in "abc"


def test_what_a_run_tells(tmp_path):
    x, at = stream(500, 3, 3)
    y = np.array(["a", "b", "c"])[at]
    run = Learner("folklore").run(x, y, probabilities=True)
    frame = run.frame()
    assert list(frame.columns) == ["truth", "prediction", "error", "loss", "p(a)", "p(b)", "p(c)"]
    assert (frame["truth"] == y).all() and frame["error"].mean() == run.rates["error_rate"]
    confusion = run.confusion()
    assert confusion.sum() == 500 and 500 - np.trace(confusion) == run.rates["errors"]
    windows = run.windows(100)
    assert windows["rounds"].tolist() == [100, 200, 300, 400, 500]
    assert windows["error_rate"].mean() == pytest.approx(run.rates["error_rate"])
    counts, wrong = {}, 0
    for label in at.tolist():
        wrong += label != max(sorted(counts), key=counts.get, default=0)
        counts[label] = counts.get(label, 0) + 1
    assert run.baselines()["commonest class"] == wrong / 500
    page = run.report(tmp_path / "run.html", title="Three classes")
    assert (tmp_path / "run.html").read_text() == page and "<title>Three classes</title>" in page and "<svg" in page
    shown = run._repr_html_()
    assert "precision" in page and "<svg" in shown and "<html" not in shown
    # The colours of the page are also those of the fragment, whatever the notebook's are.
    assert "\nbody { margin" in page and "\n& { margin" in shown and "\nbody {" not in shown
    pytest.importorskip("matplotlib").use("agg")
    assert [line.get_label() for line in run.plot().get_lines()] == ["all rounds so far", "windows of 10", "commonest class"]
    assert pickle.loads(pickle.dumps(run)).rates == run.rates


def test_drift_is_seen_where_it_is():
    x, y = stream(2000, 3, 3)
    y[1200:] = (y[1200:] + 1) % 3
    signal = Learner("folklore").run(x, y).drift(100)
    assert np.isnan(signal[:199]).all() and np.nanmax(signal[:1200]) < 5 < np.nanmax(signal[1200:1400])


def test_models_show_themselves():
    x, y = stream(100, 3, 3)
    learner = Learner()
    learner.run(x, y)
    assert "Members" in learner._repr_html_() and "<script" not in learner._repr_html_()
    bandit = noregret.Bandit("banditron", features=3, classes=3)
    assert "banditron" in bandit._repr_html_()
    policy = [[0.5, 0.5], [0.75, 0.25]]
    assert "snips" in noregret.evaluate_arrays([0, 1], [1, 0], [0.25, 0.5], policy)._repr_html_()


def test_contributions_of_a_linear_learner_add_up():
    frame, y = tickets(200)
    learner = Learner("ogd")
    learner.run(frame, y)
    row = frame.iloc[5].to_dict()
    explanation = learner.explain(row)
    # A row of the frame says the same.
    np.testing.assert_array_equal(learner.explain(frame.iloc[5]).contributions, explanation.contributions)
    np.testing.assert_array_equal(learner.scores(frame.iloc[5]), learner.scores(row))
    assert learner.predict(frame.iloc[5]) == learner.predict(row)
    assert isinstance(explanation, Explanation) and set(explanation.columns) == set(learner.feature_names_in_)
    np.testing.assert_allclose(explanation.scores, learner.scores(row), atol=1e-9)
    np.testing.assert_allclose(explanation.rest, learner.intercept_, atol=1e-9)
    assert learner.coef_.shape == (3, learner.features)
    whole = learner.explain(frame)
    assert "text" in whole.columns[:2] and whole.rows == 200 and np.isnan(whole.rest).all()
    assert explanation.frame().shape == (len(explanation.columns), 3) and "<table" in whole._repr_html_()
    # The contributions to the scores of two classes are opposite: the sizes of all columns were 0, and their order was by chance.
    two = pandas.DataFrame({"weak": [1.0, -1.0, -1.0, 1.0] * 25, "strong": [1.0, 1.0, -1.0, -1.0] * 25})
    pair = Learner("ogd")
    pair.run(two, np.where(two["strong"] > 0, "u", "v"))
    both = pair.explain(two)
    assert both.columns == ["strong", "weak"] and both.contributions[0].sum() > 0.1, both
    x, labels = stream(100, 4, 3)
    arrays = Learner("ogd", features=4, classes=3)
    arrays.run(x, labels)
    np.testing.assert_allclose(x @ arrays.coef_.T + arrays.intercept_, arrays.scores(x), atol=1e-9)
    one = arrays.explain(x[0])
    order = [int(name) for name in one.columns]
    np.testing.assert_allclose(one.contributions, (x[0] * arrays.coef_).T[order], atol=1e-9)
    for name in ("auto", "folklore"):
        other = Learner(name)
        other.run(x, labels)
        assert not hasattr(other, "coef_")
        np.testing.assert_allclose(other.explain(x[3]).scores, other.scores(x[3]), atol=1e-9)


def test_class_weights_are_weights():
    x, y = stream(200, 3, 3)
    ours, theirs = Learner("ogd", class_weight={0: 3.0}), Learner("ogd")
    run, other = ours.run(x, y), theirs.run(x, y, np.where(y == 0, 3.0, 1.0))
    np.testing.assert_array_equal(run.losses, other.losses)
    frame, labels = tickets(100)
    weighted = Learner("ogd", class_weight={"login": 2.0}).run(frame, labels)
    np.testing.assert_array_equal(weighted.losses, Learner("ogd").run(frame, labels, 1.0 + (labels == "login")).losses)


def test_a_bar_is_told_of_every_row(monkeypatch):
    tqdm = pytest.importorskip("tqdm.auto")
    told = []
    monkeypatch.setattr(tqdm.tqdm, "update", lambda bar, rows: told.append(rows))
    x, y = stream(300, 3, 3)
    assert Learner().run(x, y, progress=True).rates["rounds"] == 300
    assert told and sum(told) >= 300



def test_lists_and_dictionaries_within(tmp_path):
    rows = [
        {"user": {"age": 20 + t % 40, "home": ["Rome", "Oslo"][t % 2]}, "tags": ["new", "vip", "old"][: t % 4], "size": [t % 7, 0.5]}
        for t in range(200)
    ]
    y = ["a" if row["user"]["age"] > 40 or "old" in row["tags"] else "b" for row in rows]
    learner = Learner("folklore-diag")
    run = learner.run(rows, y)
    assert learner.roles == {
        "user.age": "numeric", "user.home": "categorical", "tags": "categorical", "size[0]": "numeric", "size[1]": "numeric",
        "label": "label",
    }
    assert "tags=vip" in learner.columns and run.rates["error_rate"] < 0.3
    # The same as the command line on the same objects, to the bit.
    path = tmp_path / "rows.ndjson"
    path.write_text("".join(json.dumps({**row, "label": label}) + "\n" for row, label in zip(rows, y, strict=True)))
    program("run", path, "--learner", "folklore-diag", "--quiet", "--save", tmp_path / "model")
    ours, theirs = learner.predict_proba(rows), Learner.load(tmp_path / "model").predict_proba(rows)
    np.testing.assert_array_equal(ours, theirs)
    one = learner.predict_proba(rows[3])
    np.testing.assert_array_equal(one, ours[3])
    [line] = program("predict", tmp_path / "model", "-", "--explain", "--format", "ndjson", stdin=json.dumps(rows[3]) + "\n")
    explanation = learner.explain(rows[3])
    assert list(line["contributions"]) == explanation.columns
    told = [list(numbers.values()) for numbers in line["contributions"].values()]
    np.testing.assert_array_equal(np.array(told), explanation.contributions)
    frame = pandas.DataFrame(rows)
    np.testing.assert_array_equal(learner.predict_proba(frame), ours)
    river = pytest.importorskip("noregret.river")
    model = river.FolkloreDiag()
    for row, label in zip(rows, y, strict=True):
        model.learn_one(row, label)
    assert set(model._columns) >= {"user.age", "user.home=Rome", "tags=vip", "size[0]"}


def test_class_weights_of_river():
    river = pytest.importorskip("noregret.river")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3))
    y = (x[:, 0] + rng.normal(size=100) > 1.2).astype(int)
    one, other = river.FolkloreDiag(class_weight={1: 3.0}), river.FolkloreDiag()
    for row, label in zip(x.tolist(), y.tolist(), strict=True):
        named = {str(at): value for at, value in enumerate(row)}
        one.learn_one(named, label)
        other.learn_one(named, label, w=3.0 if label else 1.0)
    assert one.predict_proba_one({"0": 1.0}) == other.predict_proba_one({"0": 1.0})


def test_words_that_count_as_missing_are_given_or_taken_back():
    """As `--missing` and `--not-missing` do: the list itself is the readers'."""
    rng = np.random.default_rng(3)
    size = rng.normal(size=200).round(3)
    table = {
        "size": [-999 if at % 5 == 0 else value for at, value in enumerate(size)],
        "hue": [["red", "unknown", "NA", "blue"][at % 4] for at in range(200)],
    }
    y = ["unknown" if at % 7 == 0 else "up" if value > 0 else "down" for at, value in enumerate(size)]
    plain = Learner("folklore")
    plain.update(table, y)
    assert plain.labels == ["down", "unknown", "up"] and "hue=unknown" in plain.columns
    said = Learner("folklore", missing=["unknown", -999], not_missing=["NA"])
    said.update(table, y)
    assert sorted(said.labels) == ["down", "up"] and "hue=unknown" not in said.columns and "hue=NA" in said.columns
    holes = {
        "size": [None if value == -999 else value for value in table["size"]],
        "hue": [None if value == "unknown" else value for value in table["hue"]],
    }
    same = Learner("folklore", not_missing=["NA"])
    same.update(holes, [None if label == "unknown" else label for label in y])
    np.testing.assert_array_equal(said.predict_proba(table), same.predict_proba(holes))
    # A saved learner knows them; arrays of numbers are tables then; with `features` there is none.
    again = Learner._wrap(type(said._core).from_bytes(said._core.to_bytes()))
    np.testing.assert_array_equal(again.predict_proba(table), said.predict_proba(table))
    numbers = Learner("folklore", missing=[-999])
    numbers.update(np.column_stack([table["size"], size]), ["a", "b"] * 100)
    none = Learner("folklore")
    none.update(np.column_stack([np.array(holes["size"], dtype=float), size]), ["a", "b"] * 100)
    np.testing.assert_array_equal(numbers.predict_proba(np.array([[-999.0, 1.0]])), none.predict_proba(np.array([[np.nan, 1.0]])))
    for kind in (Learner, Bandit):
        with pytest.raises(TypeError, match="missing: for tables only, which determine their features"):
            kind("soba" if kind is Bandit else "folklore", features=1, classes=2, missing=["x"])
    with pytest.raises(TypeError, match="the first rows must be one"):
        Bandit("soba", labels=["a", "b"], missing=["x"]).decide({"hue": "x"})
    played = [{"missing": ["unknown", -999], "not_missing": ["NA"]}, {"not_missing": ["NA"]}]
    runs = [
        Bandit("soba", exploration=0.2, **words).run(rows, ["up" if value > 0 else "down" for value in size], probabilities=True)
        for words, rows in zip(played, (table, holes), strict=True)
    ]
    np.testing.assert_array_equal(runs[0].probabilities, runs[1].probabilities)
    sklearn = pytest.importorskip("noregret.sklearn")
    pandas = pytest.importorskip("pandas")
    kept = [label != "unknown" for label in y]
    frame, labels = pandas.DataFrame(table)[kept], np.array(y)[kept]
    model = sklearn.FolkloreClassifier(missing=["unknown", -999]).fit(frame, labels)
    assert "hue=unknown" not in model.learner_.columns and "hue=unknown" in sklearn.FolkloreClassifier().fit(frame, labels).learner_.columns


@pytest.mark.parametrize("bare", [lambda n: np.zeros((n, 0)), lambda n: [{}] * n, lambda n: pandas.DataFrame(index=range(n))], ids=["array", "dictionaries", "frame"])
def test_without_columns_it_is_learnt_how_good_each_label_is(bare, tmp_path):
    y = ["u", "v", "v"] * 40
    learner = Learner("folklore")
    assert learner.run(bare(120), y).rates["rounds"] == 120
    p = learner.predict_proba(bare(4))
    assert p.shape == (4, 2) and p[0, 1] == pytest.approx(2 / 3, abs=0.1)
    learner.update(bare(2), ["v", "w"])
    learner.learn_one({}, "v")
    assert learner.labels == ["u", "v", "w"] and learner.rounds == 123
    assert learner.predict({}) == "v" and learner.predict([]) == "v" and learner.predict_proba({}).shape == (3,)
    learner.save(tmp_path / "model")
    assert Learner.load(tmp_path / "model").predict(bare(2)).tolist() == ["v", "v"]
    x = np.random.default_rng(0).normal(size=(120, 2))
    for first in (x, pandas.DataFrame(x, columns=["p", "q"])):
        full = Learner("folklore")
        full.run(first, y)
        for call in (lambda full=full: full.predict(bare(5)), lambda full=full: full.update(bare(5), y[:5])):
            with pytest.raises(ValueError, match="x has 5 rows without columns; the 2 of the learner were needed"):
                call()
        assert full.rounds == 120


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_a_text_and_a_number_of_one_writing_are_refused(kind):
    x = np.random.default_rng(0).normal(size=(40, 2))
    rows = x if kind == "array" else pandas.DataFrame(x, columns=["p", "q"])
    why = r'the label "1" is .*, and the class of this name is .*: labels of one name need one type'
    for make in (lambda: Learner("folklore"), lambda: Bandit("squarecb")):
        with pytest.raises(ValueError, match=why):
            make().run(rows, [1, "1"] * 20)
        model = make()
        model.run(rows, [1, 2] * 20)
        before = model.rounds
        with pytest.raises(ValueError, match=why):
            model.run(rows, ["1", "2"] * 20)
        assert model.rounds == before and set(model.predict(rows).tolist()) <= {1, 2}
    # True equals 1 in Python, and is another label.
    learner = Learner("folklore")
    learner.run(rows, [True, 1] * 20)
    assert len(learner.labels) == 2


def test_options_for_tables_are_followed_or_refused():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y = np.where(x[:, 0] > 0, "a", "b")
    sparse = pytest.importorskip("scipy.sparse")
    for kind in (Learner, Bandit):
        for rows in (x, x.tolist(), *([sparse.csr_matrix(x)] if kind is Learner else [])):
            model = kind(drop=["0"])
            model.run(rows, y)
            assert model.roles["0"] == "drop" and len(model.columns) == 2
            assert model.predict(x).shape == (60,)
        for role in ("text", "categorical", "numeric", "time", "drop", "missing", "not_missing"):
            with pytest.raises(TypeError, match=f"{role}: for tables only, which determine their features; leave out features"):
                kind("soba" if kind is Bandit else "ogd", features=3, classes=2, **{role: ["0"]})
            with pytest.raises(TypeError, match=rf"{role} is 'xz'; a list was needed: {role}=\['xz'\]"):
                kind(**{role: "xz"})
        for labels in ("ab", ["a", None]):
            with pytest.raises(TypeError, match="labels"):
                kind(labels=labels)
    with pytest.raises(TypeError, match="drop: for tables only; the first rows must be one, learnt or run before rows are decided"):
        Bandit(labels=["a", "b"], drop=["u"]).decide({"u": 1.0})


def test_options_for_tables_are_followed_by_scikit_learn_and_river():
    face, river = pytest.importorskip("noregret.sklearn"), pytest.importorskip("noregret.river")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(60, 3)), columns=["u", "v", "leak"])
    y = np.where(frame["leak"] > 0, "a", "b")
    for learn in (lambda model, x: model.fit(x, y), lambda model, x: model.partial_fit(x, y, ["a", "b"])):
        assert learn(face.FolkloreClassifier(drop=["leak"]), frame).feature_names_in_.tolist() == ["u", "v"]
        assert learn(face.FolkloreClassifier(categorical=["leak"]), frame).learner_.roles["leak"] == "categorical"
        assert learn(face.FolkloreClassifier(drop=["2"]), frame.to_numpy()).feature_names_in_.tolist() == ["0", "1"]
        with pytest.raises(ValueError, match='has no column "nope"'):
            learn(face.FolkloreClassifier(drop=["nope"]), frame)
        with pytest.raises(TypeError, match="missing is 'unknown'; a list was needed"):
            learn(face.FolkloreClassifier(missing="unknown"), frame)
    with pytest.raises(TypeError, match="missing is 'unknown'; a list was needed"):
        river.Folklore(missing="unknown")


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps"])
def test_times_of_numpy_are_times_in_every_unit(unit):
    rng = np.random.default_rng(0)
    w = rng.normal(size=60)
    times = (np.datetime64("2026-01-01T05") + np.arange(60) * np.timedelta64(7, "h")).astype(f"M8[{unit}]")
    for column in (times, list(times)):
        learner = Learner("folklore")
        learner.run({"v": column, "w": w}, np.where(w > 0, "a", "b"))
        assert learner.roles["v"] == "time"


def test_a_table_that_is_refused_changes_nothing():
    sklearn = pytest.importorskip("noregret.sklearn")
    x, y = stream(60, 2, 3)
    frame = pandas.DataFrame(x, columns=["u", "v"])
    frame["hue"] = np.where(y > 0, "red", "blue")
    bad = frame.copy()
    bad.loc[40, "v"] = 1e200
    learner, model = Learner("folklore"), sklearn.FolkloreClassifier().partial_fit(frame, y, [0, 1, 2])
    learner.run(frame, y)
    for learn, rounds in ((lambda: learner.update(bad, y), lambda: learner.rounds), (lambda: model.partial_fit(bad, y), lambda: model.n_rounds_)):
        with pytest.raises(ValueError, match=r"column 'v', row 40: 1e\+200; a number of at most 1e\+100 was needed"):
            learn()
        assert rounds() == 60


def test_a_label_keeps_all_its_characters():
    x, _ = stream(60, 2, 3)
    for rows in (x, pandas.DataFrame(x)):
        learner = Learner("folklore")
        learner.run(rows, ["a\0", "a"] * 30)
        learner.learn_one(rows[0] if rows is x else rows.iloc[0].rename(str).to_dict(), "a\0")
        assert sorted(learner.labels) == ["a", "a\0"]


def test_times_of_day_are_read_as_their_texts():
    # They were refused, where CSV and Parquet have them.
    minutes = np.arange(120) * 37 % (24 * 60)
    times = [datetime.time(int(at) // 60, int(at) % 60) for at in minutes]
    y = ["day" if 6 * 60 <= at < 18 * 60 else "night" for at in minutes]
    texts = Learner("ogd")
    expected = texts.run({"at": [time.isoformat() for time in times]}, y)
    for table in ({"at": times}, pandas.DataFrame({"at": times})):
        given = Learner("ogd")
        run = given.run(table, y)
        assert run.losses.tolist() == expected.losses.tolist() and given.roles == texts.roles
        assert given.predict({"at": times[0]}) == texts.predict({"at": times[0].isoformat()})


def test_maps_of_arrow_are_dictionaries():
    # Their members were told apart by their places: the value of "k" was that of "l" where "l" stood first.
    pyarrow = pytest.importorskip("pyarrow")
    maps = [[("k", 1.0)], [("l", 3.0), ("k", 2.0)], []] * 20
    arrow = pyarrow.table({"v": pyarrow.array(maps, type=pyarrow.map_(pyarrow.string(), pyarrow.float64()))})
    inside = pyarrow.table({"s": pyarrow.array([{"v": cells} for cells in maps], type=pyarrow.struct([("v", arrow.schema.field("v").type)]))})
    rows = [{"v": dict(cells)} for cells in maps]
    for table in (arrow, arrow.to_pandas(types_mapper=pandas.ArrowDtype)):
        assert _tables.table(table) == _tables.table(rows)
    assert _tables.table(inside).cells == [rows]


def test_rows_and_labels_may_be_in_a_deque_or_a_view_of_a_dictionary():
    rows, labels = [{"a": float(at % 3), "hue": "rg"[at % 2]} for at in range(30)], ["no", "yes"] * 15
    expected = Learner("folklore")
    expected.update(rows, labels)
    for given, y in [(collections.deque(rows), collections.deque(labels)), (dict(enumerate(rows)).values(), dict(enumerate(labels)).values())]:
        learner = Learner("folklore")
        learner.update(given, y)
        assert (learner.predict_proba(given) == expected.predict_proba(rows)).all()


def test_rows_of_a_database_and_data_classes_have_names():
    # A row of sqlite3 was refused ("x has dtype <U32"), or its columns were called by their places.
    @dataclasses.dataclass
    class Ride:
        a: float
        hue: str

    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute("create table rides (a real, hue text)")
    dicts = [{"a": float(at % 3), "hue": "rg"[at % 2]} for at in range(30)]
    connection.executemany("insert into rides values (:a, :hue)", dicts)
    rows = connection.execute("select * from rides").fetchall()
    connection.close()
    labels, found = ["no", "yes"] * 15, []
    for given in (dicts, rows, iter(rows), [Ride(**row) for row in dicts]):
        learner, bandit = Learner("folklore"), Bandit("squarecb", oracle="pooled")
        learner.update(given, labels)
        bandit.run(rows if isinstance(given, collections.abc.Iterator) else given, labels)
        learner.learn_one(rows[0], "no")
        bandit.decide(Ride(**dicts[1]))
        found.append((learner.columns, learner.predict_proba(rows[:3]).tolist(), learner.predict(rows[0]), bandit.columns, bandit.predict(rows[1])))
    assert found[0][0] == ["a", "hue=r", "hue=g"] and all(one == found[0] for one in found)
