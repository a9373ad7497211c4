"""Rows in the shapes in which libraries have them: columns of texts, records, sparse rows, and what is no label."""

import numpy as np
import pytest

from noregret import Bandit, Learner, _tables

pandas = pytest.importorskip("pandas")

TEXTS = ["the parcel is late", "refund me now please"] * 60
LABELS = ["parcel", "refund"] * 60
MODELS = [lambda **facts: Learner("ogd", **facts), lambda **facts: Bandit("squarecb", **facts)]
IDS = ["learner", "bandit"]


def columns_of_texts():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    yield from (TEXTS, tuple(TEXTS), np.array(TEXTS), pandas.Series(TEXTS), pandas.Series(TEXTS, name="body"), pandas.Series(TEXTS, dtype="string"))
    yield from (polars.Series("body", TEXTS), pyarrow.array(TEXTS), pyarrow.chunked_array([TEXTS[:50], TEXTS[50:]]))


@pytest.mark.parametrize("made", MODELS, ids=IDS)
def test_a_column_of_texts_is_a_row_for_each(made):
    # "x has dtype <U18; real numbers were needed"; a bandit took a list of texts for one row, and a text for several.
    for x in columns_of_texts():
        model = made()
        model.run(x, LABELS)
        assert model.predict(x).tolist() == LABELS, type(x)
        assert model.predict(TEXTS[0]) == "parcel" and model.predict(TEXTS[1:2]).tolist() == ["refund"]
        assert model.predict_proba(TEXTS[0]).shape == (2,) and model.predict_proba(x).shape == (120, 2)
    if isinstance(model, Bandit):
        assert model.decide(TEXTS[0]).label in ("parcel", "refund")
    holes = pandas.Series([None if at % 9 == 8 else text for at, text in enumerate(TEXTS)])
    model = made()
    model.run(holes, LABELS)
    assert len(model.predict(holes)) == 120


def test_classifiers_take_a_series_of_texts():
    face = pytest.importorskip("noregret.sklearn")
    texts = pandas.Series(TEXTS)
    model = face.FolkloreClassifier().fit(texts, LABELS)
    assert model.predict(texts).tolist() == model.predict(TEXTS).tolist() == LABELS


@pytest.mark.parametrize("made", MODELS, ids=IDS)
def test_records_are_rows_by_name(made):
    # "x has dtype (numpy.record, ...)"; a learner of tables took a record array of 120 rows for 120 columns.
    x = np.random.default_rng(0).normal(size=(120, 2))
    frame = pandas.DataFrame(x, columns=["a", "b"]).assign(hue=np.where(x[:, 1] > 0, "red", "blue"))
    y, records = np.where(x[:, 0] > 0, "yes", "no"), frame.to_records(index=False)
    one, other = made(), made()
    assert one.run(frame, y).rates == other.run(records, y).rates
    np.testing.assert_array_equal(one.predict_proba(frame), one.predict_proba(records))
    np.testing.assert_array_equal(one.predict_proba(frame)[0], one.predict_proba(records[0]))
    if isinstance(one, Bandit):
        assert one.decide(records[0])[:2] == other.decide(frame.iloc[0])[:2]
        assert made(labels=["no", "yes"]).decide(records[0]).label in ("no", "yes")


@pytest.mark.parametrize("made", MODELS, ids=IDS)
def test_a_sparse_row_alone_is_a_row(made):
    # "tuple index out of range"
    sparse = pytest.importorskip("scipy.sparse")
    x = np.random.default_rng(0).normal(size=(60, 2))
    model, matrix = made(), sparse.csr_array(x)
    model.run(matrix, np.where(x[:, 0] > 0, "yes", "no"))
    np.testing.assert_array_equal(model.predict_proba(matrix[0]), model.predict_proba(x[0]))
    if isinstance(model, Bandit):
        assert model.decide(matrix[0]).label in ("no", "yes")


@pytest.mark.parametrize("made", MODELS, ids=IDS)
def test_what_is_no_row_or_label_is_said(made):
    x = np.random.default_rng(0).normal(size=(60, 2))
    for rows in (x, pandas.DataFrame(x, columns=["a", "b"])):
        for y in (None, 1, True):
            # "'NoneType' object is not iterable", "y has 0 axes"
            with pytest.raises(TypeError, match=f"y is {y}; labels, one for each row, were needed"):
                made().run(rows, y)
    labels = np.where(x[:, 0] > 0, "yes", "no")
    with pytest.raises(ValueError, match=r"x has 1 axes; rows and columns were needed; x.reshape\(-1, 1\) has rows of one number"):
        made().run(x[:, 0], labels)
    # A column with a name is a table.
    model = made()
    model.run(pandas.Series(x[:, 0], name="a"), labels)
    assert model.columns == ["a"] and model.predict(pandas.Series(x[:, 0], name="a")).shape == (60,)


def test_numbers_to_forecast_are_alike_in_arrays_and_tables():
    # "the table:2: the target is ...": truth values were numbers in an array, and none in a table.
    x = np.random.default_rng(0).normal(size=(60, 2))
    frame = pandas.DataFrame(x, columns=["a", "b"])
    truths = x[:, 0] > 0
    np.testing.assert_array_equal(Learner("vaw").run(frame, truths).losses, Learner("vaw").run(frame, truths.astype(float)).losses)
    texts = ["NA" if at % 5 == 0 else str(number) for at, number in enumerate(x[:, 0])]
    assert Learner("vaw").run(frame, texts).rates["rounds"] == 48
    for y, wrong in ((["1.5"] * 30 + ["high"] * 30, r"y\[30\] is 'high'"), (pandas.date_range("2026-01-01", periods=60), r"y\[0\] is datetime")):
        with pytest.raises((TypeError, ValueError), match=f"{wrong}.*; a number to forecast was needed"):
            Learner("vaw").run(frame, y)


def test_rows_beyond_the_radius_are_said():
    # The summary of the command line counts them; `ogd` made 34 % errors instead of 6 % without a word.
    x = np.random.default_rng(0).normal(size=(600, 4))
    y = (x[:, 0] + x[:, 1] > 0).astype(int)
    run = Learner("ogd", features=4, classes=2).run(100 * x, y)
    assert run.notes == ["600 of 600 rows are beyond radius = 1, and learnt: no theorem covers them; scale= brings rows within it"]
    scaled = Learner("ogd", features=4, classes=2, scale="standard")
    assert scaled.run(100 * x, y).notes == scaled.run(100 * x, y).notes == []


def test_forecasts_of_numbers_are_no_labels():
    # `predictions` named a class "#0", which no data has.
    x = np.random.default_rng(0).normal(size=(60, 2))
    run = Learner("vaw").run(x, x[:, 0], probabilities=True)
    np.testing.assert_array_equal(run.predictions, run.frame()["forecast"])
    with pytest.raises(ValueError, match=r"the forecasts were not kept; run\(..., probabilities=True\) keeps them"):
        Learner("vaw").run(x, x[:, 0]).predictions


def test_numbers_in_arrays_without_axes_are_cells():
    # "iteration over a 0-d array".
    assert _tables.table({"a": np.array(2.5), "b": "x"}).cells == [[2.5], ["x"]]
    assert _tables.table({"a": np.array(2)}).cells == [[2]]
    assert _tables.table([{"a": np.array(2.0)}, {"a": np.array(np.nan)}]).cells == [[2.0, None]]


def test_masked_records_are_rows_by_name():
    # "arrays used as indices must be of integer (or boolean) type".
    records = np.ma.array([(1, "u"), (2, "v")], mask=[(1, 0), (0, 1)], dtype=[("n", "i4"), ("s", "U3")])
    table = _tables.table(_tables.whole(records))
    assert (table.names, table.cells) == (["n", "s"], [[None, 2], ["u", None]])


@pytest.mark.parametrize("unit", ["Y", "M"])
def test_a_duration_in_months_is_refused_with_a_way_out(unit):
    # "Cannot get a common metadata divisor for Numpy datetime metadata".
    with pytest.raises(TypeError, match=r"column 'a', row 0: 1 (years|months); a duration in days or shorter units was needed: .astype\(int\)"):
        _tables.table({"a": np.timedelta64(1, unit)})


def test_a_dictionary_of_lists_is_one_row_in_a_list():
    # The documentation of `predict_proba` says so.
    assert _tables.table({"tags": ["new", "vip"]}).rows == 2
    assert _tables.table([{"tags": ["new", "vip"]}]) == _tables.table(_tables.single({"tags": ["new", "vip"]}))
    assert _tables.table([{"tags": ["new", "vip"]}]).rows == 1
