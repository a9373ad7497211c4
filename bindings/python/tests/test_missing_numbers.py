"""Numbers that are missing where 0 is far from all others: the mean so far stands for them."""

import numpy as np
import pandas
import pytest
from program import summary

from noregret import Learner


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
