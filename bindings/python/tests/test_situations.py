"""Situations of users who come from pandas, polars, Arrow and NumPy: what they hand over is what is learnt."""

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
