"""What a model file holds beside the learner: the weights of classes, and the order of columns that count by their places."""

import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import stream
from program import program, sentences

from noregret import Bandit, Learner

pandas = pytest.importorskip("pandas")


@pytest.mark.parametrize("labels", [[0, 1, 2], ["cat", "dog", "newt"], [0.5, 1.0, 2.0], ["01", "1.10", "x"]], ids=str)
@pytest.mark.parametrize("table", [False, True], ids=["array", "table"])
def test_weights_of_classes_are_in_the_model_file(tmp_path, labels, table):
    # A learner that was saved and loaded went on with other weights.
    x, y = stream(60, 2, 3)
    rows, given = pandas.DataFrame(x, columns=["a", "b"]) if table else x, [labels[label] for label in y]
    weights = {labels[1]: 5.0, "later": 2.0}
    learner, plain = Learner("folklore", class_weight={labels[1]: 5.0}), Learner("folklore")
    for each in (learner, plain):
        each.update(rows, given)
    learner.save(tmp_path / "model")
    again, without, others = Learner.load(tmp_path / "model"), Learner.load(tmp_path / "model", class_weight={}), Learner.load(tmp_path / "model", class_weight=weights)
    later = learner.copy()
    for each in (learner, again, others):
        each.update(rows, given)
        np.testing.assert_array_equal(each.scores(rows), learner.scores(rows))
    later._class_weight = None
    for each in (later, without):
        each.update(rows, given)
    np.testing.assert_array_equal(without.scores(rows), later.scores(rows))
    assert (without.scores(rows) != learner.scores(rows)).any()
    # Files without weights are as before.
    plain.save(tmp_path / "plain")
    assert Learner.load(tmp_path / "plain")._class_weight is None


def test_the_command_line_goes_on_with_weights_of_classes(tmp_path):
    x, y = stream(60, 2, 3)
    frame = pandas.DataFrame(x, columns=["a", "b"])
    learner = Learner("folklore", class_weight={1: 5.0, 2: 0.0})
    learner.update(frame, y)
    learner.save(tmp_path / "model")
    assert re.search("^weighted +1 by 5, 2 by 0$", program("inspect", tmp_path / "model", text=True), re.M)
    frame.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    program("run", tmp_path / "rows.csv", "--load", tmp_path / "model", "--save", tmp_path / "more", "--quiet")
    learner.update(frame, y)
    more = Learner.load(tmp_path / "more")
    np.testing.assert_allclose(more.scores(frame), learner.scores(frame), rtol=1e-9)
    assert more._class_weight == {"1": 5.0, "2": 0.0}


def test_weights_of_classes_of_classifiers_are_in_the_file(tmp_path):
    face, river = pytest.importorskip("noregret.sklearn"), pytest.importorskip("noregret.river")
    x, y = stream(60, 2, 2)
    labels = np.array(["cat", "dog"])[y]
    classifier = face.FolkloreClassifier(class_weight={"dog": 3.0}).fit(x, labels)
    classifier.learner_.save(tmp_path / "model")
    assert Learner.load(tmp_path / "model")._class_weight.keys() == {"cat", "dog"}
    one, many = (river.Folklore(class_weight={"dog": 3.0}) for _ in range(2))
    for row, label in zip(x.tolist(), labels.tolist(), strict=True):
        one.learn_one(dict(zip("ab", row, strict=True)), label)
    many.learn_many(pandas.DataFrame(x, columns=["a", "b"]).assign(hue="red"), labels)
    with pytest.warns(UserWarning, match="numbered labels"):
        one.learner.save(tmp_path / "one")
    many.learner.save(tmp_path / "many")
    loaded = Learner.load(tmp_path / "one")
    assert loaded._class_weight == {loaded.labels[list(one._classes).index("dog")]: 3.0}
    assert Learner.load(tmp_path / "many")._class_weight == {"dog": 3.0}


def test_parts_with_other_weights_of_classes_are_not_merged():
    x, y = stream(60, 2, 3)
    parts = [Learner("folklore", features=2, classes=3, class_weight=weights) for weights in ({0: 2.0}, {0: 3.0})]
    for part in parts:
        part.update(x, y)
    with pytest.raises(ValueError, match="class.weight"):
        Learner.merge(parts)
    assert Learner.merge([parts[0], parts[0].copy()])._class_weight == {"0": 2.0}
    for name, why in (("vaw", "forecasts numbers"), ("perceptron", "takes no weights")):
        with pytest.raises(TypeError, match=f"there is no class_weight, since {name} {why}"):
            Learner(name, class_weight={0: 2.0})
    with pytest.raises(ValueError, match=r"class_weight\['a'\] = -1: must be from 0 to 1e\+30"):
        Learner("ogd", class_weight={"a": -1})


@pytest.mark.parametrize("kind", [Learner, Bandit])
def test_model_files_know_the_order_of_columns(tmp_path, kind):
    # A frame with columns in another order was predicted wrongly by a loaded model, and by merged ones.
    x, y = stream(200, 3, 2)
    y = np.array(["no", "yes"])[y]
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    name = "folklore" if kind is Learner else "soba"
    parts = [kind(name, features=3, classes=2, seed=1) for _ in range(2)]
    for part in parts:
        part.run(frame, (y == "yes").astype(int))
    parts[0].save(tmp_path / "model")
    made = [kind.load(tmp_path / "model"), kind.merge(parts)]
    if kind is Learner:
        made.append(parts[0].with_statistics(parts[0].statistics(), 1))
    for model in made:
        with pytest.raises(ValueError, match="they were needed in the order of the first table, a, b, c"):
            model.predict(frame[["c", "b", "a"]])
        assert len(model.predict(frame)) == len(model.predict(x)) == 200
    other = kind(name, features=3, classes=2, seed=1)
    other.run(frame[["c", "b", "a"]], (y == "yes").astype(int))
    with pytest.raises(ValueError, match="the parts have learnt the columns a, b, c and c, b, a; one order was needed"):
        kind.merge([parts[0], other])
    # Rows of arrays have no names, and so have files of before.
    bare = kind(name, features=3, classes=2)
    bare.run(x, (y == "yes").astype(int))
    bare.save(tmp_path / "bare")
    assert kind.load(tmp_path / "bare")._frame is None
    assert len(kind.merge([bare, parts[0]]).predict(frame)) == 200


def test_logs_go_on_from_models_with_the_order_of_columns(tmp_path):
    x, y = stream(200, 3, 2)
    y = np.array(["no", "yes"])[y]
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    bandit = Bandit("squarecb", features=3, labels=["no", "yes"])
    bandit.run(frame, y)
    bandit.save(tmp_path / "model")
    with bandit.log(tmp_path / "log.ndjson"):
        for at in range(5):
            bandit.feedback(bandit.decide(frame.iloc[at]).id, True)
    again = Bandit.replay(tmp_path / "log.ndjson", tmp_path / "model")
    assert (again.scores(x) == bandit.scores(x)).all()


def test_the_learner_of_a_classifier_knows_the_order_of_columns(tmp_path):
    face = pytest.importorskip("noregret.sklearn")
    x, y = stream(200, 3, 2)
    y = np.array(["no", "yes"])[y]
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    learner = face.FolkloreClassifier().fit(frame, y).learner_
    learner.save(tmp_path / "model")
    for each in (learner, Learner.load(tmp_path / "model")):
        with pytest.raises(ValueError, match="they were needed in the order of the first table, a, b, c"):
            each.predict(frame[["c", "b", "a"]])


def test_durations_of_a_frame_are_durations_of_files(tmp_path):
    # The model took the durations of a CSV file for texts that are missing, and those of Parquet for nanoseconds.
    pytest.importorskip("pyarrow")
    x, y = stream(200, 2, 2)
    took = pandas.to_timedelta(600 + 300 * x[:, 0], unit="s").round("s")
    frame = pandas.DataFrame({"took": took, "size": x[:, 1]})
    frame.loc[7, "took"] = pandas.NaT
    learner = Learner("folklore")
    learner.run(frame, np.array(["no", "yes"])[y])
    expected = learner.predict_proba(frame)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    seconds = frame.assign(took=frame["took"].dt.total_seconds())
    for rows in (pandas.read_csv(tmp_path / "rows.csv"), seconds, seconds.astype(str).replace("nan", "")):
        np.testing.assert_allclose(learner.predict_proba(rows[["took", "size"]]), expected, rtol=1e-9)
    learner.save(tmp_path / "model")
    frame.to_parquet(tmp_path / "rows.parquet")
    seconds.to_csv(tmp_path / "seconds.csv", index=False)
    labels = [program("predict", tmp_path / "model", tmp_path / name, text=True) for name in ("rows.csv", "rows.parquet", "seconds.csv")]
    assert labels[0] == labels[1] == labels[2]


def test_lines_of_libsvm_have_the_columns_of_arrays(tmp_path):
    # Arrays have no numbers for their columns; lines that count from 1 were read as if they counted from 0.
    x, y = stream(60, 4, 2)
    learner, rows = Learner("folklore"), np.array([[0.5, -1.0, 1.0, 0.0], [0.25, 0.0, 0.0, 2.0]])
    learner.update(x, y)
    learner.save(tmp_path / "model")
    expected = learner.predict_proba(rows)
    for base in (1, 0):
        lines = ["".join(f" {j + base}:{value}" for j, value in enumerate(row) if value) for row in rows]
        (tmp_path / "rows.svm").write_text("\n".join(line.strip() for line in lines) + "\n")
        words = ("predict", tmp_path / "model", tmp_path / "rows.svm", "--probabilities")
        found = [list(line["probabilities"].values()) for line in program(*words)]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert ("features are taken as numbered from 1" in sentences(*words)) == (base == 1)


def test_a_bandit_begins_with_the_log_of_another_program(tmp_path):
    lines = [f"{1 + t % 2}:{t % 2}:0.5 | hour:{t % 24}" for t in range(200)]
    (tmp_path / "log.vw").write_text("".join(line + "\n" for line in lines))
    words = "run log.vw --feedback bandit --learner squarecb --set oracle=pooled --save begun --quiet"
    done = subprocess.run([sys.executable, "-m", "noregret", *words.split()], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    bandit = Bandit.load(tmp_path / "begun")
    # The first label has cost nothing, the second one 1.
    assert bandit.rounds == 200 and bandit.predict({"hour": 9}) == "1"
    bandit.feedback(bandit.decide({"hour": 9}).id, True)
    assert bandit.rounds == 201
