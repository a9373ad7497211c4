"""Every row of the tables of `docs/how-to/move.md` is tested. A row without a test fails."""

import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from conftest import ROOT, stream
from program import program, sentences, summary

from noregret import Learner, catalogue

river = pytest.importorskip("river")
pytest.importorskip("sklearn")

PAGE = (ROOT / "docs" / "how-to" / "move.md").read_text()
ROWS = [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in PAGE.splitlines() if line.startswith("| ")]
TASKS = [row[0] for row in ROWS if row[0] != "task"]
TESTED: dict[str, str] = {}


def row(task: str) -> Callable[[Any], Any]:
    """Marks the test of the row of this task."""

    def mark(test: Any) -> Any:
        TESTED[task] = test.__name__
        return test

    return mark


def cells(task: str) -> tuple[str, str]:
    """What the other program's cell and ours have in back ticks."""
    theirs, ours = next(row[1:] for row in ROWS if row[0] == task)
    return theirs, ours


def code(cell: str) -> list[str]:
    return [text.replace("\\|", "|") for text in re.findall(r"`([^`]*)`", cell)]


def test_every_row_has_a_test():
    assert len(TASKS) > 15 and TASKS == list(TESTED)


def test_names_of_other_libraries_exist():
    """Of River and scikit-learn, which are installed."""
    for head, package in (("River", "river"), ("scikit-learn", "sklearn")):
        start = ROWS.index(("task", head, "noregret"))
        end = next((at for at in range(start + 1, len(ROWS)) if ROWS[at][0] == "task"), len(ROWS))
        for task, theirs, _ in ROWS[start + 1 : end]:
            for text in code(theirs):
                for name in re.findall(r"(?<!\()\b[A-Za-z_][\w.]*", re.sub(r"\(.*?\)|\"[^\"]*\"", "", text)):
                    assert known(package, name), f"{task}: {name} of {head}"


def known(package: str, name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    if module and module not in ("model", "SGDClassifier"):
        return hasattr(importlib.import_module(f"{package}.{module}"), attribute)
    if module == "model" or (package == "sklearn" and name == "fit"):
        return True
    if package == "sklearn":
        places = ("linear_model", "pipeline", "model_selection")
        return any(hasattr(importlib.import_module(f"sklearn.{place}"), name.split(".")[0]) for place in places)
    return name == "model"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder with ten classes in VW's text."""
    monkeypatch.chdir(tmp_path)
    x, y = stream(120, 3, 10)
    text = "".join(f"{label + 1} | a:{a} b:{b} c:{c}\n" for (a, b, c), label in zip(x.tolist(), y, strict=True))
    Path("data.vw").write_text(text)
    return tmp_path


def model(*words: Any) -> None:
    program("run", "data.vw", "--learner", "ogd", "--save", "model", "--quiet", *words)


# Vowpal Wabbit


@row("multiclass, one pass")
def test_multiclass(here):
    assert code(cells("multiclass, one pass")[1]) == ["noregret run data.vw"]
    rates = summary("run", "data.vw")
    assert (rates["rounds"], rates["learner"]) == (120, "auto")


@row("probabilities")
def test_probabilities(here):
    model()
    found = program("predict", "model", "data.vw", "--probabilities")
    assert len(found) == 120 and all(len(one["probabilities"]) > 4 and sum(one["probabilities"].values()) == pytest.approx(1) for one in found)


@row("choose a learning rate")
def test_nothing_to_choose():
    auto = next(entry for entry in catalogue() if entry["name"] == "auto")
    assert not [param["name"] for param in auto["params"] if "rate" in param["name"]]


@row("second order")
def test_second_order(here):
    assert code(cells("second order")[1]) == ["--learner folklore"]
    rates = summary("run", "data.vw", "--learner", "folklore")
    assert rates["rounds"] == 120
    about = next(entry for entry in catalogue() if entry["name"] == "auto")
    assert "second-order" in str(about), about


@row("save, load")
def test_save_load(here):
    assert code(cells("save, load")[1]) == ["--save model", "--load model"]
    model()
    program("run", "data.vw", "--load", "model", "--save", "model", "--quiet")
    assert Learner.load("model").rounds == 240


@row("test only")
def test_test_only(here):
    assert code(cells("test only")[1]) == ["noregret predict model data"]
    model()
    before = Path("model").read_bytes()
    assert len(program("predict", "model", "data.vw", text=True).splitlines()) == 120 and Path("model").read_bytes() == before


@row("importance of a row")
def test_importance(here):
    theirs, ours = map(code, cells("importance of a row"))
    assert (theirs, ours) == (["1 2.0 | a b"], ["--weight COLUMN"])
    Path("weights.vw").write_text("1 2.0 | a b\n2 0 | b c\n2 | c\n" * 20)
    program("run", "weights.vw", "--learner", "ogd", "--save", "model", "--quiet")
    Path("weights.csv").write_text("a,b,c,w,y\n" + "1,1,0,2,1\n0,1,1,0,2\n0,0,1,1,2\n" * 20)
    program("run", "weights.csv", "--weight", "w", "--learner", "ogd", "--save", "other", "--quiet")
    p = [program("predict", *pair, "--probabilities") for pair in [("model", "weights.vw"), ("other", "weights.csv")]]
    assert p[0] == p[1]


@row("weights by name")
def test_weights_by_name(here):
    model()
    command = code(cells("weights by name")[1])[0].split()
    shown = program(*["data.vw" if word == "data" else word for word in command[1:]], text=True).splitlines()
    assert {line.split(",")[0] for line in shown[1:]} == {"a", "b", "c"}


@row("a process that answers")
def test_a_process_that_answers(here):
    serve, pipe = code(cells("a process that answers")[1])
    assert "--listen" in sentences(*serve.split()[1:], "--help")
    words = [*pipe.split()[1:], "--format", "vw", "--learner", "ogd", "--set", "classes=10", "--set", "features=3", "--quiet"]
    answers = program(*words, text=True, stdin=Path("data.vw").read_text()).splitlines()
    assert len([line for line in answers if line.count(",") == 2]) == 121


@row("contextual bandit from labelled data")
def test_cbify(here):
    assert code(cells("contextual bandit from labelled data")[1]) == ["--feedback bandit"]
    rates = summary("run", "data.vw", "--feedback", "bandit")
    assert (rates["rounds"], rates["learner"]) == (120, "auto") and "expected_error_rate" in rates


@row("contextual bandit from a log")
def test_bandit_from_a_log(here):
    assert code(cells("contextual bandit from a log")[1]) == ["--feedback bandit"]
    Path("log.vw").write_text("".join(f"{at % 3 + 1}:{at % 2}:0.5 | a:{at % 5}\n" for at in range(60)))
    assert summary("run", "log.vw", "--feedback", "bandit")["rounds"] == 60


@row("several slots")
def test_several_slots(here):
    assert code(cells("several slots")[1]) == ["--feedback bandit", "ccb"]
    actions = "ccb action | a\nccb action | b\nccb action | c\n"
    Path("slots.vw").write_text(f"ccb shared | s\n{actions}ccb slot 0:0.5:0.5 0,1 | x\nccb slot 2:0.5:1 2 | y\n\n" * 20)
    assert summary("run", "slots.vw", "--feedback", "bandit")["rounds"] == 40
    slates = "slates action 0 | a\nslates action 0 | b\nslates action 1 | c\nslates slot 0:0.5 | x\nslates slot 0:1 | y\n"
    Path("slates.vw").write_text(f"slates shared 0.5 | s\n{slates}\n" * 20)
    with pytest.raises(ValueError, match="written as ccb"):
        summary("run", "slates.vw", "--feedback", "bandit")


@row("costs of all labels")
def test_costs(here):
    assert code(cells("costs of all labels")[1]) == ["--feedback bandit --costs LEAST..MOST"]
    Path("costs.vw").write_text("".join(f"1:{at % 2} 2:{(at + 1) % 2} 3:4 | a:{at % 2}\n" for at in range(60)))
    assert summary("run", "costs.vw", "--feedback", "bandit", "--costs", "0..4")["rounds"] == 60


@row("off-policy evaluation")
def test_off_policy(here):
    assert code(cells("off-policy evaluation")[1]) == ["noregret evaluate log"]
    program("run", "data.vw", "--feedback", "bandit", "--exploration-floor", 0.02, "--log", "log", "--quiet")
    found = program("evaluate", "log", "--policy", "uniform", "--json")
    assert "dr" in json.dumps(found)
    # Vowpal Wabbit's `cb` file, too.
    Path("log.cb").write_text("".join(f"{at % 2 + 1}:{at % 3 / 2}:0.5 {(at + 1) % 2 + 1} | a:{at % 5}\n" for at in range(60)))
    assert "dr" in json.dumps(program("evaluate", "log.cb", "--policy", "uniform", "--json"))


@row("hashing")
def test_hashing(here):
    model()
    assert Learner.load("model").columns[:3] == ["a", "b", "c"]
    assert code(cells("hashing")[1]) == ["--hash-bits 24"]
    rates = summary("run", "data.vw", "--learner", "ogd", "--hash-bits", 24, "--scale", "unit", "--memory", 8192)
    assert rates["rounds"] == 120


@row("no constant feature")
def test_no_constant(here):
    assert code(cells("no constant feature")[1]) == ["--no-intercept"]
    assert summary("run", "data.vw", "--learner", "ogd", "--no-intercept")["rounds"] == 120


@row("products of features")
def test_products():
    about = next(entry for entry in catalogue() if entry["name"] == "auto")
    assert "of features and their products" in re.sub(r"\s+", " ", str(about)), about


@row("leave namespaces out")
def test_namespaces_are_left_out(here):
    (command,) = code(cells("leave namespaces out")[1])
    Path("data.vw").write_text("1 |a x:1 |b y\n2 |b z |article w\n" * 20)
    subprocess.run(command, shell=True, check=True)
    assert Path("less.vw").read_text() == "1 |b y\n2 |b z \n" * 20
    assert summary("run", "less.vw", "--learner", "ogd")["rounds"] == 40


@row("several passes, cache")
def test_passes():
    x, y = stream(60, 3, 2)
    from noregret.sklearn import AutoClassifier

    assert code(cells("several passes, cache")[1]) == ["AutoClassifier(passes=10)"]
    assert AutoClassifier(passes=10).fit(x[:, :2], y).passes == 10


@row("VW's text format, JSON, dsjson")
def test_formats(here):
    log = '{"_label_cost":-1,"_label_probability":0.5,"_label_Action":1,"_labelIndex":0,"o":[{"v":1,"EventId":"e"}],"a":[1,2],"p":[0.5,0.5],' \
          '"c":{"User":{"age":31},"_multi":[{"A":{"topic":"art"}},{"A":{"topic":"sport"}}]},"EventId":"e"}'
    Path("log.dsjson").write_text(f"{log}\n" * 20)
    rates = summary("run", "log.dsjson", "--feedback", "bandit", "--costs=-1..0")
    assert (rates["rounds"], rates["learner"]) == (20, "offers")
    text = '{{"_label":{},"a":{{"x":{}}}}}\n'
    Path("data.json").write_text("".join(text.format(at % 2 + 1, at % 5) for at in range(40)))
    rates = summary("run", "data.json", "--learner", "folklore")
    assert rates["rounds"] == 40


@row("predict among some labels")
def test_offered(here):
    model()
    Path("some.vw").write_text("1: 3: | a:0.5\n2: 4: 5: | b:1\n")
    answers = program("predict", "model", "some.vw", text=True).splitlines()
    assert answers[0] in "13" and answers[1] in "245"
    assert code(cells("predict among some labels")[1]) == ["--offered COLUMN"]
    x, y = stream(60, 2, 3)
    frame = pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "label": [f"c{label}" for label in y]})
    frame.to_csv("rows.csv", index=False)
    program("run", "rows.csv", "--learner", "folklore", "--save", "model", "--quiet")
    frame.drop(columns="label").assign(shown="c0 c2").to_csv("new.csv", index=False)
    assert set(program("predict", "model", "new.csv", "--offered", "shown", text=True).splitlines()) <= {"c0", "c2"}


# River


def rows_of(count: int = 200) -> list[tuple[dict[str, float], bool]]:
    rng = np.random.default_rng(0)
    return [({"a": float(a), "b": float(b)}, bool(a > b)) for a, b in rng.normal(size=(count, 2))]


def named(task: str) -> Any:
    """The object of the class that our cell names."""
    (text,) = [text for text in code(cells(task)[1]) if text.startswith("noregret.")]
    module, _, name = re.match(r"[\w.]+", text)[0].rpartition(".")
    while not module.startswith("noregret.") or not hasattr(importlib.import_module(module), name):
        module, _, name = module.rpartition(".")
    return getattr(importlib.import_module(module), name)()


@row("model")
def test_model():
    learner = named("model")
    for x, y in rows_of():
        learner.learn_one(x, y)
    assert np.mean([learner.predict_one(x) == y for x, y in rows_of()]) > 0.8


@row("progressive validation")
def test_progressive_validation():
    from river import evaluate, metrics

    assert evaluate.progressive_val_score(rows_of(), named("model"), metrics.Accuracy()).get() > 0.8
    x = np.array([list(row.values()) for row, _ in rows_of()])
    assert Learner().run(x, [y for _, y in rows_of()]).rates["error_rate"] < 0.2


@row("forests")
def test_forests():
    assert type(named("forests")).__name__ == "Auto"
    about = str(next(entry for entry in catalogue() if entry["name"] == "auto"))
    assert "trees" in about and "forest" in about, about


@row("one row")
def test_one_row():
    assert code(cells("one row")[0]) == ["model.learn_one(x, y)"]
    learner = named("model")
    learner.learn_one({"a": 1.0}, "cat")
    assert learner.predict_one({"a": 1.0}) == "cat"


# scikit-learn


def arrays() -> tuple[Any, Any]:
    return stream(200, 4, 3)


@row("online classifier")
def test_online_classifier():
    x, y = arrays()
    assert code(cells("online classifier")[1])[0].endswith(".partial_fit")
    classifier = named("online classifier")
    for at in range(0, 200, 50):
        classifier.partial_fit(x[at : at + 50], y[at : at + 50], classes=[0, 1, 2])
    assert classifier.score(x, y) > 0.5


@row("batch fit")
def test_batch_fit():
    x, y = arrays()
    from noregret.sklearn import AutoClassifier

    order = np.random.default_rng(1).permutation(200)
    one, other = (AutoClassifier(random_state=1).fit(x, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(x), other.predict_proba(x))
    # Rows are shuffled: sorted ones are learnt as well. Small data are learnt in several orders, whose learners are averaged.
    ordered = np.argsort(y, kind="stable")
    assert AutoClassifier().fit(x[ordered], y[ordered]).score(x, y) > 0.5 and len(order) == 200
    assert len(one._others) > 0


@row("pipelines, search")
def test_pipelines():
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from noregret.sklearn import OgdClassifier

    x, y = arrays()
    search = GridSearchCV(make_pipeline(StandardScaler(), OgdClassifier()), {"ogdclassifier__rate": [0.1, 1.0]}, cv=2).fit(x, y)
    assert search.best_params_["ogdclassifier__rate"] in (0.1, 1.0)
    # All checks of scikit-learn's estimators are run by tests/test_sklearn.py.
    assert "estimator_checks_generator" in (Path(__file__).parent / "test_sklearn.py").read_text()


def test_the_sentences_of_the_page(here):
    """What the running text says, beside the blocks that the site's tests run."""
    for sentence in ("a pipeline whose last step is the learner; the earlier steps can be kept", "A fitted classifier can continue learning with `partial_fit`"):
        assert sentence in re.sub(r"\s+", " ", PAGE)
    from river import preprocessing

    pipeline = preprocessing.StandardScaler() | named("model")
    for x, y in rows_of():
        pipeline.learn_one(x, y)
    assert np.mean([pipeline.predict_one(x) == y for x, y in rows_of()]) > 0.8
    from noregret.sklearn import AutoClassifier

    x, y = arrays()
    fitted = AutoClassifier().fit(x, y)
    before = fitted.n_rounds_
    assert fitted.partial_fit(x[:10], y[:10]).n_rounds_ == before + 10
    # The share of tickets that are named wrongly, by River's words and by ours.
    said = re.search(r"names the queue of about (\d+) % wrongly, and `noregret run` on the same column\s+of about (\d+) %", PAGE)
    program("generate", "tickets", "--rows", 1000, "--output", "tickets.csv")
    ours = summary("run", "tickets.csv", "--label", "queue", "--drop", "id,created_at,customer,channel,priority,amount")["error_rate"]
    theirs = subprocess.run([sys.executable, ROOT / "docs" / "how-to" / "river-tickets.py", "tickets.csv"], capture_output=True, text=True, check=True).stdout
    assert 100 * ours == pytest.approx(int(said[2]), abs=1)
    assert 100 * float(re.search(r"error (0\.\d+)", theirs)[1]) == pytest.approx(int(said[1]), abs=1)


def test_flags_of_our_column_exist():
    helps = sentences("run", "--help") + sentences("predict", "--help")
    for _, _, ours in ROWS:
        for flag in re.findall(r"(?<![\w-])--[a-z][\w-]*", " ".join(code(ours))):
            assert flag in helps, flag


def test_signatures():
    """What the running text of the page calls."""
    assert {"classes"} <= set(inspect.signature(importlib.import_module("noregret.sklearn").AutoClassifier.partial_fit).parameters)
