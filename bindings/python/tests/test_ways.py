"""Rows, labels and weights as Python's users have them: what is the same to them is the same here, or it is refused."""

import numpy as np
import pytest

from noregret import Bandit, Learner

pandas = pytest.importorskip("pandas")


def rows(count=200, seed=0):
    """Numbers, and labels that the first column tells."""
    x = np.random.default_rng(seed).normal(size=(count, 3))
    return x, np.where(x[:, 0] > 0, "yes", "no")


@pytest.mark.parametrize("columns", [[3, 1, 2], [1, 2, 3], [2, 0, 1]])
def test_an_array_has_the_columns_of_the_first_table_in_their_order(columns):
    # Columns that are called by numbers were taken for places.
    x, y = rows()
    frame = pandas.DataFrame(x, columns=columns)
    learner = Learner("folklore")
    learner.update(frame, y)
    assert (learner.predict_proba(x) == learner.predict_proba(frame)).all()
    assert np.allclose(learner.predict_proba(x[0]), learner.predict_proba(frame)[0])
    learner = Learner("folklore")
    learner.update(frame.assign(kind=y, number=range(200)), y)
    # The column that counts rows is left out, and an array may have it.
    used, every = frame.assign(kind=y).to_numpy(), frame.assign(kind=y, number=range(200)).to_numpy()
    assert (learner.predict_proba(used) == learner.predict_proba(frame.assign(kind=y))).all()
    assert (learner.predict_proba(every) == learner.predict_proba(frame.assign(kind=y))).all()
    with pytest.raises(ValueError, match="x has 3 columns; the 4 of the learner were needed"):
        learner.predict(x)


def test_an_array_has_the_columns_of_a_first_array():
    x, y = rows()
    learner = Learner("folklore", drop=["1"])
    learner.update(x, y)
    assert learner.predict(x).tolist() == learner.predict(pandas.DataFrame(x)).tolist()
    with pytest.raises(ValueError, match="x has 2 columns; the 3 of the learner were needed"):
        learner.predict(x[:, [0, 2]])


@pytest.mark.parametrize("made", [pandas.Categorical([1, 2] * 100), pandas.Categorical([1.0, 2.0] * 100)], ids=["whole", "real"])
def test_whole_numbers_are_the_same_categories_with_a_missing_one_beside_them(made):
    # pandas makes reals of whole numbers where a cell is missing; "1.0" was another category than "1".
    frame, y = pandas.DataFrame({"size": made, "x": np.arange(200) % 7}), ["small", "large"] * 100
    for model in (Learner("folklore"), Bandit("squarecb")):
        model.run(frame, y)
        whole = pandas.DataFrame({"size": [1, 2], "x": [0, 0]})
        reals = pandas.DataFrame({"size": [1.0, 2.0, None], "x": [0, 0, 0]})
        assert (model.scores(reals)[:2] == model.scores(whole)).all()
        assert list(model.predict(reals[:2])) == ["small", "large"]


def test_rivers_tables_have_the_same_categories():
    river = pytest.importorskip("noregret.river")
    model = river.Folklore()
    frame = pandas.DataFrame({"size": pandas.Categorical([1, 2] * 100), "x": np.arange(200) % 7})
    model.learn_many(frame, ["small", "large"] * 100)
    assert model.predict_one({"size": 1.0, "x": 0}) == "small"
    assert model.predict_many(pandas.DataFrame({"size": [1.0, 2.0, None], "x": 0}))[:2].tolist() == ["small", "large"]
