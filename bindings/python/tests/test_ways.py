"""Rows, labels and weights as Python's users have them: what is the same to them is the same here, or it is refused."""

import numpy as np
import pytest
from conftest import signs as rows
from program import program

from noregret import Bandit, Learner

pandas = pytest.importorskip("pandas")


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


# Labels


@pytest.mark.parametrize("wrong", [np.inf, 1e19, -1e19])
def test_a_label_that_is_no_class_is_refused(wrong):
    # It counted as missing, and its row was not learnt.
    x, y = rows()
    learner = Learner("folklore", features=3, classes=2)
    with pytest.raises(ValueError, match=r"y\[1\] = .*: must be a class, a whole number from 0"):
        learner.update(x[:2], [0.0, wrong])
    with pytest.raises(ValueError, match="must be a class"):
        learner.learn_one(x[0], wrong)
    assert learner.rounds == 0


@pytest.mark.parametrize("wrong", [np.uint64(2**63), np.int64(-(2**63))], ids=str)
def test_a_whole_number_that_is_no_class_is_refused(wrong):
    learner = Learner("folklore", features=3, classes=2)
    with pytest.raises(ValueError, match=r"y\[0\] = .*: must be a class"):
        learner.update(rows()[0][:1], np.array([wrong]))
    with pytest.raises(ValueError, match="class"):
        learner.learn_one(rows()[0][0], int(wrong))
    assert learner.rounds == 0


@pytest.mark.parametrize(
    "labels",
    [[1, 2, float("nan")], [2**53, 2**53 + 1, float("nan")], [2**53, 2**53 + 1, 0.5], [-1, 2**63, 3], ["a\0", "b", "c"], [1, 2.5, 3], [True, 1.0, 2.0]],
    ids=str,
)
def test_labels_of_a_list_come_back_as_they_are(labels):
    # NumPy makes reals of whole numbers beside a real or a missing one, and cuts texts.
    x = np.eye(3)[np.arange(90) % 3]
    learner = Learner("folklore")
    run = learner.run(x, labels * 30)
    named = [label for label in labels if label == label]
    assert [(type(label), label) for label in learner.predict(np.eye(3)[: len(named)]).tolist()] == [(type(label), label) for label in named]
    assert {type(label) for label in run.labels} == {type(label) for label in named}


def test_numbers_are_no_places_among_texts_of_digits():
    # The label 1 was the second one, "2".
    x, _ = rows()
    for bandit in (Bandit("squarecb", features=3, labels=["1", "2", "3"]), Bandit("squarecb", labels=["1", "2", "3"])):
        with pytest.raises(ValueError, match='the label "1" is a number, and the class of this name is a text'):
            bandit.learn(x[:2], [1, 2], [1, 0], [0.5, 0.5])
    bandit = Bandit("squarecb", features=3, labels=["1", "2", "3"])
    with pytest.raises(ValueError, match='the label "1" is a number'):
        bandit.run(x[:2], [1, 2])
    bandit = Bandit("squarecb", features=3, labels=["a", "b"])
    bandit.learn(x[:2], [1, 0], [1, 0], [0.5, 0.5])
    assert bandit.predict(x[0]) == "b"


# Weights of classes


@pytest.mark.parametrize("keys", [1, 1.0, "1", np.int64(1), np.float32(1)], ids=repr)
@pytest.mark.parametrize("dtype", [int, float, "Int64", object])
def test_class_weights_find_equal_numbers(keys, dtype):
    x, y = rows()
    y = pandas.Series((y == "yes").astype(int)).astype(dtype)
    plain, weighted = Learner("folklore"), Learner("folklore", class_weight={keys: 20.0})
    for learner in (plain, weighted):
        learner.run(x, y)
    assert weighted.predict_proba(x)[:, 1].mean() > plain.predict_proba(x)[:, 1].mean() + 0.02


def test_class_weights_of_no_class_are_said():
    x, y = rows()
    with pytest.warns(UserWarning, match="class_weight has a weight for 'maybe', which is no label so far: there are no, yes"):
        Learner("folklore", class_weight={"maybe": 5.0}).update(x, y)
    with pytest.warns(UserWarning, match="which is no label so far"):
        Learner("folklore", class_weight={"maybe": 5.0}).update(pandas.DataFrame(x), y)
    for made in ({"features": 3, "classes": 2}, {"labels": ["no", "yes"]}):
        with pytest.raises(ValueError, match="class_weight has a weight for '7', which is no label: there are"):
            Learner("folklore", class_weight={7: 5.0}, **made)
    with pytest.raises(TypeError, match="class_weight is 'balanced'; a dictionary of labels and weights was needed"):
        Learner("folklore", class_weight="balanced")


def test_rivers_class_weights_are_a_dictionary():
    river = pytest.importorskip("noregret.river")
    with pytest.raises(TypeError, match="class_weight = 'balanced': must be a dictionary"):
        river.Folklore(class_weight="balanced")


# Rows


def test_named_rows_are_matched_by_name():
    x, y = rows()
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    other = frame[["c", "b", "a"]]
    for model in (Learner("folklore"), Bandit("squarecb")):
        model.run(frame, y)
        assert (model.scores(list(other.itertuples(index=False))) == model.scores(frame)).all()
        assert (model.scores([row for _, row in other[:5].iterrows()]) == model.scores(frame[:5])).all()
        first = model.scores(frame[:1])[0]
        assert np.allclose(model.scores(next(other.itertuples(index=False))), first)
    learner = Learner("folklore")
    learner.update(list(frame.itertuples()), y)
    assert learner.roles["Index"] == "drop"
    bandit = Bandit("squarecb", labels=["no", "yes"])
    bandit.decide(next(frame.itertuples(index=False)))
    assert bandit.columns[:3] == ["a", "b", "c"]


def test_one_row_of_lists_is_one_row():
    bandit = Bandit("squarecb", labels=["no", "yes"])
    assert bandit.decide({"tags": ["new", "vip"]}).label in ("no", "yes")
    learner = Learner("folklore", labels=["no", "yes"])
    learner.learn_one({"tags": ["new", "vip"]}, "yes")
    assert learner.rounds == 1


def test_files_and_tables_in_a_list_are_no_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,no\n")
    for model in (Learner("folklore"), Bandit("squarecb")):
        for given in (path, str(path)):
            with pytest.raises(TypeError, match=r"a file; rows were needed: pandas.read_csv reads them, .*: Learner.load or Bandit.load goes on"):
                model.run(given, "y")
        with pytest.raises(TypeError, match="x has tables as its rows, the first of type DataFrame"):
            model.run([pandas.DataFrame({"a": [1.0]})], ["no"])
    with pytest.raises(TypeError, match="y is 'z'; labels, one for each row, were needed, or the column of a table that has them; the columns are 'a', 'y'"):
        Bandit("squarecb").run(pandas.DataFrame({"a": [1.0], "y": ["no"]}), "z")
    with pytest.raises(TypeError, match=r"x\[1\] is None; a dictionary was needed"):
        Learner("folklore").run([{"a": 1.0}, None], ["no", "yes"])
    with pytest.raises(TypeError, match="it has 'x', in row 1, column 0"):
        Learner("folklore", features=2, classes=2).update(np.array([[1, 2], ["x", 3]], dtype=object), [0, 1])
    x, y = rows()
    assert Learner("folklore").run(iter(x), iter(y), (1.0 for _ in y)).rates["rounds"] == 200


def test_rivers_columns_have_names_of_their_own():
    river = pytest.importorskip("noregret.river")
    with pytest.raises(ValueError, match="column 'a' appears twice"):
        river.Folklore().learn_many(pandas.DataFrame([[1.0, 2.0]], columns=["a", "a"]), ["yes"])


# Bandits


def test_the_refusal_of_a_label_lists_the_labels():
    bandit = Bandit("squarecb", features=1, labels=["a", "b"])
    for ask in (bandit.decide, bandit.predict, bandit.explain):
        with pytest.raises(ValueError, match="the label \"z\" is none of the bandit's; its labels are a, b"):
            ask([1.0], ["a", "z"])
    with pytest.raises(ValueError, match=r"offered\[0\]: the label \"z\" is none of the bandit's; its labels are a, b"):
        bandit.learn([[1.0]], ["a"], [1], [0.5], [["a", "z"]])


@pytest.mark.parametrize(("rewards", "probabilities", "what"), [([1, 5], [0.5, 0.5], r"rewards\[1\] = 5"), ([1, 1], [0.5, 0], r"probabilities\[1\] = 0")])
def test_nothing_is_learnt_of_rounds_that_are_refused(rewards, probabilities, what):
    # Labels with features of their own had other sentences.
    whole = {"rewards": "from 0 to 1, or between the worst and the best", "probabilities": "at least 1e-100 and at most 1"}[what.split("\\")[0]]
    for bandit in (Bandit("offers"), Bandit("squarecb", features=1, labels=["a", "b"])):
        x = [{"x": 1}, {"x": 2}] if bandit.name == "offers" else [[1.0], [2.0]]
        with pytest.raises(ValueError, match=f"{what}: must be {whole}"):
            bandit.learn(x, ["a", "b"], rewards, probabilities, [["a", "b"]] * 2)
        assert bandit.rounds == 0


def test_ids_of_a_column_with_a_missing_one_are_reals():
    bandit = Bandit("squarecb", features=1, labels=["a", "b"])
    bandit.feedback(np.float64(bandit.decide([1.0]).id), True)
    assert bandit.rounds == 1


def test_obp_refuses_what_it_would_leave_out():
    obp = pytest.importorskip("noregret.obp")
    policy = obp.BanditPolicy("squarecb", dim=1, n_actions=3)
    x, one = np.ones((4, 1)), np.ones(4)
    for wrong in ({"position": one}, {"position": -one}, {"action": one * 1.5}, {"action": one * 3}):
        with pytest.raises(ValueError, match="must be a whole number from 0 to"):
            policy.fit(**{"context": x, "action": one, "reward": one, "pscore": one / 3, **wrong})
    with pytest.raises(ValueError, match="reward has 3 rounds; action has 4"):
        policy.fit(x, one, one[:3], pscore=one / 3)
    right_or_wrong = obp.BanditPolicy("banditron", dim=1, n_actions=3)
    for reward, said in ((0.3, "must be 0 or 1, since banditron learns from right and wrong only"), (float("nan"), "must be from 0 to 1")):
        action = int(right_or_wrong.select_action(x[:1])[0])
        with pytest.raises(ValueError, match=said):
            right_or_wrong.update_params(action, reward, x[:1])
    from noregret import evaluate_arrays

    with pytest.raises(ValueError, match="policy has one position, and position has others"):
        evaluate_arrays([0, 1], [1, 0], [0.5, 0.5], np.full((2, 2), 0.5), position=[0, 1])


def test_coba_refuses_actions_that_never_come_again():
    pytest.importorskip("coba")
    from noregret.coba import BanditLearner

    learner = BanditLearner("squarecb")
    for at in range(200):
        learner.predict([1.0], [at % 3, at % 3 + 0.5])
    with pytest.raises(ValueError, match=r'all actions were new in each of 21 rounds.*BanditLearner\("offers"\)'):
        for at in range(200):
            learner.predict([1.0], [100 + at, 100.5 + at])
    offers = BanditLearner("offers")
    for at in range(30):
        played, more = offers.predict([1.0], [at, at + 0.5])
        offers.learn([1.0], played["action_prob"][0], 1.0, played["action_prob"][1], **more)


# Keys


def test_keys_are_numbers_or_texts(tmp_path):
    from noregret.cluster import KeyedLearners

    x = [[1.0]]
    with KeyedLearners(tmp_path, "ogd", features=1, labels=["no", "yes"], actors=1, partitions=4) as keyed:
        keyed.learn([1, 2.0, np.int64(2)], x * 3, ["no", "yes", "no"])
        assert len(keyed) == 2
        assert keyed.get(2).rounds == keyed.get(2.0).rounds == 2
        with pytest.raises(ValueError, match="keys: '1' is a text and 1 is none"):
            keyed.learn(["1"], x, ["no"])
        with pytest.raises(ValueError, match="keys: '1e-07' is a text and 1e-07 is none"):
            keyed.learn(["1e-07", 1e-07], x * 2, ["no", "yes"])
        keyed.learn(["shop 7"], x, ["no"])
        assert len(keyed) == 3
    with KeyedLearners(tmp_path, "ogd", features=1, labels=["no", "yes"], actors=1, partitions=4) as again:
        for asked in (lambda: again.learn(["1"], x, ["no"]), lambda: again.predict(["1"], x)):
            with pytest.raises(ValueError, match="keys: '1' is a text and 1 is none"):
                asked()
        again.learn([1.0], x, ["no"])
        assert len(again) == 3 and again.get(1).rounds == 2
    (tmp_path / "keys.json").unlink()  # A store of an earlier version has kept no types.
    with KeyedLearners(tmp_path, "ogd", features=1, labels=["no", "yes"], actors=1, partitions=4) as earlier:
        earlier.learn(["1"], x, ["no"])
        assert len(earlier) == 3 and earlier.get("1").rounds == 3


# scikit-learn


def test_texts_are_no_classes_of_numbers():
    face = pytest.importorskip("noregret.sklearn")
    x, y = rows()
    model = face.FolkloreClassifier().fit(x, (y == "yes").astype(int))
    with pytest.raises(ValueError, match=r"y\[0\] = 'yes': must be one of the classes array\(\[0, 1\]\): a text is no number"):
        model.partial_fit(x, np.where(y == "yes", "yes", "yes"))


@pytest.mark.parametrize("weights", [{"yes": 20.0}, "balanced"], ids=str)
@pytest.mark.parametrize("table", [False, True])
def test_the_learner_underneath_has_the_weights_of_classes(weights, table, tmp_path):
    face = pytest.importorskip("noregret.sklearn")
    x, y = rows()
    x = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(kind="k") if table else x
    model = face.FolkloreClassifier(class_weight=weights).fit(x, y)
    learner = model.learner_
    assert learner._class_weight["yes"] == (20.0 if weights != "balanced" else pytest.approx(200 / 2 / (y == "yes").sum()))
    learner.save(tmp_path / "model")
    assert Learner.load(tmp_path / "model")._class_weight == learner._class_weight
    assert learner.predict(x).tolist() == model.predict(x).tolist()


# Equal numbers, classes of learners, arguments


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize(("first", "later"), [([0, "a"], [0.0, "a"]), ([0.0, "a"], [0, "a"]), ([0.5, 2, True], [0.5, 2.0, True])])
def test_equal_numbers_beside_texts_are_one_class(table, first, later):
    x = np.eye(len(first))[np.arange(90) % len(first)]
    x = pandas.DataFrame(x) if table else x
    learner = Learner("folklore")
    learner.update(x, first * (90 // len(first)))
    learner.update(x[: len(first)], later)
    assert learner.classes == len(first)
    assert [(type(label), label) for label in learner.predict(x[: len(first)]).tolist()] == [(type(label), label) for label in first]


def test_equal_numbers_are_one_label_of_a_bandit():
    x, _ = rows()
    bandit = Bandit("squarecb", features=3, labels=[1, 2])
    assert bandit.decide(x[0], [2.0]).label == 2
    bandit.learn(x[:2], [1.0, 2.0], [1, 0], [0.5, 0.5])
    bandit.run(x[:2], np.array([1.0, np.nan]))
    numbered = Bandit("squarecb", features=3, classes=2)
    numbered.learn(x[:2], [1.0, 0.0], [1, 0], [0.5, 0.5])
    with pytest.raises(ValueError, match=r"y\[0\] = 0.5: must be a class"):
        numbered.learn(x[:1], [0.5], [1], [0.5])
    with pytest.raises(ValueError, match="labels has 0 and 0.0; every label needs a name of its own"):
        Bandit("squarecb", features=3, labels=[0, 0.0])


def test_a_class_of_its_own_takes_its_own_models(tmp_path):
    from noregret.bandits import Soba
    from noregret.learners import Folklore, Ogd

    x, y = rows()
    learner = Learner("folklore")
    learner.update(x, y)
    learner.save(tmp_path / "model")
    assert Folklore.load(tmp_path / "model").rounds == 200
    with pytest.raises(ValueError, match="Ogd: the model is one of folklore, and not of ogd; Learner takes all"):
        Ogd.load(tmp_path / "model")
    bandit = Bandit("squarecb", features=3, labels=["no", "yes"])
    bandit.save(tmp_path / "bandit")
    with pytest.raises(ValueError, match="Soba: the model is one of squarecb, and not of soba; Bandit takes all"):
        Soba.load(tmp_path / "bandit")


def test_arguments_are_what_they_say():
    x, y = rows()
    for model in (Learner, Bandit):
        for name in ("intercept", "sparse"):
            with pytest.raises(TypeError, match=f"{name} = 'no': must be True or False"):
                model(**{name: "no"})
        with pytest.raises(ValueError, match="horizon = -1: must be a whole number from 0"):
            model(horizon=-1)
    learner = Learner("folklore")
    run = learner.run(x, y)
    for call in (lambda: learner.predict_top(x, 1.5), lambda: run.windows(-1), lambda: run.drift(-1)):
        with pytest.raises(ValueError, match="must be a whole number from 0"):
            call()


# Shards and keyed learners


def test_shards_keep_labels_and_names():
    from noregret.cluster import LocalEngine, fit
    from noregret.cluster._fit import split

    x, y = rows(120)
    mixed = [1 if label == "yes" else "none" for label in y]
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    found = fit(split(x, mixed, 2), "folklore", engine=LocalEngine()).learner
    assert {(type(label), label) for label in found.predict(x).tolist()} == {(int, 1), (str, "none")}
    by_name = fit(split(frame, mixed, 2), "folklore", engine=LocalEngine()).learner
    for same in (frame.to_dict("records"), frame.to_dict("list"), list(frame[["c", "b", "a"]].itertuples(index=False))):
        learner = fit(split(same, mixed, 2), "folklore", engine=LocalEngine()).learner
        assert sorted(learner.feature_names_in_) == ["a", "b", "c"]
        assert learner.predict(frame).tolist() == by_name.predict(frame).tolist()


def test_keyed_learners_take_arrays_by_the_first_tables_order(tmp_path):
    from noregret.cluster import KeyedBandits, KeyedLearners

    x, y = rows()
    frame = pandas.DataFrame(x, columns=[2, 0, 1])
    numbers = (y == "yes").astype(float)
    with KeyedLearners(tmp_path / "learners", "folklore", labels=[0, 1], actors=1, partitions=4) as keyed:
        keyed.learn(["a"] * 200, frame, numbers)
        wanted = keyed.predict(["a"] * 200, frame)
        assert keyed.predict(["a"] * 200, x) == wanted
        with pytest.raises(ValueError, match="x has 2 columns; the 3 of the first table were needed"):
            keyed.predict(["a"], x[:1, :2])
    with KeyedBandits(tmp_path / "bandits", "squarecb", features=1, labels=["no", "yes"], actors=1, partitions=4) as bandits:
        ((_, _, id),) = bandits.decide(["a"], [[1.0]])
        assert bandits.feedback(["a"], [float(id)], [True]) == [True]


# What a file does not say


def test_truth_values_are_one_and_zero():
    y = ["small", "large"] * 100
    truth = [True, False] * 100
    for made, given in ((truth, [1, 0]), (truth, [1.0, 0.0]), (pandas.Categorical([1, 0] * 100), [True, False]), ([1, 0] * 100, [True, False])):
        learner = Learner("folklore")
        learner.update(pandas.DataFrame({"new": made, "x": np.arange(200) % 7}), y)
        known = learner.scores(pandas.DataFrame({"new": made[:2], "x": [0, 0]}))
        assert (learner.scores(pandas.DataFrame({"new": given, "x": [0, 0]})) == known).all()
        assert (known[0] != known[1]).all()


def test_labels_of_a_file_without_types_stay_texts(tmp_path):
    rows = pandas.DataFrame({"a": [1.0, 2.0, 3.0] * 40, "y": [1, 2, 3] * 40})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    program("run", tmp_path / "rows.csv", "--label", "y", "--learner", "folklore", "--save", tmp_path / "model")
    learner = Learner.load(tmp_path / "model")
    learner.update(rows[["a"]][:1], rows["y"][:1])
    assert learner.classes == 3
    assert {type(label) for label in learner.predict(rows[:3]).tolist()} == {str}
