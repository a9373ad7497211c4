"""Situations of users who come from pandas, polars, Arrow and NumPy: what they hand over is what is learnt."""

import copy
import pickle
import warnings

import numpy as np
import pytest

from noregret import Learner, _arrays

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

NUMBERS = [at % 5 for at in range(100)]
WORDS = ["odd" if number % 2 else "even" for number in NUMBERS]


def encoded(cells):
    """A Series whose type is Arrow's dictionary."""
    return pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.array(cells).dictionary_encode()))


@pytest.mark.parametrize("cells", [NUMBERS, list(map(str, NUMBERS))], ids=["numbers", "digits"])
def test_a_dictionary_of_arrow_is_a_category_in_pandas_too(cells):
    frames = [
        pandas.DataFrame({"size": pandas.Series(cells, dtype="category")}),
        pandas.DataFrame({"size": encoded(cells)}),
        pyarrow.table({"size": pyarrow.array(cells).dictionary_encode()}),
    ]
    learners = [Learner("folklore") for _ in frames]
    runs = [learner.run(frame, encoded(WORDS)) for learner, frame in zip(learners, frames, strict=True)]
    assert [learner.roles["size"] for learner in learners] == ["categorical"] * 3
    assert len({run.log_loss for run in runs}) == 1 and learners[0].labels == ["even", "odd"]


@pytest.mark.parametrize("y", [[True, False, True], np.array([True, False, True])], ids=["list", "array"])
def test_truth_values_are_the_classes_0_and_1(y):
    assert _arrays.targets(y, False, {}).tolist() == [1, 0, 1]


HUES = ["red", "blue", "green"]


def one_by_one(learner, rows):
    for row, label in rows:
        learner.learn_one(row, label)
    return learner


def test_a_learner_that_begins_with_one_row_takes_in_what_later_ones_bring():
    """What the first row did not have was ignored for ever."""
    rows = [
        ({"hue": HUES[at % 3], "size": float(at % 5), **({"shop": "ab"[at % 2], "price": at % 2} if at >= 20 else {})}, f"{HUES[at % 3]} {at % 2}")
        for at in range(200)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = one_by_one(Learner("ogd"), rows[:100])
    assert {"hue=red", "hue=blue", "hue=green", "shop=a", "shop=b", "price", "size"} <= set(learner.columns)
    assert learner.roles["shop"] == "categorical" and learner.roles["price"] == "numeric"
    others = [pickle.loads(pickle.dumps(learner)), learner.copy(), copy.deepcopy(learner)]
    more = rows[100:] + [({"hue": "violet", "size": 1.0, "shop": "c"}, "red 0")]
    for other in [learner, *others]:
        one_by_one(other, more)
    frame = pandas.DataFrame([row for row, _ in rows])
    for other in others:
        np.testing.assert_array_equal(other.predict_proba(frame), learner.predict_proba(frame))
    assert "hue=violet" in learner.columns and np.mean(learner.predict(frame[20:]) == [label for _, label in rows[20:]]) > 0.95
    # A table brings what its rows do, all of it before the first one is learnt.
    whole, single = (one_by_one(Learner("ogd"), rows[:1]) for _ in range(2))
    whole.update(frame[1:], [label for _, label in rows[1:]], look_ahead=False)
    one_by_one(single, rows[1:])
    assert set(whole.columns) == set(single.columns) and set(whole.labels) == set(single.labels)
    for either in (whole, single):
        assert np.mean(either.predict(frame[20:]) == [label for _, label in rows[20:]]) > 0.95
    # A table that comes first decides.
    first = Learner("ogd")
    first.update(frame[:20].drop(columns=["shop", "price"]), [label for _, label in rows[:20]])
    with pytest.warns(UserWarning, match='the columns "shop", "price" are new'):
        first.update(frame, [label for _, label in rows])


def test_a_learner_of_texts_one_by_one_learns_words():
    texts = [("a good film", "yes"), ("bad", "no"), ("so bad a film", "no"), ("good", "yes")] * 20
    learner = one_by_one(Learner("ogd"), texts)
    assert learner.roles["text"] == "text" and "text~bad" in learner.columns and [learner.predict(text) for text in ("good", "bad")] == ["yes", "no"]


def test_what_the_learner_cannot_grow_by_is_ignored_with_a_remark():
    learner = Learner("adaboost-olm", classes=2)
    learner.learn_one({"hue": "red", "size": 1.0}, "a")
    with pytest.warns(UserWarning, match="features that the model does not have are ignored"):
        learner.learn_one({"hue": "blue", "size": 1.0}, "b")
