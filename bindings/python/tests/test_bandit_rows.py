"""Bandits that their first rows determine: tables, features by name, missing values, no context."""

import copy
import datetime
import pickle
import warnings

import numpy as np
import pytest
from conftest import stream
from program import program

from noregret import Bandit

pandas = pytest.importorskip("pandas")


def visits(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame({
        "hour": rng.integers(0, 24, rows),
        "device": rng.choice(["phone", "desk"], rows),
        "age": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(40, 10, rows).round(1)),
    })
    return frame, np.where(frame["device"] == "phone", "short", "long")


@pytest.mark.parametrize("name", ["auto", "soba", "squarecb"])
def test_a_bandit_of_a_table_is_the_command_lines(name, tmp_path):
    frame, y = visits()
    frame.assign(ad=y).to_csv(tmp_path / "rows.csv", index=False)
    words = ["--label", "ad", "--json", "--feedback", "bandit", "--learner", name, "--save", tmp_path / "model"]
    summary = program("run", tmp_path / "rows.csv", *words)[-1]
    bandit = Bandit(name)
    run = bandit.run(frame, y)
    assert run.rates["errors"] == summary["errors"] and run.rates["expected_error_rate"] == summary["expected_error_rate"]
    assert bandit.labels == ["long", "short"] and run.labels == ["long", "short"]
    assert bandit.roles["device"] == "categorical" and run.rates["errors"] == (run.predictions != y).sum()
    theirs = Bandit.load(tmp_path / "model")
    np.testing.assert_array_equal(theirs.scores(frame), bandit.scores(frame))
    lines = program("predict", tmp_path / "model", tmp_path / "rows.csv", "--probabilities")
    p = [[line["probabilities"][label] for label in bandit.labels] for line in lines]
    np.testing.assert_array_equal(bandit.predict_proba(frame), p)
    # Other orders of columns, one row, and rows as dictionaries are the same.
    np.testing.assert_array_equal(bandit.predict_proba(frame[["age", "device", "hour"]]), p)
    np.testing.assert_array_equal(bandit.predict_proba(frame[:3].to_dict("records")), p[:3])
    np.testing.assert_array_equal(bandit.predict_proba(frame.iloc[5]), p[5])
    decision = bandit.decide({"device": "phone", "hour": 3, "age": None})
    assert decision.label in ("long", "short")
    bandit.feedback(decision.id, decision.label == "short")


def test_features_by_name_get_columns_as_they_come(tmp_path):
    bandit = Bandit("auto", labels=["u", "v"], seed=1)
    assert repr(bandit) == "Bandit('auto', no rows yet)" and bandit.name == "auto"
    with pytest.raises(RuntimeError, match="there were none yet"):
        bandit.predict({"hour": 9})
    with bandit.log(tmp_path / "log.ndjson"):
        for t in range(60):
            row = {"hour": t % 24, "device": ["phone", "desk"][t % 2], "user": {"age": None if t % 3 else 31}, "when": datetime.date(2026, 1, 1)}
            decision = bandit.decide(row)
            assert decision.label in ("u", "v")
            bandit.feedback(decision.id, reward=0.9 if (decision.label == "u") == (t % 2 == 0) else 0.1)
    assert {"hour", "device=phone", "device=desk", "user.age", "when:days"} <= set(bandit.columns)
    before = bandit.predict_proba({"device": "phone", "new": 3.0})
    assert "new" not in bandit.columns, "predictions change nothing"
    for again in (Bandit.replay(tmp_path / "log.ndjson"), bandit.copy(), copy.deepcopy(bandit), pickle.loads(pickle.dumps(bandit))):
        np.testing.assert_array_equal(again.predict_proba({"device": "phone", "new": 3.0}), before)
    bandit.save(tmp_path / "model")
    np.testing.assert_array_equal(Bandit.load(tmp_path / "model").predict_proba({"device": "phone"}), before)
    assert bandit.predict({"device": "phone"}) == "u" and bandit.predict({"device": "desk"}) == "v"
    assert bandit.predict([{"device": "phone"}, {"device": "desk"}]).tolist() == ["u", "v"]
    assert bandit.predict({"device": "phone"}, ["v"]) == "v" and bandit.predict_proba({"device": "phone"}, ["v", "u"]).shape == (2,)


@pytest.mark.parametrize("unit", ["h", "us", "ns", None])
def test_times_of_numpy_and_within_features_are_times(unit):
    when = datetime.datetime(2026, 1, 1, 10)
    given = when if unit is None else np.datetime64(when).astype(f"M8[{unit}]")
    outer, inner = (Bandit("auto", labels=["u", "v"]) for _ in range(2))
    outer.decide({"when": given})
    inner.decide({"user": {"when": given, "age": 31}})
    names = [f"when:{part}" for part in ("days", "hour_sin", "hour_cos", "year_sin", "year_cos", "weekday=Thu")]
    assert list(outer.columns) == names
    assert list(inner.columns) == [f"user.{name}" for name in names] + ["user.age"]
    with pytest.raises(ValueError, match=r'feature "user.age" appears twice'):
        inner.decide({"user.age": 31, "user": {"age": 31, "when": given}})


def test_room_for_features_by_name():
    bandit = Bandit("squarecb", labels=["u", "v"], features=3)
    bandit.decide({"a": 1, "b": "x"})
    bandit.decide({"b": "y"})
    with pytest.raises(ValueError, match=r"x brings more than 3 different features; Bandit\(features=N\) makes room for N"):
        bandit.decide({"b": "z"})
    assert bandit.predict({"b": "z"}) in ("u", "v")
    with pytest.raises(TypeError, match="labels: the labels that may be played must be given"):
        Bandit().decide({"a": 1})
    assert Bandit().decide({"a": 1}, ["u", "v"]).label in ("u", "v")


def test_a_first_list_of_numbers_says_how_many():
    bandit, same = Bandit("auto", labels=["u", "v"], seed=3), Bandit("auto", labels=["u", "v"], features=2, scale="standard", intercept=True, seed=3)
    for t in range(40):
        row = [t % 2, 100.0 * (t % 3)]
        ours, theirs = bandit.decide(row), same.decide(row)
        assert ours == theirs
        for each in (bandit, same):
            each.feedback(ours.id, ours.label == "u")
    np.testing.assert_array_equal(bandit.predict_proba([1.0, 2.0]), same.predict_proba([1.0, 2.0]))


def test_without_a_context_the_best_label_is_found():
    for make, x in [
        (lambda: Bandit("auto", labels=["u", "v"], seed=1), None),
        (lambda: Bandit("auto", labels=["u", "v"], features=0, seed=1), []),
        (lambda: Bandit("squarecb", labels=["u", "v"], seed=1), {}),
    ]:
        bandit = make()
        for _ in range(200):
            decision = bandit.decide(x)
            bandit.feedback(decision.id, reward=0.9 if decision.label == "v" else 0.2)
        assert bandit.predict(x) == "v" and bandit.predict_proba(x)[1] > 0.6
    assert bandit.decide().label in ("u", "v")


@pytest.mark.parametrize("named", [True, False])
def test_a_missing_number_is_the_mean_of_its_column(named):
    """Of numbers around 50 a missing one was 0 before scaling, by which half of the labels were wrong."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 2))
    right = np.where(x[:, 0] + 0.5 * x[:, 1] > 0, "up", "down").tolist()
    holes = rng.random((1500, 2)) < 0.2
    holes[:20] = False
    wrong = {}
    for hole in (50.0, None):
        bandit, wrong[hole] = Bandit("squarecb", labels=["down", "up"]), 0
        for t, label in enumerate(right):
            row = [hole if missing else value for value, missing in zip((x[t] + 50).round(3).tolist(), holes[t], strict=True)]
            row = dict(zip("ab", row, strict=True)) if named else row
            wrong[hole] += t >= 500 and bandit.predict(row) != label
            decision = bandit.decide(row)
            bandit.feedback(decision.id, reward=float(decision.label == label))
    assert abs(wrong[None] - wrong[50.0]) <= 30, wrong
    # One row, and several, are the same; so is a copy that was saved.
    again = pickle.loads(pickle.dumps(bandit))
    row, rows = ({"a": None, "b": 51.0}, [{"a": None, "b": 51.0}]) if named else ([None, 51.0], np.array([[np.nan, 51.0]]))
    for same in (again.predict_proba(row), again.predict_proba(rows)[0]):
        np.testing.assert_array_equal(bandit.predict_proba(row), same)


def test_empty_texts_are_missing():
    empty, none = (Bandit("squarecb", labels=["down", "up"]) for _ in range(2))
    for at in range(60):
        row, played = {"a": 50.0 + at % 7, "hue": ["red", "blue"][at % 2]}, []
        for bandit, hole in ((empty, ""), (none, None)):
            decision = bandit.decide(row | ({"hue": hole} if at % 3 == 1 else {}) | ({"a": hole} if at % 5 == 3 else {}))
            bandit.feedback(decision.id, reward=float(decision.label == ["down", "up"][at % 2]))
            played.append(decision.label)
        assert played[0] == played[1], at
    np.testing.assert_array_equal(empty.predict_proba({"a": "", "hue": " "}), none.predict_proba({"a": None, "hue": None}))


def test_a_feature_that_a_row_does_not_have_is_0():
    bandit = Bandit("squarecb", labels=["down", "up"])
    for at in range(40):
        decision = bandit.decide({"a": 50.0 + at % 3, "b": at % 5})
        bandit.feedback(decision.id, reward=float(decision.label == "up"))
    rows = [{"b": 1}, {"a": 51.0}, {}, {"a": 50.0, "b": 2}]
    one_by_one = np.array([bandit.predict_proba(row) for row in rows])
    np.testing.assert_array_equal(bandit.predict_proba(rows), one_by_one)
    np.testing.assert_array_equal(one_by_one[0], bandit.predict_proba({"a": 0.0, "b": 1}))


def test_a_warm_start_of_a_table():
    frame, best = visits()
    rng = np.random.default_rng(1)
    played = rng.choice(["short", "long"], len(frame))
    bandit = Bandit("auto")
    bandit.learn(frame, played, (played == best).astype(float), [0.5] * len(frame))
    assert bandit.rounds == len(frame) and (bandit.predict(frame) == best).mean() > 0.9
    offered = Bandit("auto")
    offered.learn(frame, played, (played == best).astype(float), [0.5] * len(frame), [["short", "long", "none"]] * len(frame))
    assert sorted(offered.labels) == ["long", "none", "short"]
    named = Bandit("auto", labels=["long", "short"])
    named.decide({"device": "phone"})
    named.learn(frame[["device"]].to_dict("records"), played, (played == best).astype(float), [0.5] * len(frame))
    assert named.predict({"device": "phone"}) == "short"


def test_rows_without_columns_are_rounds_without_a_context():
    labels = ["a", "b", "b", "b"] * 20
    answers = []
    for rows in ([{}] * 80, pandas.DataFrame(index=range(80)), np.zeros((80, 0)), [[]] * 80):
        bandit = Bandit()
        run = bandit.run(rows, labels)
        answers.append((run.rates["errors"], bandit.predict_proba().tolist(), bandit.predict({})))
    assert answers[0][2] == "b"
    assert answers[1:] == answers[:1] * 3
    warm = Bandit("squarecb", labels=["a", "b"])
    warm.learn([{}] * 80, labels, [label == "b" for label in labels], [0.5] * 80)
    assert warm.predict() == "b"
    assert warm.predict([{}] * 3).tolist() == ["b"] * 3


@pytest.mark.parametrize("bare", [lambda n: np.zeros((n, 0)), lambda n: [{}] * n, lambda n: pandas.DataFrame(index=range(n))], ids=["array", "dictionaries", "frame"])
def test_rows_without_columns_are_refused_where_there_are_columns(bare):
    x, at = stream(60, 3, 2)
    y = np.array(["u", "v"])[at]
    numbers, table = Bandit("squarecb"), Bandit("squarecb")
    numbers.run(x, y)
    table.run(pandas.DataFrame(x, columns=["p", "q", "r"]), y)
    for bandit in (numbers, table, Bandit("squarecb", features=3, labels=["u", "v"])):
        before = bandit.rounds
        for call in (lambda b=bandit: b.predict(bare(6)), lambda b=bandit: b.run(bare(6), y[:6]), lambda b=bandit: b.learn(bare(6), y[:6], [1] * 6, [0.5] * 6)):
            with pytest.raises(ValueError, match="x has 6 rows without columns; the 3 of the bandit were needed"):
                call()
        assert bandit.rounds == before
    free = Bandit("squarecb")
    free.run(bare(60), y)
    assert free.predict(bare(3)).shape == (3,)
    named = Bandit("squarecb", labels=["u", "v"])
    named.decide({"a": 1.0})
    assert named.predict([{}, {}]).shape == (2,), "features by name that are not given are 0"


def test_numbers_without_names_are_refused_where_features_have_names():
    bandit = Bandit("squarecb", labels=["p", "q"])
    bandit.feedback(bandit.decide({"b": 1.0, "a": 2.0}).id, reward=1.0)
    for call in (
        lambda: bandit.decide([1.0, 2.0]),
        lambda: bandit.predict_proba([1.0, 2.0]),
        lambda: bandit.predict(np.ones((3, 64))),
        lambda: bandit.learn(np.ones((1, 2)), ["p"], [1.0], [0.5]),
    ):
        with pytest.raises(ValueError, match="numbers without names, and the bandit knows features by name: b, a"):
            call()
    assert bandit.columns[:2] == ["b", "a"]


def test_logs_for_labels_with_features_may_be_tables():
    # "there are 60 labels for 2 rounds": the names of columns were taken for contexts.
    x = np.random.default_rng(0).normal(size=(60, 2))
    frame = pandas.DataFrame(x, columns=["a", "b"]).assign(hue="red")
    played, rewards, p = np.where(np.arange(60) % 2, "yes", "no"), (x[:, 0] > 0).astype(float), np.full(60, 0.5)
    found = []
    for rows in (frame, frame.to_dict("records"), frame.to_dict("list"), frame.to_records(index=False)):
        bandit = Bandit("offers", width=64)
        bandit.learn(rows, played, rewards, p, [["no", "yes"]] * 60)
        found.append(bandit.scores({"a": 1.0, "b": 0.0, "hue": "red"}, ["no", "yes"]).tolist())
    assert found[0] == found[1] == found[2] == found[3]


def test_rewards_that_are_missing_and_costs_are_said():
    x, played, p = np.random.default_rng(0).normal(size=(60, 2)), ["no", "yes"] * 30, np.full(60, 0.5)
    for rewards in ([1.0] * 7 + [None] + [0.0] * 52, pandas.Series([1.0] * 7 + [np.nan] + [0.0] * 52)):
        with pytest.raises(ValueError, match=r"rewards\[7\] is missing: leave out rounds whose reward is unknown"):
            Bandit("squarecb").learn(x, played, rewards, p)
    # It was refused with the first rows.
    with pytest.raises(ValueError, match=r"costs = \(10, 0\): the first must be less than the second"):
        Bandit("squarecb", costs=(10, 0))


def test_places_of_labels_may_be_real_numbers():
    # A column of places with a missing one is real in pandas.
    x, places = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    some = pandas.Series(places).where(np.arange(60) != 3)
    runs = []
    for y in (places, places.astype(float), some):
        runs.append(Bandit("squarecb", features=2, labels=["no", "yes"]).run(x, y).truth.tolist())
    assert runs[0] == runs[1] and runs[2] == runs[0][:3] + [-1] + runs[0][4:]
    with pytest.raises(ValueError, match="the label 0.5 is none of the 2 known classes|0.5"):
        Bandit("squarecb", features=2, labels=["no", "yes"]).run(x, places + 0.5)


@pytest.mark.parametrize("table", [False, True], ids=["array", "table"])
def test_words_for_missing_labels_are_those_of_a_learner(table, tmp_path):
    # "the label 'later' is none of the 2 known classes", which the bandit had just found without it.
    x, y = stream(90, 2, 2)
    rows = pandas.DataFrame(x, columns=["a", "b"]) if table else x
    for labels, word in ((np.where(np.arange(90) % 9 == 0, "later", np.array(["no", "yes"])[y]), "later"), (np.where(np.arange(90) % 9 == 0, -1, y), -1)):
        bandit = Bandit("squarecb", missing=[word])
        assert (bandit.run(rows, labels).truth < 0).sum() == 10 and len(bandit.labels) == 2
        bandit.save(tmp_path / "model")
        assert (Bandit.load(tmp_path / "model").run(rows, labels).truth < 0).sum() == 10


def test_a_column_without_a_name_has_its_number():
    # "x lacks the column 1, missing in every row", which it has.
    x, y = stream(90, 2, 2)
    frame = pandas.DataFrame(x, columns=["", "b"]).assign(hue="red")
    bandit = Bandit("squarecb")
    bandit.run(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bandit.predict(frame)


def test_the_label_may_be_a_column_of_the_table():
    # As of `Learner`, and as --label of the command line.
    frame, y = visits(120)
    frame["device"] = frame["device"].astype("category")
    want = Bandit("squarecb", oracle="ogd").run(frame, y)
    whole = frame.assign(ad=y)
    tables = [whole, whole.to_dict("list"), whole.astype({"device": str}).to_dict("records")]
    for module, made in [("polars", lambda module: module.from_pandas(whole)), ("pyarrow", lambda module: module.Table.from_pandas(whole))]:
        try:
            tables.append(made(__import__(module)))
        except ImportError:
            pass
    for table in tables:
        found = Bandit("squarecb", oracle="ogd").run(table, "ad")
        assert found.losses.tolist() == want.losses.tolist() and found.labels == ["long", "short"]
    # Blanks around a name are no part of it.
    for name in ("ad", " ad"):
        found = Bandit("squarecb", oracle="ogd").run(whole.rename(columns={"ad": " ad"}), name)
        assert found.losses.tolist() == want.losses.tolist()
    with pytest.raises(TypeError, match="the columns are 'hour', 'device', 'age'"):
        Bandit("squarecb", oracle="ogd").run(frame, "ad")
