"""Numbers that are missing where 0 is far from all others: the mean so far stands for them."""

import numpy as np
import pandas
import pytest
from program import summary

from noregret import Bandit, Learner


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_missing_numbers_far_from_0():
    """No imputation is needed: of numbers around 50 a missing one was 0, and half of the labels were wrong."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 2))
    labels, holes = np.where(x[:, 0] + 0.5 * x[:, 1] > 0, "up", "down"), rng.random((1000, 2)) < 0.2
    frame = pandas.DataFrame(np.where(holes, np.nan, x + 50).round(3), columns=["a", "b"])
    frame.assign(label=labels).to_csv("rows.csv", index=False)
    filled = Learner("folklore").run(frame.fillna(50), labels).error_rate
    for errors in (Learner("folklore").run(frame, labels).error_rate, summary("run", "rows.csv", "--learner", "folklore")["error_rate"]):
        assert errors < filled + 0.05, (errors, filled)


def test_numbers_that_go_missing_later():
    """Behind the first 1,000 rows, which decide about the columns, a missing number was 0."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2400, 2))
    labels, holes = np.where(x[:, 0] + 0.5 * x[:, 1] > 0, "up", "down"), rng.random((2400, 2)) < 0.2
    holes[:1100] = False
    frame = pandas.DataFrame(np.where(holes, np.nan, x + 50).round(3), columns=["a", "b"])
    rows = frame.assign(label=labels)
    rows.to_csv("rows.csv", index=False)
    rows.to_json("rows.ndjson", orient="records", lines=True)
    filled = Learner("folklore").run(frame.fillna(50), labels).error_rate
    files = [summary("run", name, "--learner", "folklore")["error_rate"] for name in ("rows.csv", "rows.ndjson")]
    for errors in (Learner("folklore").run(frame, labels).error_rate, *files):
        assert errors < filled + 0.03, (errors, filled)


@pytest.mark.parametrize("name", ["ogd", "folklore"])
def test_a_missing_number_tells_the_label_behind_the_first_rows(name):
    """Of the first 1,100 rows, which are whole, half are wrong; then a number is missing in nine of ten rows of one label."""
    at = np.arange(3000)
    old = at * 37 % 11 % 2 == 1
    holes = (at >= 1100) & old & (at % 10 != 3)
    frame = pandas.DataFrame({"a": np.where(holes, np.nan, 47.5 + at * 7 % 5), "b": 20.0 + at * 5 % 13})
    labels = np.where(old, "old", "young")
    frame.assign(label=labels).to_csv("rows.csv", index=False)
    learner = Learner(name)
    for errors in (learner.run(frame, labels).error_rate, summary("run", "rows.csv", "--learner", name)["error_rate"]):
        assert errors < 0.32, errors
    assert "a:missing" in learner.columns
    assert learner.predict(pandas.DataFrame({"a": [np.nan, 49.5], "b": [25.0, 25.0]})).tolist() == ["old", "young"]


@pytest.mark.parametrize("name", ["ogd", "folklore"])
def test_a_missing_number_tells_the_label_after_whole_rows(name):
    """The rows that make the learner are whole; a later table begins a feature, as single rows do."""
    at = np.arange(600)
    old = at * 37 % 11 % 2 == 1
    holes = (at >= 120) & old & (at % 10 != 3)
    frame = pandas.DataFrame({"a": np.where(holes, np.nan, 47.5 + at * 7 % 5), "b": 20.0 + at * 5 % 13})
    labels = np.where(old, "old", "young")
    learner, other = Learner(name), Learner(name)
    for each in (learner, other):
        each.run(frame[:100], labels[:100])
    assert learner.run(frame[100:], labels[100:], look_ahead=False).error_rate < 0.15
    for t in range(100, 600):
        other.update(frame[t : t + 1], labels[t : t + 1], look_ahead=False)
    assert learner.columns == other.columns == ["a", "b", "a:missing"]
    asked = pandas.DataFrame({"a": [np.nan, 49.5], "b": [25.0, 25.0]})
    for each in (learner, learner.copy(), other):
        assert each.predict(asked).tolist() == ["old", "young"]
        assert np.allclose(each.predict_proba(asked), learner.predict_proba(asked), rtol=0, atol=1e-9)


def test_no_feature_begins_where_fewer_than_20_numbers_came_or_0_is_near():
    at = np.arange(60)
    labels = np.where(at % 3 == 1, "old", "young")
    for a in (np.where((at >= 19) & (at < 40), np.nan, 50.0 + at % 7), np.where(at % 4 == 2, np.nan, at % 7 - 3.0)):
        frame = pandas.DataFrame({"a": a, "b": 20.0 + at * 5 % 13})
        learner = Learner("ogd")
        learner.run(frame[:10].fillna(0.0), labels[:10])
        learner.update(frame[10:40], labels[10:40])
        assert learner.columns == ["a", "b"]


def bandit_of(kind):
    """A bandit that knows its columns by name, or one of a table."""
    bandit = Bandit("squarecb", labels=["old", "young"], seed=1)
    if kind == "table":
        at = np.arange(100)
        bandit.run(pandas.DataFrame({"a": 47.5 + at * 7 % 5, "b": 20.0 + at * 5 % 13}), np.where(at * 37 % 11 % 2 == 1, "old", "young"))
    return bandit


def decides(bandit, t):
    """Whether the bandit decides wrongly on row `t`, in which a number may be missing. One in ten is never answered."""
    old = t * 37 % 11 % 2 == 1
    hole = t >= 60 and old and t % 10 != 3
    decision = bandit.decide({"a": None if hole else 47.5 + t * 7 % 5, "b": 20.0 + t * 5 % 13})
    right = decision.label == ("old" if old else "young")
    if t % 10 != 7:
        bandit.feedback(decision.id, reward=float(right))
    return not right


@pytest.mark.parametrize("kind", ["names", "table"])
def test_a_bandit_sees_that_a_number_is_missing(kind):
    bandit = bandit_of(kind)
    wrong = sum([decides(bandit, t) and t >= 200 for t in range(600)])
    assert wrong < 120, "of 400"
    assert bandit.columns == ["a", "b", "a:missing"]
    row = {"a": None, "b": 25.0}
    assert bandit.predict_proba(row)[0] > 0.5
    bandit.save("model")
    for again in (bandit.copy(), Bandit.load("model")):
        assert again.predict_proba(row).tolist() == bandit.predict_proba(row).tolist()


@pytest.mark.parametrize("kind", ["names", "table"])
def test_the_log_of_a_bandit_has_the_feature(kind):
    bandit = bandit_of(kind)
    if kind == "table":
        bandit.save("model")
    with bandit.log("log.ndjson"):
        for t in range(150):
            decides(bandit, t)
        # It has waited while the learner grew.
        bandit.feedback(bandit.waiting[0], reward=1.0)
    again, row = Bandit.replay("log.ndjson", "model" if kind == "table" else None), {"a": None, "b": 25.0}
    assert again.columns == bandit.columns == ["a", "b", "a:missing"]
    assert again.predict_proba(row).tolist() == bandit.predict_proba(row).tolist()


def test_a_bandit_without_room_goes_on_without_the_feature():
    bandit = Bandit("squarecb", labels=["old", "young"], seed=1, features=2)
    for t in range(100):
        decision = bandit.decide({"a": None if t % 3 == 1 and t > 30 else 50.0 + t % 5, "b": float(t % 7)})
        bandit.feedback(decision.id, reward=float(t % 2))
    assert bandit.columns == ["a", "b"]
