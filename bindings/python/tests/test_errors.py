"""Bad input: the right exception, a sentence, and a learner that is as it was."""

import numpy as np
import pytest
from conftest import stream

from noregret import Bandit, Learner


def learner(name="folklore", **params):
    return Learner(name, features=3, classes=3, radius=1.0, **params)


GOOD = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])


@pytest.mark.parametrize(
    ("x", "y", "error", "sentence"),
    [
        ([[0.1, np.nan, 0.3]], [0], ValueError, "row 0: column 1 has the value NaN; a finite number was needed"),
        ([[0.1, 0.2, 0.3], [0.1, 0.2, np.inf]], [0, 1], ValueError, "row 1: column 2 has the value inf"),
        ([[1e200, 0.2, 0.3]], [0], ValueError, "values are too large"),
        ([[0.1, 0.2]], [0], ValueError, "x has 2 columns; features = 3 were needed"),
        ([0.1, 0.2, 0.3], [0], ValueError, "x has 1 axes"),
        ([[0.1, 0.2], [0.1]], [0, 1], ValueError, "rows of different lengths"),
        ([["a", "b", "c"]], [0], TypeError, "x has dtype <U1; real numbers were needed"),
        ([[1j, 0, 0]], [0], TypeError, "x has dtype complex128"),
        (GOOD, [0, 3], ValueError, r"y\[1\] = 3: must be a class from 0 to 2"),
        (GOOD, [0, -1], ValueError, r"y\[1\] = -1: must be a class"),
        (GOOD, [0, 0.5], ValueError, r"y\[1\] = 0.5: must be a class, a whole number"),
        (GOOD, [0], ValueError, "y has 1 targets for 2 rows"),
        (GOOD, [[0.5, 0.5, 0.0], [0.5, 0.6, 0.0]], ValueError, "must be probabilities of sum 1"),
        (GOOD, [[0.5, 0.5]] * 2, ValueError, "y has 2 columns; classes = 3"),
    ],
)
def test_bad_rows_change_nothing(x, y, error, sentence):
    rows, targets = stream(20, 3, 3)
    broken, whole = learner(), learner()
    for each in (broken, whole):
        each.update(rows[:10], targets[:10], look_ahead=False)
    for call in (broken.update, broken.run):
        with pytest.raises(error, match=sentence):
            call(x, y)
    assert broken.rounds == 10
    for each in (broken, whole):
        each.update(rows[10:], targets[10:], look_ahead=False)
    np.testing.assert_array_equal(broken.scores(rows), whole.scores(rows))


def test_bad_single_rows():
    one = learner()
    for x, y, error, sentence in [
        ([0.1, np.nan, 0.3], 0, ValueError, "x: column 1 has the value NaN"),
        ([0.1, 0.2], 0, ValueError, "x has 2 numbers; features = 3 were needed"),
        (["a"] * 3, 0, TypeError, "real numbers were needed"),
        ([0.1, 0.2, 0.3], 3, ValueError, "must be a class from 0 to 2"),
        ([0.1, 0.2, 0.3], [0.5, 0.6, 0.0], ValueError, "must be probabilities of sum 1"),
    ]:
        with pytest.raises(error, match=sentence):
            one.learn_one(x, y)
    with pytest.raises(ValueError, match="x has 2 numbers"):
        one.predict_proba([0.1, 0.2])
    one.learn_one([0.1, 0.2, 0.3], None)
    assert one.rounds == 0


def test_bad_weights():
    with pytest.raises(ValueError, match="weight 1: the weight is -1; a number from 0"):
        learner().update(GOOD, [0, 1], [1.0, -1.0])
    with pytest.raises(ValueError, match="the weight is NaN"):
        learner().update(GOOD, [0, 1], [1.0, np.nan])
    with pytest.raises(ValueError, match="there are 1 weights for 2 rows"):
        learner().update(GOOD, [0, 1], [1.0])
    with pytest.raises(ValueError, match="takes no importance weights"):
        learner("perceptron").update(GOOD, [0, 1], [1.0, 2.0])


def test_bad_targets_for_the_kind_of_learner():
    real = Learner("vaw", features=3)
    real.update(GOOD, [0.5, -2])
    with pytest.raises(ValueError, match="must be a finite number"):
        real.update(GOOD, [0.5, np.inf])
    with pytest.raises(TypeError, match="takes no probability vectors"):
        learner("perceptron").update(GOOD, [[1.0, 0.0, 0.0]] * 2)


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: Learner("folklor", features=2, classes=2), ValueError, "did you mean 'folklore'"),
        (lambda: learner(norms=3), TypeError, "folklore has no parameter 'norms' .did you mean 'norm'"),
        (lambda: learner(norm=-1), ValueError, "norm = -1: must be a finite number > 0"),
        (lambda: learner(norm=float("nan")), ValueError, "norm = NaN"),
        (lambda: learner(norm="big"), ValueError, "norm = big: must be a number"),
        (lambda: Learner("ogd", features=0, classes=2), ValueError, "features = 0"),
        (lambda: Learner("ogd", features=2, classes=1), ValueError, "classes = 1: must be at least 2"),
        (lambda: Learner("ogd", features=2), TypeError, "classes: the number of classes"),
        (lambda: Learner("ogd", features=-1, classes=2), ValueError, "features = -1: must be a whole number from 0"),
        (lambda: Learner("ogd", features=2, classes=2, scale="log"), ValueError, "scale = log: must be one of none, unit"),
        (lambda: Learner("ogd", features=2, classes=2, radius=0.0), ValueError, "radius = 0"),
        (lambda: Learner("ogd", features=2, classes=3, labels=["a", "b"]), ValueError, "labels: 2 names; classes = 3"),
        (lambda: Learner("ogd", features=2, labels=["a", "a"]), ValueError, "labels has 'a' and 'a'; every label needs a name of its own"),
        (lambda: Learner("ogd", features=2, labels=["a", " a"]), ValueError, 'labels: the label " a" is the class "a" but for the blanks around it'),
        (lambda: Learner("folklore", features=10**6, classes=10), MemoryError, "folklore would take .* MiB"),
        (lambda: Learner("aioli", features=2, classes=3), ValueError, "classes = 3: must be 2: aioli is binary"),
        (lambda: Learner("soba", features=2, classes=2), ValueError, "learns from the label, not from bandit feedback"),
        (lambda: Bandit("ogd", features=2, classes=2), ValueError, "one that learns from bandit feedback"),
    ],
)
def test_learners_that_cannot_be(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()


def test_bad_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^\[Errno 2\] No such file or directory: '.*missing.safetensors'$"):
        Learner.load(tmp_path / "missing.safetensors")
    with pytest.raises(IsADirectoryError):
        Learner.load(tmp_path)
    (tmp_path / "bad").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="not a model file of noregret, or a damaged one"):
        Learner.load(tmp_path / "bad")
    with pytest.raises(OSError, match="nowhere"):
        learner().save(tmp_path / "nowhere" / "model")
    learner().save(tmp_path / "model")
    with pytest.raises(ValueError):
        Bandit.load(tmp_path / "model")
    text = bytearray((tmp_path / "model").read_bytes())
    text[-1] ^= 1
    (tmp_path / "model").write_bytes(text)
    with pytest.raises(ValueError, match="digest"):
        Learner.load(tmp_path / "model")


def test_scores_that_overflow():
    wild = Learner("ogd", features=1, classes=2, rate=1e300, schedule="constant", ball="none")
    with pytest.raises(OverflowError, match="scores are not finite"):
        wild.update([[1e50]] * 50, [0, 1] * 25)
