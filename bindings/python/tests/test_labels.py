"""Labels come back as they were given, with their types, from probability vectors, libraries and model files; or they are refused."""

import datetime
import enum
import pickle
from decimal import Decimal

import numpy as np
import pytest
from conftest import signs as rows

from noregret import Bandit, Learner, _targets

pandas = pytest.importorskip("pandas")


# Soft labels


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_probability_vectors_of_a_table_are_those_of_its_columns(library):
    # The names were lost: columns in another order were learnt as other labels.
    made = pytest.importorskip(library)
    x = np.random.default_rng(0).normal(1.0, size=(60, 2))
    cells = {"a": np.full(60, 0.9), "b": np.full(60, 0.07), "c": np.full(60, 0.03)}
    frame = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    soft, other = (getattr(made, frame)({name: cells[name] for name in order}) for order in ("abc", "cab"))
    for learner in (Learner("folklore"), Learner("folklore", labels=["c", "b", "a"]), Learner("folklore", labels=["a", "b", "c"], features=2)):
        learner.update(x, soft)
        learner.run(x, other)
        assert learner.predict([1.0, 1.0]) == "a"
        assert learner.predict_proba([1.0, 1.0])[learner.labels.index("a")] > 0.8
    with pytest.raises(ValueError, match="y has the columns a, b, c; the classes 0, 1, 2 were needed"):
        Learner("folklore", features=2, classes=3).update(x, soft)
    with pytest.raises(ValueError, match="y has the columns a, b, c; the classes a, b, d were needed"):
        Learner("folklore", labels=["a", "b", "d"]).update(x, soft)


def test_probability_vectors_keep_labels_that_are_numbers(tmp_path):
    x = np.random.default_rng(0).normal(size=(60, 2))
    soft = np.tile([0.9, 0.07, 0.03], (60, 1))
    learner = Learner("folklore")
    learner.update(x, pandas.DataFrame(soft, columns=[5, 7, 9]))
    learner.save(tmp_path / "model")
    for same in (learner, Learner.load(tmp_path / "model")):
        same.update(x, pandas.DataFrame(soft, columns=[5, 7, 9])[[9, 7, 5]])
        assert same.predict([0.0, 0.0]) == 5
    learner = Learner("folklore", features=2, classes=3)
    learner.update(x, pandas.DataFrame(soft))
    assert learner.predict([0.0, 0.0]) == 0


def test_several_labels_in_rows_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="y has 1 labels in its first row and 2 in row 1; one was needed: several labels need a learner each"):
        Learner("folklore").update([[1.0], [2.0]], [["a"], ["b", "c"]])
    with pytest.raises(TypeError, match="a label, or a list of the probabilities of the classes in their order, was needed"):
        Learner("folklore", features=1, labels=["a", "b"]).learn_one([1.0], {"a": 0.5, "b": 0.5})
    for label in ({"a": 0.5, "b": 0.5}, {"a", "b"}):
        with pytest.raises(TypeError, match=r"^y\[1\] is .*a label, or a list of the probabilities of the classes in their order, was needed"):
            Learner("folklore").run([[1.0], [2.0]], ["a", label])


def test_sparse_labels_are_probability_vectors():
    """As in an array of them: what LabelBinarizer makes with sparse_output=True."""
    sparse = pytest.importorskip("scipy.sparse")
    x, y = np.arange(12.0).reshape(6, 2), np.eye(3)[[0, 1, 2] * 2]
    expected = Learner("folklore").run(x, y).rates
    for made in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        assert Learner("folklore").run(x, made(y)).rates == expected


# Labels in files


@pytest.mark.parametrize(
    ("labels", "back"), [(["1", "2"], [1, 2]), (["1.10", "2.50"], [1.1, 2.5]), (["1E+2", "-3"], [100.0, -3])], ids=str
)
def test_decimal_labels_are_numbers_in_a_file(labels, back, tmp_path):
    # They came back as texts.
    x, y = np.eye(2)[np.arange(60) % 2], [Decimal(label) for label in labels] * 30
    learner, bandit = Learner("folklore"), Bandit("squarecb")
    for model in (learner, bandit):
        model.run(x, y)
        with pytest.warns(UserWarning, match="the label Decimal.* is saved as the number"):
            model.save(tmp_path / "model")
        # A copy of a learner that had been saved had the labels of the file.
        for same in (model, model.copy(), pickle.loads(pickle.dumps(model))):
            assert {type(label) for label in same.predict(x).tolist()} == {Decimal}
        loaded = type(model).load(tmp_path / "model")
        known = loaded._labels_out().tolist()
        assert sorted((str(type(label)), label) for label in known) == sorted((str(type(label)), label) for label in back)
        loaded.run(x, y)  # Equal numbers are the same labels.
        assert loaded.classes == 2 if model is learner else len(loaded.labels) == 2


@pytest.mark.parametrize("made", [list, np.array, pandas.Categorical, lambda y: pandas.Series(y, dtype="boolean"), lambda y: [*y[:-1], None]])
def test_truth_values_come_back_as_truth_values(made, tmp_path):
    x, _ = rows()
    y = made([bool(truth) for truth in x[:, 0] > 0])
    for model in (Learner("folklore"), Bandit("squarecb")):
        model.run(x, y)
        model.save(tmp_path / "model")
        for same in (model, type(model).load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            same.run(x, y)
            assert {type(label) for label in same.predict(x).tolist()} == {bool}
            assert (same.predict(x) == (x[:, 0] > 0)).mean() > 0.8


# Labels as libraries have them


class Light(str, enum.Enum):
    RED = "re"
    GREEN = "gr"


def library_labels(truth):
    """Labels of every library, some of them missing, and the kind in which they come back."""
    import polars
    import pyarrow

    missing = np.arange(len(truth)) % 5 == 0
    whole = [None if gone else int(one) for gone, one in zip(missing, truth, strict=True)]
    masked = np.ma.array(truth.astype(int), mask=missing)
    return {
        "Int64": (pandas.Series(whole, dtype="Int64"), int),
        "array of pandas": (pandas.array(whole, dtype="Int64"), int),
        "index": (pandas.Index(whole, dtype="boolean"), bool),
        "arrow of pandas": (pandas.Series(whole, dtype="int64[pyarrow]"), int),
        "boolean": (pandas.Series(whole, dtype="boolean"), bool),
        "polars": (polars.Series(whole), int),
        "pyarrow": (pyarrow.array(whole), int),
        "chunks": (pyarrow.chunked_array([whole[:7], whole[7:]]), int),
        "masked": (masked, int),
        "masked signs": (np.ma.array(np.where(truth, "+", "-"), mask=missing), str),
        "enumeration": ([Light.RED if one else Light.GREEN for one in truth], str),
    }


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize("kind", ["Int64", "array of pandas", "index", "arrow of pandas", "boolean", "polars", "pyarrow", "chunks", "masked", "masked signs", "enumeration"])
def test_labels_of_libraries_keep_their_types(kind, table):
    # NumPy makes reals of whole numbers beside a missing one, "?" of what is masked, and two letters of an enumeration's names.
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    x, _ = rows()
    truth = x[:, 0] > 0
    given, back = library_labels(truth)[kind]
    x = pandas.DataFrame(x, columns=["a", "b", "c"]) if table else x
    for model in (Learner("folklore"), Bandit("squarecb")):
        run = model.run(x, given)
        predicted = model.predict(x).tolist()
        assert {type(label) for label in predicted} == {back} and len(set(predicted)) == 2
        assert run.notes == []
        assert (run.truth < 0).sum() == (0 if kind == "enumeration" else 40)


@pytest.mark.parametrize("table", [False, True])
def test_what_is_no_list_of_labels_is_refused(table):
    x, y = rows()
    x = pandas.DataFrame(x, columns=["a", "b", "c"]) if table else x
    for model in (Learner("folklore"), Bandit("squarecb")):
        # The keys of a dictionary were learnt.
        for wrong in (dict(enumerate(y)), set(y)):
            with pytest.raises(TypeError, match="a list of labels in the order of the rows was needed"):
                model.run(x, wrong)
        with pytest.raises(ValueError, match="inf.* a finite number was needed"):
            model.run(x, np.where(y == "yes", np.inf, 0.0))
    with pytest.raises((TypeError, ValueError), match="y is 'yes'; labels, one for each row|there is no column 'yes'"):
        Learner("folklore").update(x, "yes")


def test_scikit_learn_refuses_masked_and_mixed_labels():
    # A masked label was its hidden value, a number beside texts was a text, and an enumeration was cut.
    face = pytest.importorskip("noregret.sklearn")
    x, y = rows()
    with pytest.raises(ValueError, match="Input y contains NaN or another missing label, the first in row 0"):
        face.FolkloreClassifier().fit(x, np.ma.array((y == "yes").astype(int), mask=np.arange(200) % 5 == 0))
    with pytest.raises(ValueError, match="y has texts and 1; labels of one kind were needed"):
        face.FolkloreClassifier().fit(x, [1 if label == "yes" else "no" for label in y])
    with pytest.raises(ValueError, match="but for the blanks around it"):
        face.FolkloreClassifier().fit(x, np.where(y == "yes", "no ", "no"))
    lights = [Light.RED if label == "yes" else Light.GREEN for label in y]
    assert set(face.FolkloreClassifier().fit(x, lights).predict(x)) == {"re", "gr"}


def test_rivers_labels_are_told_apart_as_everywhere():
    river = pytest.importorskip("noregret.river")
    model = river.Folklore()
    model.learn_one({"a": 1.0}, "no")
    with pytest.raises(ValueError, match="but for the blanks around it"):
        model.learn_one({"a": 1.0}, "no ")
    with pytest.raises(ValueError, match="y = inf: a finite number was needed"):
        model.learn_one({"a": 1.0}, float("inf"))
    model.learn_one({"a": 1.0}, ("a", 1))
    model.learn_many(pandas.DataFrame({"a": [1.0, 2.0]}), [("a", 1), "no"])
    model.learn_many(pandas.DataFrame({"a": [1.0, 2.0]}), np.array([["no"], ["yes"]]))
    assert list(model._classes) == ["no", ("a", 1), "yes"]


def test_a_real_number_and_a_text_of_the_same_writing_are_no_two_labels():
    # 'every label is "1"' was the answer; beside a third label, every row of 1.0 was left out without a word.
    x, table = np.arange(40.0).reshape(20, 2), {"a": list(range(20))}
    for y in ([1.0, "1"] * 10, [1.0, "1", "2", "2"] * 5, ["1", 1.0] * 10):
        for rows in (x, table):
            for make in (lambda: Learner("ogd"), lambda: Bandit("banditron")):
                with pytest.raises(ValueError, match=r'the label "1" is a .*: labels of one name need one type'):
                    make().run(rows, y)
    run = Learner("ogd").run(x, np.array([1, 2.0] * 10))
    assert run.rates["rounds"] == 20


def test_a_bandit_takes_no_probability_vectors():
    x, y = np.arange(40.0).reshape(20, 2), np.eye(2)[np.arange(20) % 2]
    for bandit in (Bandit("banditron"), Bandit("banditron", features=2, classes=2)):
        for given in (y, y.astype(int)):
            with pytest.raises(ValueError, match="y has 2 axes; one was needed, .* bandits take no probability vectors"):
                bandit.run(x, given)


@pytest.mark.parametrize("kind", [list, np.array, lambda labels: np.array(labels, dtype=object)])
def test_a_zero_with_a_minus_is_zero(kind, tmp_path):
    learner = Learner("ogd")
    learner.run(np.ones((6, 1)), kind([-0.0, 1.0, 0.0, 1.0, -0.0, 0.0]))
    assert learner.labels == ["0.0", "1.0"]
    learner.update(np.ones((2, 1)), kind([-0.0, 0.0]))
    learner.save(tmp_path / "model")
    assert Learner.load(tmp_path / "model").labels == ["0.0", "1.0"]
    assert str(learner.predict([[1.0]])[0]) == "0.0"


def test_a_single_label_of_numpy_is_that_of_an_array(tmp_path):
    # A time came back from a file as a text, "since a file keeps times".
    for labels in (np.array(["2026-01-01", "2026-01-02"], dtype="M8[us]"), np.array([3, 4]), np.array(["u", "v"])):
        one, all_ = Learner("folklore"), Learner("folklore")
        for at in range(10):
            # An array without axes is what other libraries have for a number.
            one.learn_one({"a": float(at % 2)}, labels[at % 2] if at % 3 else np.array(labels[at % 2]))
        all_.update({"a": [0.0, 1.0] * 5}, np.tile(labels, 5))
        one.save(tmp_path / "model")
        again = Learner.load(tmp_path / "model")
        assert one.labels == all_.labels == again.labels
        assert type(one.predict({"a": 1.0})) is type(again.predict({"a": 1.0})) is type(all_.predict({"a": 1.0}))


def test_times_with_and_without_nanoseconds_are_the_same_labels_alone_and_in_an_array():
    days = np.array(["2026-01-01T00:00:00.123456789", "2026-01-02"], dtype="M8[ns]")
    x = [[1.0, 0.0], [0.0, 1.0]] * 10
    learner = Learner("ogd")
    for row, label in zip(x, np.tile(days, 10), strict=True):
        learner.learn_one(row, label)
    learner.update(x, np.tile(days, 10))
    learner.update(x, list(np.tile(days, 10)))
    assert len(learner.labels) == 2 and set(learner.predict(x).tolist()) == {days[0], datetime.datetime(2026, 1, 2)}
    shop = Bandit("squarecb", oracle="pooled", labels=days)
    assert shop.decide({"a": 1.0}, labels=[days[1]]).label == datetime.datetime(2026, 1, 2)


@pytest.mark.parametrize("label", [{"a": 1}, ("a", 1), ["a", "b"], (b"a", b"b")], ids=repr)
def test_what_is_no_label_alone_is_refused_by_its_value(label):
    learner = Learner("ogd")
    for _ in range(2):  # Before the learner is made, and after.
        with pytest.raises(TypeError, match="y is .*; a label, or a list of the probabilities of the classes in their order, was needed"):
            learner.learn_one([1.0, 0.5], label)
        learner.learn_one([1.0, 0.5], "yes")
    assert learner.labels == ["yes"]


def test_durations_are_no_labels():
    for labels in (np.array([1, 2] * 10, dtype="m8[s]"), list(np.array([1, 2] * 10, dtype="m8[ns]"))):
        with pytest.raises(TypeError, match="is of a type that a model file does not keep; str.label. makes a text of it"):
            Learner("ogd").update(np.eye(20), labels)


@pytest.mark.parametrize("unit", ["s", "ns", "M"])
def test_a_duration_alone_is_no_class_of_that_number(unit):
    for learner in (Learner("ogd", features=2, classes=6), Learner("ogd", features=2, labels=[1, 5])):
        with pytest.raises(TypeError, match="is of a type that a model file does not keep; str.label. makes a text of it"):
            learner.learn_one([1.0, 0.5], np.timedelta64(5, unit))
        assert learner.rounds == 0


@pytest.mark.parametrize("labels", [["a", "b"], [3, 7], np.array(["a", "b"]), np.array([3, 7])], ids=["texts", "numbers", "NumPy's texts", "NumPy's numbers"])
def test_a_known_label_of_one_row_is_found_at_once(labels, monkeypatch):
    """All that an array of labels needs took longer than the round."""
    x, y = np.random.default_rng(0).normal(size=(60, 2)), [labels[at % 2] for at in range(60)]
    fast, whole = Learner("ogd"), Learner("ogd")
    for learner in (fast, whole):
        learner.update(x[:20], y[:20])
    whole.update(x[20:], y[20:], look_ahead=False)
    with monkeypatch.context() as patch:
        patch.setattr(_targets, "labels", None)
        for row, label in zip(x[20:], y[20:], strict=True):
            fast.learn_one(row, label)
    np.testing.assert_array_equal(fast.predict_proba(x), whole.predict_proba(x))
    if not isinstance(labels[0], str):  # A text is no number of the same writing.
        with pytest.raises(ValueError, match="3"):
            fast.learn_one(x[0], "3")
    assert len(fast.labels) == 2
