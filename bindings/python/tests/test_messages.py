"""What is plainly meant is done, and what cannot be is said in a sentence with the way out."""

import copy
import datetime
import decimal
import fractions
import pickle
import re
import uuid
import warnings

import numpy as np
import pytest

from noregret import Bandit, Learner

pandas = pytest.importorskip("pandas")

ROWS = 40
FRAME = pandas.DataFrame({"a": np.arange(float(ROWS)), "t": ["the box never came", "refund me please"] * (ROWS // 2)})
Y = np.array(["u", "v"] * (ROWS // 2))


def rate(x, y):
    run = Learner("ogd").run(x, y)
    assert run.rates["rounds"] == ROWS and run.labels == ["u", "v"]
    return run.rates["log_loss"]


def test_labels_in_other_shapes_are_taken():
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    expected = rate(FRAME, Y)
    for y in (
        Y.reshape(-1, 1), Y.tolist(), tuple(Y), [[label] for label in Y], [(label,) for label in Y], pandas.DataFrame({"y": Y}),
        pandas.Series(Y), pandas.Series(pandas.Categorical(Y)), polars.Series(Y), polars.DataFrame({"y": Y}), pyarrow.array(Y.tolist()),
        pyarrow.table({"y": Y.tolist()}), (label for label in Y),
    ):
        assert rate(FRAME, y) == expected, type(y)
    x = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)])
    expected = rate(x, Y)
    for y in (Y.reshape(-1, 1), np.matrix(Y).T, pandas.DataFrame({"y": Y}), [(label,) for label in Y], (label for label in Y)):
        assert rate(x, y) == expected, type(y)
    with pytest.raises(ValueError, match=r"y has 2 labels in a row, \['u', 'w'\] in the first; one was needed: several labels need a learner each"):
        Learner().run(FRAME, [("u", "w")] * ROWS)
    with pytest.raises(ValueError, match="y has 2 labels in a row"):
        Learner().run(FRAME, pandas.DataFrame({"y": Y, "z": Y}))


def test_rows_in_other_shapes_are_taken():
    polars = pytest.importorskip("polars")
    expected = rate(FRAME, Y)
    lazy = polars.DataFrame(FRAME.to_dict("list")).lazy()
    assert rate(lazy, Y) == expected
    assert rate((row for row in FRAME.to_dict("records")), Y) == expected
    texts = rate(FRAME[["t"]], Y)
    assert rate(FRAME["t"], Y) == texts and rate(polars.Series("t", FRAME["t"].tolist()), Y) == texts
    learner = Learner("ogd")
    learner.run(FRAME["t"].tolist(), Y)
    assert learner.roles["text"] in ("categorical", "text") and learner.predict(FRAME["t"].tolist()).tolist() == Y.tolist()
    assert learner.predict({"text": "refund me please"}) == "v"


def test_sentences_name_the_place():
    with pytest.raises(ValueError, match="column 'a', row 6: inf; a finite number was needed"):
        Learner().run(FRAME.assign(a=np.where(np.arange(ROWS) == 6, np.inf, FRAME["a"])), Y)
    with pytest.raises(ValueError, match="row 1: column 0 has the value -inf; a finite number was needed"):
        Learner("folklore", features=2, classes=2).run([[1, 2], [-(10**400), 1]], [0, 1])
    target = np.random.default_rng(0).normal(size=400)
    for x in (np.ones((400, 1)) * target[:, None], pandas.DataFrame({"a": target})):
        with pytest.raises(ValueError, match='y has 400 different numbers in 400 rows, such as .* real-valued target; Learner.*vaw.* forecasts numbers'):
            Learner().run(x, target)
    assert Learner("vaw").run(pandas.DataFrame({"a": target}), target).rates["rounds"] == 400
    sklearn = pytest.importorskip("sklearn")
    from noregret.sklearn import FolkloreClassifier

    assert sklearn
    with pytest.raises(ValueError, match="X is a Series; X.to_frame.. makes a table of it"):
        FolkloreClassifier().fit(FRAME["a"], Y)


def test_missing_labels_of_arrays_are_not_learnt():
    x = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)])
    gaps = [None if at % 5 == 0 else label for at, label in enumerate(Y)]
    kept = np.array([label is not None for label in gaps])
    for y in (gaps, pandas.Series(gaps), np.array(gaps, dtype=object)):
        learner, whole = Learner("ogd", horizon=9), Learner("ogd", horizon=9)
        run = learner.run(x, y)
        assert run.rates["rounds"] == kept.sum() and np.isnan(run.losses[::5]).all() and (run.truth[::5] == -1).all()
        whole.run(x[kept], Y[kept])
        assert learner.rounds == whole.rounds == kept.sum() and run.labels == ["u", "v"]
    numbers = np.where(kept, np.arange(ROWS) % 2, np.nan)
    learner = Learner("ogd", features=2, classes=2, radius=2.0)
    learner.update(x, numbers)
    learner.learn_one(x[0], None)
    learner.learn_one(x[0], float("nan"))
    assert learner.rounds == kept.sum()


def test_times_and_categories_are_labels():
    sklearn = pytest.importorskip("sklearn")
    from noregret.sklearn import OgdClassifier

    assert sklearn
    x = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)])
    days = pandas.Series(pandas.to_datetime(["2026-01-01", "2026-01-02"] * (ROWS // 2)))
    for y in (days, days.to_numpy(), pandas.Series(pandas.Categorical(Y)), pandas.Series([False, True] * (ROWS // 2))):
        for rows in (x, pandas.DataFrame(x, columns=["a", "b"])):
            learner = Learner("ogd")
            learner.run(rows, y)
            assert (np.asarray(learner.predict(rows)) == np.asarray(y)).mean() > 0.8, (type(y), type(rows))
        many = np.random.default_rng(0).normal(size=(400, 2))
        labels = np.asarray(y)[(many[:, 0] > 0).astype(int)]
        fitted = OgdClassifier().fit(many, labels)
        assert (fitted.predict(many) == labels).mean() > 0.9 and type(fitted.predict(many)[0]) is type(labels[0])


def test_coefficients_for_selection():
    pytest.importorskip("sklearn")
    from sklearn.feature_selection import RFE, SelectFromModel

    from noregret.sklearn import AutoClassifier, FolkloreClassifier, OgdClassifier

    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 5))
    for y, rows in ((x[:, 2] > 0, 1), (np.digitize(x[:, 2], [-0.5, 0.5]), 3)):
        for kind in (OgdClassifier, FolkloreClassifier):
            model = kind().fit(x, y)
            if hasattr(model, "coef_"):
                assert model.coef_.shape == (rows, 5) and model.intercept_.shape == (rows,)
                assert np.abs(model.coef_).max(axis=0).argmax() == 2
    model = OgdClassifier().fit(x, x[:, 2] > 0)
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    np.testing.assert_allclose(standard.clip(-5, 5) @ model.coef_[0] + model.intercept_[0], model.decision_function(x), atol=1e-6)
    assert SelectFromModel(OgdClassifier(), max_features=1, threshold=-np.inf).fit(x, x[:, 2] > 0).get_support()[2]
    assert RFE(OgdClassifier(), n_features_to_select=1).fit(x, x[:, 2] > 0).support_[2]
    with pytest.raises(AttributeError, match="AutoClassifier has no coef_: it is not fitted, or its scores are not linear"):
        AutoClassifier().fit(x[:60], x[:60, 2] > 0).coef_


@pytest.mark.parametrize("table", [False, True], ids=["array", "table"])
def test_coefficients_of_columns_with_missing_numbers(table):
    # "some columns have several features": a number, and whether it is missing.
    pytest.importorskip("sklearn")
    from sklearn.feature_selection import RFE, SelectFromModel

    from noregret.sklearn import OgdClassifier

    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    holes = np.where(rng.random(x.shape) < 0.1, np.nan, x + 50)
    if table:
        holes = pandas.DataFrame(holes, columns=["a", "b", "c"])
        holes["a"] = [f"1,{int(at)}.5" for at in 500 + 100 * x[:, 0]]
    for y, rows in ((x[:, 2] > 0, 1), (np.digitize(x[:, 2], [-0.5, 0.5]), 3)):
        model = OgdClassifier().fit(holes, y)
        assert model.coef_.shape == (rows, 3) and model.intercept_.shape == (rows,)
        assert model.learner_.coef_.shape[1] == 6
        assert np.abs(model.coef_).max(axis=0).argmax() == 2
        assert SelectFromModel(OgdClassifier(), max_features=1, threshold=-np.inf).fit(holes, y).get_support()[2]
        assert table or RFE(OgdClassifier(), n_features_to_select=1).fit(holes, y).support_[2]
    mixed = pandas.DataFrame({"a": x[:, 0], "kind": np.where(x[:, 1] > 0, "u", "v")})
    with pytest.raises(AttributeError, match="OgdClassifier has no coef_: some columns have several features"):
        OgdClassifier().fit(mixed, y).coef_


def test_bandits_take_labels_in_other_shapes():
    x = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)])
    expected = Bandit("soba", exploration=0.2).run(x, Y).rates
    assert Bandit("soba", exploration=0.2).run(x, pandas.DataFrame({"y": Y})).rates == expected
    assert Bandit("soba", exploration=0.2).run((row for row in x.tolist()), Y.reshape(-1, 1)).rates == expected


def test_words_for_missing_labels_of_arrays_are_those_of_tables():
    x = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)])
    table = pandas.DataFrame(x, columns=["a", "b"])
    for word in ("NA", "null", "N/A", "nan", "?", "-", "", None, float("nan"), pandas.NA, pandas.NaT, decimal.Decimal("NaN")):
        y = [word if at % 5 == 0 else label for at, label in enumerate(Y)]
        found = []
        for rows in (x, table):
            learner = Learner("ogd")
            assert learner.run(rows, y).rates["rounds"] == 32, word
            learner.update(rows, y)
            learner.learn_one(rows[0] if rows is x else rows.iloc[0], word)
            found.append((learner.labels, learner.rounds))
        assert found == [(["u", "v"], 64)] * 2, word
        bandit = Bandit("soba", exploration=0.2)
        assert bandit.run(x, y).rates["rounds"] == 32 and bandit.labels == ["u", "v"], word
    # Where another label is a sign, or the labels are given, they are classes.
    for y, labels in ((["+", "-"], None), (["NA", "b"], ["NA", "b"])):
        for rows in (x, table):
            learner = Learner("ogd", labels=labels)
            assert learner.run(rows, y * (ROWS // 2)).rates["rounds"] == ROWS and sorted(learner.labels) == y
    with pytest.raises(ValueError, match=r"labels\[1\] is missing; the label that was played in the round was needed"):
        Bandit("auto").learn(x[:2], ["u", None], [1, 0], [0.5, 0.5])


START = datetime.datetime(2026, 1, 2, 5)
PAIRS = {
    "texts": ["u", "v"],
    "texts of numbers": ["01", "1.10"],
    "whole": [3, 12],
    "real": [0.5, 1.5],
    "truth": [False, True],
    "days": [START.date(), datetime.date(2026, 2, 1)],
    "times": [START, datetime.datetime(2026, 2, 1)],
    "zoned times": [START.replace(tzinfo=datetime.timezone.utc), datetime.datetime(2026, 2, 1, tzinfo=datetime.timezone.utc)],
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_labels_come_back_equal_in_every_shape(pair, tmp_path):
    x = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)])
    listed = pair * (ROWS // 2)
    shapes = [listed, pandas.Series(listed), pandas.Series(pandas.Categorical(listed)), np.array(listed, dtype=object)]
    if getattr(pair[0], "tzinfo", None) is None:
        shapes.append(np.array(listed))
        if isinstance(pair[0], datetime.datetime):
            shapes += [np.array(listed, dtype="M8[ns]"), np.array(listed, dtype="M8[s]")]
    for y in shapes:
        for rows in (x, pandas.DataFrame(x, columns=["a", "b"])):
            learner = Learner("ogd")
            learner.run(rows, y)
            learner.save(tmp_path / "model")
            for model in (learner, copy.deepcopy(learner), pickle.loads(pickle.dumps(learner)), Learner.load(tmp_path / "model")):
                found = model.predict(rows)
                assert [a == b for a, b in zip(found.tolist(), listed, strict=True)].count(True) > 30
                assert (found == np.asarray(y)).mean() > 0.7, (type(y), found.dtype)
                assert model.predict(rows[0] if rows is x else rows.iloc[0]) in pair
                model.update(rows, y)
                assert len(model.labels) == 2


def test_labels_that_are_no_labels_are_named():
    x = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)])
    with pytest.raises(TypeError, match=r"the label b'u' is of bytes; a text was needed, which .decode\(\) makes of it"):
        Learner("ogd").run(x, [b"u", b"v"] * (ROWS // 2))
    # They were texts after a model was saved and loaded.
    for kind in (pandas.Interval(-1, 0), pandas.Period("2026-01", "M"), datetime.timedelta(1), uuid.UUID(int=1), datetime.time(1), fractions.Fraction(1, 3)):
        others = [kind, "v"] * (ROWS // 2)
        told = re.escape(f"the label {kind!r} is of a type that a model file does not keep; str(label) makes a text of it")
        learner, bandit = Learner("ogd"), Bandit("soba", exploration=0.2)
        for learn in (learner.run, learner.update, bandit.run):
            for rows in (x, pandas.DataFrame(x)):
                with pytest.raises(TypeError, match=told):
                    learn(rows, others)
        with pytest.raises(TypeError, match=told):
            Learner("ogd", features=2, labels=["u", "v"]).learn_one(x[0], kind)
        with pytest.raises(TypeError, match=told):
            Bandit("soba", labels=[kind, "v"])
        learner.run(x, [str(label) for label in others])
        assert set(learner.labels) == {str(kind), "v"}


def test_rows_of_which_everything_is_missing_stay_rows():
    for rows in (pandas.DataFrame({"a": [None if at % 5 == 0 else at % 2 for at in range(ROWS)]}), [{"a": None, "b": None}] * ROWS):
        learner = Learner("ogd")
        for _ in range(2):
            assert len(learner.run(rows, [None if at % 10 == 0 else label for at, label in enumerate(Y)]).losses) == ROWS
        assert learner.rounds == 72 and learner.predict_proba(rows).shape == (ROWS, 2)
        assert "row" not in learner.columns and learner.predict_proba({"a": None}).shape == (2,)
        assert Bandit("soba", exploration=0.2).run(rows, Y).rates["rounds"] == ROWS


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_numbers_of_every_size_are_numbers_without_warnings(kind):
    # NumPy warned of each cell: "overflow encountered in cast"
    rows = [{"a": kind(at % 5), "b": [kind(at % 3)]} for at in range(ROWS)]
    plain = [{"a": float(at % 5), "b": [float(at % 3)]} for at in range(ROWS)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert rate(rows, Y) == rate(plain, Y) == rate(pandas.DataFrame(rows), Y)


def test_masks_and_mixed_labels():
    x = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)])
    mask = np.arange(ROWS) % 5 == 0
    learner, holes = Learner("ogd"), Learner("ogd")
    learner.run(np.ma.masked_array(x, mask=np.column_stack([mask, mask & False])), Y)
    holes.run(np.where(np.column_stack([mask, mask & False]), np.nan, x), Y)
    np.testing.assert_array_equal(learner.predict_proba(x), holes.predict_proba(x))
    assert Learner("ogd").run(x, np.ma.masked_array(np.arange(ROWS) % 2, mask=mask)).rates["rounds"] == 32
    mixed = Learner("ogd")
    mixed.run(x, ["d", 3] * (ROWS // 2))
    assert set(mixed.predict(x).tolist()) == {"d", 3}


def test_a_run_says_which_labels_counted_as_missing():
    x, y = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)]), np.array(["u", "v"] * (ROWS // 2), dtype=object)
    y[:5], y[5] = "NA", None
    for rows in (x, pandas.DataFrame(x, columns=["a", "b"])):
        notes = Learner("ogd").run(rows, y).notes
        assert "the label 'NA' counts as missing in 5 rows: predicted, and not learnt; not_missing=['NA'] makes it a class" in notes
        assert notes == Bandit("soba").run(rows, y).notes
        assert not any("counts as missing" in note for note in Learner("ogd", not_missing=["NA"]).run(rows, y).notes)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("x", [FRAME, FRAME[["a"]].to_numpy()])
def test_labels_of_which_one_counts_as_missing_are_named_in_the_refusal(x):
    # 'every label is "yes"' was all that was said of a label "None" or "NA", as for Namibia.
    y = ["NA", "None", "yes", "yes"] * (ROWS // 4)
    said = r"every label is .yes.; at least 2 classes were needed .*: labels that count as missing are classes with not_missing=\['NA', 'None'\]"
    for one in (Learner("ogd"), Bandit("squarecb")):
        with pytest.raises(ValueError, match=said):
            one.run(x, y)
    with pytest.raises(ValueError, match=r"y has missing labels only; .*not_missing=\['NA'\]"):
        Learner("ogd").run(x, ["NA", ""] * (ROWS // 2))
    # What was said is not taken back, and an empty label is never a class.
    with pytest.raises(ValueError, match=r"every label is .yes.; .*: missing=\['unknown'\] leaves out the others"):
        Learner("ogd", missing=["unknown"]).run(x, ["unknown", "", "yes", "yes"] * (ROWS // 4))
    assert Learner("ogd", not_missing=["NA", "None"]).run(x, y).labels == ["NA", "None", "yes"]


def test_labels_of_rows_without_weight_are_not_called_missing():
    x, y = np.random.default_rng(0).normal(size=(ROWS, 2)), ["u", "v"] * (ROWS // 2)
    for rows in (x, pandas.DataFrame(x, columns=["a", "b"])):
        learner = Learner("ogd")
        learner.update(rows, y, weight=[0.0, 1.0] * (ROWS // 2))
        assert learner.rounds == ROWS // 2
        assert Learner("ogd", class_weight={"u": 0}).run(rows, y).notes == []


def ages(count: int = 120) -> pandas.DataFrame:
    return pandas.DataFrame({"age": np.arange(count) * 7 % 53 + 0.5, "hue": ["red", "blue", "green"] * (count // 3)}).astype({"age": object})


def old(frame: pandas.DataFrame) -> list[str]:
    return ["old" if isinstance(age, float) and age > 26 else "young" for age in frame["age"]]


FORTY = 'column "age": 1 cell is no number, the first "forty" in row 7: it counts as missing'


@pytest.mark.parametrize("made", [lambda: Learner("folklore"), lambda: Bandit("squarecb", oracle="pooled")], ids=["learner", "bandit"])
def test_cells_that_do_not_fit_their_column_are_said(made):
    # The command line said so, and Python took them for missing without a word.
    frame, other = ages(), ages()
    other.loc[7, "age"] = "forty"
    model = made()
    assert model.run(frame, old(frame)).notes == []
    assert model.run(other, old(other)).notes == [FORTY]
    asks = [model.predict, model.predict_proba, model.scores, lambda rows: model.predict(rows.to_dict("records"))]
    asks += [lambda rows: model.update(rows, old(rows))] if isinstance(model, Learner) else []
    for ask in asks:
        with pytest.warns(UserWarning) as said:
            ask(other)
        assert [str(one.message) for one in said] == [FORTY]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ask(frame)
    row = {"age": "forty", "hue": "red"}
    for ask in [lambda: model.predict(row), lambda: model.learn_one(row, "old") if isinstance(model, Learner) else model.decide(row)]:
        with pytest.warns(UserWarning, match='column "age": 1 cell is no number, the first "forty" in row 0: it counts as missing'):
            ask()


def test_columns_that_come_later_are_said():
    # A learner that a first table has made learnt nothing of other columns, without a word.
    learner = Learner("folklore", labels=["a", "b"], radius=9.0)
    learner.update([{"x": 1.0}], ["a"])
    one = 'the column "z" is new: the model was trained without it, and it is ignored'
    two = 'the columns "z", "hue" are new: the model was trained without them, and they are ignored'
    for said, learn in [
        ([one], lambda: learner.learn_one({"x": 1.0, "z": 2.0}, "b")),
        ([two], lambda: learner.update([{"x": 1.0, "z": 2.0, "hue": "red"}], ["a"])),
        ([], lambda: learner.learn_one({"x": 2.0}, "a")),
    ]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            learn()
        assert [str(warning.message) for warning in found] == said
    assert learner.run([{"x": 1.0, "z": 2.0}], ["a"]).notes == [one]
    bandit, frame = Bandit("squarecb"), ages()
    bandit.run(frame, old(frame))
    assert bandit.run(frame.assign(z=1.0), old(frame)).notes == [one]


def test_cells_beside_lists_are_said():
    frame = ages().assign(tags=[["new"], ["new", "vip"]] * 60)
    other = frame.copy()
    other.loc[7, "age"] = "forty"
    learner = Learner("folklore")
    learner.run(frame, old(frame))
    assert FORTY in learner.run(other, old(other)).notes


def test_errors_name_rows_and_no_lines():
    # "the table:9" was the line of a file that nobody has.
    frame = ages()
    frame["age"] = frame["age"].map(str)
    for text, said in [("inf", 'column "age": "inf" is not finite'), ("1e200", "the row has the value 1e200")]:
        frame.loc[7, "age"] = text
        for x in [frame, frame.assign(tags=[["new"], ["new", "vip"]] * 60)]:
            with pytest.raises(ValueError, match=f"^row 7: {said}"):
                Learner("folklore").run(x, ["old", "young"] * 60)


def test_classifiers_say_what_does_not_fit():
    face, river = pytest.importorskip("noregret.sklearn"), pytest.importorskip("noregret.river")
    frame, other = ages(), ages()
    other.loc[7, "age"] = "forty"
    model, stream = face.FolkloreClassifier().fit(frame, old(frame)), river.Folklore()
    stream.learn_many(frame, old(frame))
    fit = face.FolkloreClassifier()
    for ask in (model.predict, model.predict_proba, stream.predict_proba_many, lambda rows: fit.fit(rows, old(rows)), lambda rows: stream.learn_many(rows, old(rows))):
        with pytest.warns(UserWarning, match='column "age": 1 cell is no number, the first "forty" in row 7'):
            ask(other)


@pytest.mark.parametrize("made", [lambda: Learner("folklore"), lambda: Bandit("squarecb", oracle="pooled")], ids=["learner", "bandit"])
def test_remarks_on_the_first_table_are_kept(made):
    # A copy of the label was said to nobody.
    frame = ages()
    frame["copy"], frame["leak"] = frame["hue"], [label.upper() for label in old(frame)]
    notes = made().run(frame, old(frame)).notes
    assert [note.partition(":")[0] for note in notes] == [
        'column "copy" is a copy of column "hue" in all 120 rows',
        'column "leak" has one value for each class of the label, like a copy of it',
    ]
    with pytest.warns(UserWarning, match='column "copy" is a copy of column "hue"') as said:
        if isinstance(model := made(), Learner):
            model.update(frame, old(frame))
        else:
            model.learn(frame, old(frame), np.ones(120), np.full(120, 0.5))
    assert len(said) == 1 and str(said[0].message) == "\n".join(notes)


def test_a_category_that_is_new_later_is_said_where_it_is_learnt():
    frame, learner = ages(), Learner("folklore")
    learner.run(frame, old(frame))
    said = 'features that the model does not have are ignored: "hue=mauve"; it has those of the data that it was made from'
    assert learner.run(frame.replace("red", "mauve"), old(frame)).notes == [said]


class Stream:
    """A column that has only the Arrow stream interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, schema=None):
        return self.table.__arrow_c_stream__(schema)


def test_wrong_arguments_are_named(tmp_path):
    import noregret

    x = np.column_stack([np.arange(ROWS) % 2, np.ones(ROWS)])
    for kind in (Learner, Bandit):
        for wrong in ({"features": "3"}, {"features": -2}, {"seed": -1}, {"seed": 1.5}, {"classes": "x"}):
            (name, value), = wrong.items()
            with pytest.raises(ValueError, match=f"{name} = {value!r}: must be a whole number from 0"):
                kind(**wrong)
        with pytest.raises(ValueError, match="scale = q: must be one of"):
            kind(scale="q")
        with pytest.raises(ValueError, match="y has missing labels only; at least 2 classes were needed"):
            kind().run(x, [None] * ROWS)
    for call, sentence in (
        (lambda: noregret.compare_policies("log", ["uniform"]), "policies is .'uniform'.; a dictionary of names and policies"),
        (lambda: noregret.evaluate("log", len), "policy is <built-in function len>; a Bandit, a Learner, a text"),
        (lambda: noregret.evaluate(x, "uniform"), "log is a ndarray; the path of a file, a list of dictionaries or a table was needed"),
    ):
        with pytest.raises(TypeError, match=sentence):
            call()
    for kind in (Learner, Bandit):
        for other in ("part.model", Bandit if kind is Learner else Learner):
            with pytest.raises(TypeError, match=rf"cannot be merged: a {kind.__name__} was needed, as {kind.__name__}.load\(path\) reads it"):
                kind.merge([other() if callable(other) else other])
    bandit = Bandit("soba", features=1, classes=2)
    with pytest.raises(TypeError, match="id is a Decision; its id was needed: decision.id"):
        bandit.feedback(bandit.decide([1.0]), True)
    labels = Stream(pytest.importorskip("pyarrow").table({"y": ["u", "v"] * (ROWS // 2)}))
    for rows in (x, pandas.DataFrame(x, columns=["a", "b"])):
        learner = Learner("ogd")
        learner.run(rows, labels)
        assert learner.labels == ["u", "v"]


def test_defaults_that_are_too_cautious_are_told_where_the_learner_is_made():
    learners, bandits = pytest.importorskip("noregret.learners"), pytest.importorskip("noregret.bandits")
    x, y = np.random.default_rng(0).normal(size=(ROWS, 2)), np.arange(ROWS) % 2
    aioli = "^aioli: the defaults are too cautious; curvature=0.1 works, without guarantee: .* with it$"
    oracle = "^squarecb: aioli by itself: the defaults are too cautious; oracle__curvature=0.1 works, without guarantee: .* with it$"
    pooled = '^squarecb: the defaults are too cautious; oracle="pooled" works, without guarantee: .* and 0.82 with it; where rewards are common, '
    cases = [
        (aioli, lambda: Learner("aioli", features=2)),
        (aioli, lambda: learners.Aioli(features=2)),
        (aioli, lambda: Learner("aioli").run(x, y)),
        (oracle, lambda: Bandit("squarecb", features=2, classes=2, oracle="aioli")),
        (pooled, lambda: bandits.Squarecb(features=2, classes=2)),
        (pooled, lambda: Bandit("squarecb").run(x, y)),
    ]
    for match, make in cases:
        with pytest.warns(UserWarning, match=match) as said:
            make()
        assert len(said) == 1, [str(one.message) for one in said]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Learner("aioli", features=2, curvature=0.1)
        Bandit("squarecb", features=2, classes=2, oracle="aioli", oracle__curvature=0.1)
        Learner("auto").run(x, y)
        pickle.loads(pickle.dumps(Learner("ogd", features=2, classes=2)))


def test_a_learner_that_is_slow_for_so_many_rows_says_so_before_they_are_learnt():
    sklearn = pytest.importorskip("noregret.sklearn")
    x, y = np.zeros((4000, 1)), np.arange(4000) % 2
    slow = "^kernel-aioli: slow for 4000 rows: the more rounds there were, .*; each round of kernel-aioli-landmarks takes the same time$"
    # Rows of weight 0 are not learnt, so that the test is not slow.
    few = (np.arange(4000) < 10).astype(float)
    for learn in [
        lambda: Learner("kernel-aioli").run(x, y, few),
        lambda: Learner("kernel-aioli", features=1).run(x, y, few),
        lambda: Learner("kernel-aioli").update({"a": list(range(4000))}, y, few),
    ]:
        with pytest.warns(UserWarning, match=slow):
            learn()
    with pytest.warns(UserWarning, match="^ftrl: slow for 4000 rows: "):
        sklearn.FtrlClassifier().fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Learner("kernel-aioli", max_rounds=100).run(x, y)
        Learner("kernel-aioli").run(x[:100], y[:100])


def test_a_bandit_whose_oracle_is_slow_for_so_many_rows_says_so():
    x, y = np.zeros((4000, 1)), ["a", "b"] * 2000
    kernel = {"oracle": "kernel-aioli", "oracle__curvature": 0.1, "oracle__max_rounds": 4000}
    slow = "^squarecb: kernel-aioli by itself: slow for 4000 rows: .*; each round of kernel-aioli-landmarks takes the same time$"
    made = Bandit("squarecb", features=1, labels=["a", "b"], **kernel)
    # Rows without a label are not learnt, so that the test is not slow.
    for learn in [
        lambda: made.run(x, [None] * 4000),
        lambda: Bandit("squarecb", **kernel).run({"n": x[:, 0]}, ["a", "b", *[None] * 3998]),
        lambda: Bandit("squarecb", **kernel).run(x, ["a", "b", *[None] * 3998]),
    ]:
        with pytest.warns(UserWarning, match=slow):
            learn()
    with pytest.warns(UserWarning, match=slow), pytest.raises(ValueError, match="probabilities"):
        made.learn(x, y, np.ones(4000), np.zeros(4000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.run(x[:100], [None] * 100)


def test_classifiers_tell_it_too():
    sklearn, river = pytest.importorskip("noregret.sklearn"), pytest.importorskip("noregret.river")
    x, y = np.random.default_rng(0).normal(size=(ROWS, 2)), np.arange(ROWS) % 2
    aioli = "^aioli: the defaults are too cautious; "
    for learn in [
        lambda: sklearn.AioliClassifier().fit(x, y),
        lambda: sklearn.AioliClassifier().partial_fit(x, y, classes=[0, 1]),
        lambda: river.Aioli().learn_one({"a": 1.0}, True),
    ]:
        with pytest.warns(UserWarning, match=aioli):
            learn()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Classifiers with a norm of their own take larger steps.
        sklearn.OnsClassifier().fit(x, y)
        sklearn.AioliClassifier(curvature=0.1).fit(x, y)
