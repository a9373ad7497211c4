"""What users of scikit-learn, River, pandas and bandit libraries are used to: it does here what it says, or it is refused."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from conftest import in_threads
from conftest import signs as rows

from noregret import Bandit, Learner, _tables

pandas = pytest.importorskip("pandas")


# Labels on offer


@pytest.mark.parametrize("made", [{"labels": [1, 2, 3]}, {"classes": 4}], ids=str)
def test_a_text_on_offer_is_no_number(made):
    # "1" was played as 1, and `predict` answered "1".
    for features in ({"features": 1}, {}):
        for ask in ("decide", "predict", "scores", "explain"):
            bandit = Bandit("squarecb", **made, **features)
            if not features:
                bandit.decide([1.0])
            with pytest.raises(ValueError, match='the label "1" is a text, and the class of this name is a number'):
                getattr(bandit, ask)([1.0], ["1", "2"])
    with pytest.raises(ValueError, match='the label "1" is a text'):
        bandit.learn([[1.0]], [2], [1], [0.5], [["1", 2]])
    assert bandit.predict([1.0], [1]) == bandit.decide([1.0], [1.0]).label == bandit.predict([1.0], [np.int64(1)]) == 1
    assert type(bandit.predict([1.0], [np.float64(1)])) is int


def test_a_number_on_offer_is_no_text():
    bandit = Bandit("squarecb", features=1, labels=["1", "2"])
    with pytest.raises(ValueError, match='the label "1" is a number, and the class of this name is a text'):
        bandit.decide([1.0], [1])
    assert bandit.waiting == []


def test_lists_in_a_round_are_read_as_they_were_decided():
    # `predict` took a dictionary of lists for a table of two rows.
    bandit = Bandit("squarecb", labels=["no", "yes"])
    bandit.feedback(bandit.decide({"tags": ["new", "vip"]}).id, True)
    for given in ({"tags": ["new", "vip"]}, {"tags": ["new"]}, {"tags": []}, {"tags": ("new", "vip"), "more": ["x"]}):
        assert bandit.predict(given) in ("no", "yes")
        assert bandit.predict_proba(given).shape == (2,)
        assert bandit.scores([given])[0].tolist() == bandit.scores(given).tolist()
    bandit.decide({"tags": ["new"], "age": 7, "sizes": [1, 2]})
    assert bandit.predict_proba({"tags": ["new", "vip"], "sizes": [1, 2]}).shape == (2,)
    # Columns of numbers, as a data frame is made of.
    assert bandit.predict_proba({"tags": ["new", "vip", "new"], "age": [5, 6, 7]}).shape == (3, 2)


def test_a_row_of_numbers_may_be_in_a_list_or_an_array():
    for x in ([[1.0, 2.0]], np.array([[1.0, 2.0]]), [np.array([1.0, 2.0])]):
        bandit = Bandit("squarecb", labels=["no", "yes"])
        bandit.decide(x)
        assert bandit.features == 2
        with pytest.raises(ValueError, match="x has 2 axes; the numbers of one row were needed, and it has 2 rows"):
            bandit.decide(np.ones((2, 2)).tolist())


# Frames


def test_what_has_the_index_in_another_order_is_said():
    # Labels were looked at in two fronts, weights and rewards in none.
    x, y = rows()
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    labels, ones = pandas.Series(y), pandas.Series(np.ones(200))
    other = {"labels": labels.sample(frac=1, random_state=1), "ones": ones.sample(frac=1, random_state=1)}
    calls = {
        "y": [lambda: Learner("folklore").update(frame, other["labels"]), lambda: Bandit("squarecb").run(frame, other["labels"])],
        "weight": [lambda: Learner("folklore").run(frame, labels, other["ones"])],
        "rewards": [lambda: Bandit("squarecb").learn(frame, labels, other["ones"], ones / 2)],
        "probabilities": [lambda: Bandit("squarecb").learn(frame, labels, ones, other["ones"] / 2)],
    }
    for library in ("noregret.sklearn", "noregret.river"):
        face = pytest.importorskip(library)
        if hasattr(face, "Folklore"):
            calls["y"].append(lambda face=face: face.Folklore().learn_many(frame, other["labels"]))
            calls["w"] = [lambda face=face: face.Folklore().learn_many(frame, labels, other["ones"])]
        else:
            calls["y"] += [lambda face=face: face.FolkloreClassifier().fit(frame, other["labels"])]
            calls["sample_weight"] = [
                lambda face=face: face.FolkloreClassifier().fit(frame, labels, other["ones"]),
                lambda face=face: face.FolkloreClassifier().partial_fit(frame, labels, ["no", "yes"], other["ones"]),
            ]
    for name, all_of in calls.items():
        for call in all_of:
            with pytest.warns(UserWarning, match=f"{name} has the index of [xX] in another order, and rows are matched by their places"):
                call()


def test_columns_that_a_frame_lacks_are_said():
    # The command line said so; a misspelt column was missing in every row without a word.
    face = pytest.importorskip("noregret.sklearn")
    x, y = rows()
    frame = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(kind=y)
    bandit, learner, model = Bandit("squarecb"), Learner("folklore"), face.FolkloreClassifier().fit(frame, y)
    bandit.run(frame, y)
    learner.run(frame, y)
    for each in (bandit, learner, model):
        with pytest.warns(UserWarning, match="x lacks the columns a, kind, missing in every row"):
            each.predict(frame.rename(columns={"a": "A"}).drop(columns="kind"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            each.predict(frame.assign(more=1.0))
            each.predict(frame.to_dict("records"))


def test_blanks_around_the_name_of_a_column_are_no_part_of_it():
    # `a, b` as the first line of a file gives pandas the column " b": a categorical one was refused, and others were said to be missing.
    frame = pandas.DataFrame({"a": [1.0, 2.0] * 20, " b": pandas.Categorical(["x", "y"] * 20), "c\n": [0.5, 1.5, 2.5, 3.5] * 10})
    learner, y = Learner("folklore", categorical=["c\n"]), pandas.Series(["u", "v"] * 20, name=" y")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="x lacks")
        learner.run(frame, y)
        assert learner.roles == {"a": "numeric", "b": "categorical", "c": "categorical", "y": "label"}
        assert (learner.scores(frame) == learner.scores(frame.rename(columns=str.strip))).all()
    with pytest.warns(UserWarning, match="x lacks the column b, missing in every row"):
        learner.predict(frame.drop(columns=" b"))
    assert Learner("folklore").run(frame.assign(**{" y": y}), " y").rates["rounds"] == 40


def test_scikit_learn_keeps_the_order_of_columns_without_texts():
    # scikit-learn looks at names that are texts only.
    face = pytest.importorskip("noregret.sklearn")
    x, y = rows()
    for columns in ([0, 1, 2], [30, 10, 20], pandas.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])):
        frame = pandas.DataFrame(x).set_axis(columns, axis=1)
        for model in (face.FolkloreClassifier().fit(frame, y), face.FolkloreClassifier().partial_fit(frame, y, ["no", "yes"])):
            for ask in (model.predict, lambda other, model=model: model.partial_fit(other, y)):
                with pytest.raises(ValueError, match="they were needed in the order of fit"):
                    ask(frame.iloc[:, [2, 0, 1]])
            assert (model.predict(frame) == model.predict(x)).all()


def test_weights_are_numbers_and_fit_comes_first():
    face = pytest.importorskip("noregret.sklearn")
    x, y = rows()
    with pytest.raises(TypeError, match="weight is 'w'; weights, one for each row, were needed: x"):
        Learner("folklore").update(pandas.DataFrame(x).assign(w=1.0), y, "w")
    with pytest.raises(TypeError, match="weight = '2': must be a number"):
        Learner("folklore", features=3, classes=2).learn_one(x[0], 1, "2")
    for name in ("learner_", "n_rounds_", "params_"):
        with pytest.raises(ValueError, match="is not fitted yet"):
            getattr(face.FolkloreClassifier(), name)


# Columns by their places


@pytest.mark.parametrize("model", [Learner("folklore", features=3, classes=2), Bandit("squarecb", features=3, classes=2)], ids=["learner", "bandit"])
def test_copies_know_the_order_of_columns(model):
    # A pickle, as processes pass it on, had forgotten it; other names were taken for the same; explain had never looked.
    x, y = rows()
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    model.run(frame, (y == "yes").astype(int))
    for same in (model, copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        for other in (frame[["c", "b", "a"]], frame.rename(columns={"b": "z"})):
            for what in (other, other.iloc[0]):
                with pytest.raises(ValueError, match="they were needed in the order of the first table, a, b, c"):
                    same.predict_proba(what)
            with pytest.raises(ValueError, match="they were needed in the order of the first table, a, b, c"):
                same.explain(other if model.name == "folklore" else other.iloc[0])
        assert (same.predict_proba(pandas.DataFrame(x)) == same.predict_proba(frame)).all()


def test_columns_called_by_places_keep_their_order():
    x, y = rows()
    frame = pandas.DataFrame(x)
    learner = Learner("folklore", features=3, labels=["no", "yes"])
    learner.update(frame, y)
    with pytest.raises(ValueError, match="x has the columns 2, 1, 0; they were needed in the order of the first table, 0, 1, 2"):
        learner.predict(frame[[2, 1, 0]])
    named = frame.set_axis(["a", "b", "c"], axis=1)
    assert (learner.predict(named) == learner.predict(x)).all()
    with pytest.raises(ValueError, match="they were needed in the order of the first table, a, b, c"):
        learner.predict(named[["c", "b", "a"]])


@pytest.mark.parametrize(
    "columns",
    [["a", "b", "c"], [10, 20, 30], [0, 1, 2], pandas.date_range("2026-01-01", periods=3), pandas.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])],
    ids=["texts", "numbers", "places", "times", "levels"],
)
def test_a_row_of_a_frame_is_a_row(columns):
    # Rows of frames whose columns are not called by texts were taken for a column of rows, or lacked all columns.
    x, y = rows()
    frame = pandas.DataFrame(x).set_axis(columns, axis=1)
    row, same = frame.iloc[0], frame[:1]
    for model in (Learner("folklore"), Learner("folklore", features=3, labels=["no", "yes"]), Bandit("squarecb"), Bandit("squarecb", features=3, labels=["no", "yes"])):
        model.run(frame, y)
        assert np.allclose(model.predict_proba(row), model.predict_proba(same)[0])
        assert model.predict(row) == model.predict(same)[0]
        if isinstance(model, Bandit):
            assert model.decide(row).label in ("no", "yes")
    bandit = Bandit("squarecb", labels=["no", "yes"])
    bandit.decide(row)
    assert bandit.predict_proba(row).shape == (2,)


def test_columns_that_are_left_out_are_said():
    # The command line said so, and Python left them out without a word.
    x, y = rows()
    frame = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(number=range(200))
    for made in (Learner, Bandit):
        name = "folklore" if made is Learner else "squarecb"
        assert made(name).run(frame, y).notes == ['column "number" is left out: it numbers the rows; named as a numeric column, it is kept']
        assert made(name, drop=["number"]).run(frame, y).notes == []
        kept = made(name, numeric=["number"])
        assert kept.run(frame, y).notes == [] and kept.roles["number"] == "numeric"


# River


def test_lists_in_rows_of_rivers_tables_are_read():
    river = pytest.importorskip("noregret.river")
    frame = pandas.DataFrame({"size": [[1, 2], [3]] * 60, "user": [{"age": 5}, {"age": 7}] * 60, "x": np.arange(120) % 7})
    model = river.Folklore()
    model.learn_many(frame, ["a", "b"] * 60)
    # "the feature size[0] appears twice"
    assert [model.predict_one(row) for row in frame[:4].to_dict("records")] == model.predict_many(frame[:4]).tolist() == ["a", "b", "a", "b"]


def test_rivers_learners_are_used_from_threads():
    # Two classes had one number, and columns were counted twice.
    river = pytest.importorskip("noregret.river")
    for model in (river.Folklore(), river.Auto()):
        wrong = []

        def work(seed, model=model, wrong=wrong):
            rng = np.random.default_rng(seed)
            try:
                for _ in range(300):
                    x = {f"f{at}": float(rng.normal()) for at in rng.integers(40, size=4)}
                    model.predict_proba_one(x)
                    model.learn_one(x, str(rng.integers(12)))
                    model.predict_proba_many(pandas.DataFrame([x]))
            except Exception as why:  # noqa: BLE001, reported below
                wrong.append(why)

        in_threads(work, 3)
        assert wrong == []
        assert model._core.rounds == 900
        assert sorted(model._classes.values()) == list(range(12))
        assert sorted(model._columns.values()) == list(range(40))
        for same in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.clone(include_attributes=True)):
            assert same.predict_proba_one({"f1": 1.0}) == model.predict_proba_one({"f1": 1.0})


# scikit-learn


@pytest.mark.parametrize("count", [300, 1500])
@pytest.mark.parametrize("table", [False, True])
def test_fit_ends_with_trees_of_all_rows(count, table):
    # The booster inside was left with the trees of a part of the rows.
    face = pytest.importorskip("noregret.sklearn")
    x = np.random.default_rng(0).normal(size=(count, 3))
    y = ((x[:, 0] > 0) ^ (x[:, 1] > 0)).astype(int)
    given = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(kind="k") if table else x
    fitted, streamed = face.AutoClassifier().fit(given, y), face.AutoClassifier().partial_fit(given, y, classes=[0, 1])
    for model, changes in ((fitted, False), (streamed, True)):
        for core in (model._core, *getattr(model, "_others", ())):
            before = model.predict_proba(given)
            core.settle()
            assert bool((model.predict_proba(given) != before).any()) is changes


def test_fit_tries_members_for_a_part_of_the_rows():
    # All members were tried for 1,024 rows, which is all that many tables have.
    face = pytest.importorskip("noregret.sklearn")
    x = np.random.default_rng(0).normal(size=(900, 3))
    y = ((x[:, 0] > 0) ^ (x[:, 1] > 0)).astype(int)
    fitted, streamed = face.AutoClassifier().fit(x, y), face.AutoClassifier().partial_fit(x, y, classes=[0, 1])
    assert "+-" in fitted._core.params["members"] and "+-" not in streamed._core.params["members"]


# Tables


def test_columns_of_numbers_are_listed_at_once(monkeypatch):
    # Each cell was asked whether it is missing, too large or nested: half of the time of reading a table of numbers.
    calls = []
    cell = _tables._cell
    monkeypatch.setattr(_tables, "_cell", lambda *given: calls.append(given) or cell(*given))
    numbers = [0.5, np.nan, -0.0, 1e100]
    for kind in (np.float64, np.float32):
        read = _tables.table(pandas.DataFrame({"a": np.array(numbers[:3], dtype=kind)})).cells[0]
        assert [type(value) for value in read] == [float, type(None), float] and str(read[2]) == "-0.0"
    assert _tables.table({"a": np.array(numbers)}).cells == [[0.5, None, -0.0, 1e100]]
    assert calls == []
    # What needs a closer look has it.
    assert type(_tables.table({"a": np.array([0.5], dtype=np.longdouble)}).cells[0][0]) is float
    assert _tables.table({"a": pandas.array([0.5, None], dtype="Float64")}).cells == [[0.5, None]]
    for kind in (np.float64, np.float32):
        with pytest.raises(ValueError, match="column 'a', row 1: inf; a finite number was needed"):
            _tables.table({"a": np.array([0.5, np.inf], dtype=kind)})
    with pytest.raises(ValueError, match=r"column 'a', row 1: -1e\+200; a number of at most 1e\+100 was needed"):
        _tables.table({"a": np.array([0.5, -1e200])})
    assert not _tables.table({"a": ["x", 1, None]}).nests
    assert _tables.table({"a": ["x", {"b": 1}]}).nests and _tables.table({"a": [None, [1, 2]]}).nests


# Arguments


def test_arguments_are_refused_by_name():
    # "failed to extract field Asked.memory", or the refusal came with the first rows.
    for made in (Learner, Bandit):
        with pytest.raises(ValueError, match="memory = '1': must be a whole number from 0"):
            made(memory="1")
        with pytest.raises(TypeError, match="radius = '1': must be a number"):
            made(radius="1")
        for name in ("memory", "seed"):
            with pytest.raises(ValueError, match=f"{name} = None: must be a whole number from 0"):
                made(**{name: None})
        assert made(radius=None, horizon=None, classes=None, features=None, intercept=None).name == "auto"
    with pytest.raises(TypeError, match="exploration_floor = 'x': must be a number"):
        Bandit(exploration_floor="x")
    with pytest.raises(ValueError, match="most_waiting = None: must be a whole number from 0"):
        Bandit(most_waiting=None)
    with pytest.raises(ValueError, match="memory = None: must be a whole number from 0"):
        Bandit.replay("log.ndjson", memory=None)
    with pytest.raises(ValueError, match="most_waiting = -1: must be a whole number from 0"):
        Bandit(most_waiting=-1)
    with pytest.raises(TypeError, match=r"class_weight\['yes'\] = 'a': must be a number"):
        Learner(class_weight={"yes": "a"})
    x, y = rows()
    for model in (Learner("folklore"), Bandit("squarecb")):
        with pytest.raises(ValueError, match="seed = -1: must be a whole number from 0"):
            model.run(x, y, seed=-1)
        with pytest.raises(ValueError, match="column 'a', row 1: about 1e400; a number of at most 1e.100 was needed"):
            model.run([{"a": 1}, {"a": 10**400}], ["yes", "no"])
    face = pytest.importorskip("noregret.sklearn")
    with pytest.raises(ValueError, match="radius = 0: must be a finite number > 0"):
        face.FolkloreClassifier(radius=0).fit(x, y)


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NA], ids=str)
def test_a_first_number_may_be_missing(missing):
    # A first row with None was one of features by name.
    bandit, other = (Bandit("squarecb", labels=["no", "yes"], seed=1) for _ in range(2))
    decisions = bandit.decide([missing, 1.0]), other.decide([0.0, 1.0])
    assert decisions[0] == decisions[1] and bandit.columns == ["0", "1"]
    for each in (bandit, other):
        each.feedback(0, True)
    assert (bandit.scores([missing, 2.0]) == other.scores([0.0, 2.0])).all()


def test_labels_on_offer_may_be_a_frame_of_polars():
    polars = pytest.importorskip("polars")
    bandit = Bandit("offers")
    assert bandit.decide({"user": 1}, polars.DataFrame({"price": [1, 2]})).label in (0, 1)


def test_arrays_to_evaluate_are_numbers_in_one_order():
    from noregret import evaluate_arrays

    series = pandas.Series(np.arange(40) % 2)
    policy = np.full((40, 2), 0.5)
    with pytest.warns(UserWarning, match="rewards has the index of labels in another order"):
        evaluate_arrays(series, series.sample(frac=1, random_state=1), np.full(40, 0.5), policy)
    with pytest.raises(TypeError, match="labels has 'a'; whole numbers from 0 were needed, the places of the policy's columns"):
        evaluate_arrays(["a", "b"], [1, 0], [0.5, 0.5], policy[:2])


# Many machines


def test_parts_of_an_array_with_holes_are_tables():
    # A part without missing numbers was refused beside the others.
    from noregret.cluster import LocalEngine, fit
    from noregret.cluster._fit import split

    x, y = rows(120)
    for at, holes in ((0, x.copy()), (-1, x.copy()), (0, np.column_stack([x.astype(object), y]))):
        holes[at, 0] = None if holes.dtype == object else np.nan
        found = fit(split(holes, y, 3), "folklore", engine=LocalEngine()).learner
        assert (found.predict(holes) == y).mean() > 0.9
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="x has no column 'b', which the first table had"):
        fit([[(frame[:60], y[:60])], [(frame[60:].rename(columns={"b": "B"}), y[60:])]], "folklore", engine=LocalEngine())


def test_sweeps_take_what_learners_take():
    import datetime

    import scipy.sparse

    from noregret.cluster import sweep

    polars = pytest.importorskip("polars")
    x, y = rows(60)
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])

    def errors(data, options=()):
        found = sweep(data, "ogd", {"rate": 0.1}, options=options)
        assert found.failures == []
        return found.runs[0]["errors"]

    days = [datetime.date(2026, 1, 1 + (label == "yes")) for label in y]
    assert errors((x, y)) == errors((scipy.sparse.csr_matrix(x), y)) == errors((x, y[:, None])) == errors((x, days))
    whole = polars.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    assert errors(whole, ["--label", "y"]) == errors((frame, y))
    with pytest.raises(ValueError, match="x has 60 rows and y 59; as many were needed"):
        sweep((frame, y[:-1]), "ogd")
    with pytest.warns(UserWarning, match="y has the index of x in another order"):
        sweep((frame, pandas.Series(y).sample(frac=1, random_state=1)), "ogd")


def test_keyed_learners_take_empty_batches_and_tell_the_order_of_columns(tmp_path):
    from noregret.cluster import KeyedLearners

    x, y = rows(20)
    frame, keys = pandas.DataFrame(x, columns=["a", "b", "c"]), ["s", "t"] * 10
    with KeyedLearners(tmp_path / "one", "folklore", labels=["no", "yes"], actors=1, partitions=2) as keyed:
        # "the table: has a header but no rows"
        assert keyed.learn([], frame[:0], y[:0]).played == []
        keyed.learn(keys, frame, y)
        assert keyed.learn([], frame[:0], y[:0]).played == keyed.predict([], frame[:0]) == []
    with KeyedLearners(tmp_path / "two", "folklore", features=3, labels=["no", "yes"], actors=1, partitions=2) as keyed:
        keyed.learn(keys, frame, y)
        assert keyed.predict(keys, frame[["c", "b", "a"]]) == keyed.predict(keys, frame)
        with pytest.raises(ValueError, match="they were needed in the order of the first table, a, b, c"):
            keyed.get("s").predict(frame[["c", "b", "a"]])
    with pytest.raises(TypeError, match="class_weight: keyed learners take no weights of classes"):
        KeyedLearners(tmp_path / "three", "folklore", labels=["no", "yes"], class_weight={"no": 2.0})
