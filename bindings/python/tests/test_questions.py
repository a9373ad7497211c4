"""Every answer of `docs/questions.md` is tested, sentence by sentence. A question without a test fails."""

import csv
import importlib.metadata
import inspect
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from conftest import ROOT, classes_of, dimension_of, entries, stream
from program import program, sentences, summary

import noregret
from noregret import Bandit, Learner, catalogue

PAGE = (ROOT / "docs" / "questions.md").read_text()
QUESTIONS = re.findall(r"^### (\S.*\?)$", PAGE, re.M)
ANSWERED: dict[str, str] = {}


def answer(question: str) -> Callable[[Any], Any]:
    """Marks the test of an answer."""

    def mark(test: Any) -> Any:
        ANSWERED[question] = test.__name__
        return test

    return mark


def test_every_question_has_a_test():
    assert len(QUESTIONS) > 20 and QUESTIONS == list(ANSWERED)


def test_links_lead_to_headings():
    for target, heading in re.findall(r"\]\(([\w/-]+\.md)(?:#([\w-]+))?\)", PAGE):
        page = (ROOT / "docs" / target).read_text()
        known = [re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in page.splitlines() if line.startswith("#")]
        assert not heading or heading in known, f"{target}#{heading}"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, rows: list[dict[str, Any]]) -> None:
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table(count: int = 120, seed: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Rows whose species follows from `a`, with what more columns hold."""
    rng = np.random.default_rng(seed)
    rows = [{"a": float(a), "hue": ["red", "blue"][int(b > 0)], "species": ["cat", "dog"][int(a > 0)]} for a, b in rng.normal(size=(count, 2)).round(3)]
    return [row | {name: make(at) for name, make in more.items()} for at, row in enumerate(rows)]


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


# Data


@answer("How do I install it, without a compiler?")
def test_install():
    wheel = importlib.metadata.distribution("noregret").read_text("WHEEL")
    # One stable interface serves every later Python.
    assert re.search(r"^Tag: cp310-abi3-", wheel, re.M), wheel
    packages = (ROOT / "xtask" / "src" / "packages.rs").read_text()
    assert "manylinux" in packages and "musllinux" in packages


@answer("Do labels have to be numbers, from 1 or from 0?")
@pytest.mark.parametrize("labels", [["a", "b"], [17, -3], [0.5, 1.5], [True, False], ["01", "1"]], ids=str)
def test_labels(here, labels):
    x, y = stream(60, 2, 2)
    given = [labels[at] for at in y]
    learner = Learner("folklore")
    learner.run(x, given)
    for found in (learner, Bandit("squarecb")):
        if found is not learner:
            found.run(x, given)
        answers = found.predict(x).tolist()
        assert {(type(one), one) for one in answers} == {(type(one), one) for one in labels}
    write("rows.csv", [{"a": row[0], "b": row[1], "label": label} for row, label in zip(x.tolist(), given, strict=True)])
    program("run", "rows.csv", "--learner", "folklore", "--save", "model", "--quiet")
    assert set(lines(program("predict", "model", "rows.csv", text=True))) == {str(label) for label in labels}


@pytest.mark.parametrize(("labels", "why"), [(["1", 1], "is a number, and the class of this name is a text"), (["a", " a"], "but for the blanks around it")], ids=str)
def test_two_labels_of_which_a_model_takes_one(here, labels, why):
    """The text of a number beside the number, and labels that differ by blanks: except in text files, where blanks are no part."""
    x, y = stream(60, 2, 2)
    given = [labels[at] for at in y]
    for learner in (Learner("folklore"), Bandit("squarecb")):
        with pytest.raises(ValueError, match="|".join([why, "is a text, and the class of this name is a number"])):
            learner.run(x, given)
    rows = [{"a": a, "label": label} for (a, _), label in zip(x.tolist(), given, strict=True)]
    Path("rows.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ValueError, match="is a text, and the class|is a number, and the class|but for the blanks"):
        program("run", "rows.ndjson", "--label", "label", "--learner", "folklore", "--quiet")
    write("rows.csv", [row | {"label": "b" if at % 3 == 0 else row["label"]} for at, row in enumerate(rows)])
    program("run", "rows.csv", "--learner", "folklore", "--save", "model", "--quiet")
    assert Learner.load("model").labels == [str(labels[0]).strip(), "b"]


MISSING = ["", "NaN", "NA", "NULL", "?"]


@answer("What about missing values?")
@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet", "arff", "vw", "libsvm", "python"])
def test_missing(here, form):
    """Every third number and every fourth label is missing, in all ways that the format has."""
    x, _ = stream(60, 2, 2)
    labels = [None if at % 4 == 3 else ["cat", "dog"][int(row[0] > 0)] for at, row in enumerate(x)]
    cells = [[None if at % 3 == 2 else row[0], row[1]] for at, row in enumerate(x.tolist())]
    absent = lambda at: MISSING[at % len(MISSING)]
    if form == "python":
        holes = [None, float("nan"), pandas.NA, pandas.NaT, "NA", "NULL", "?"]
        rows = [{"a": holes[at % 7] if a is None else a, "b": b} for at, (a, b) in enumerate(cells)]
        learner = Learner("folklore")
        run = learner.run(rows, [holes[at % 7] if label is None else label for at, label in enumerate(labels)])
        assert learner.labels == ["cat", "dog"] and learner.rounds == 45 and learner.roles["a"] == "numeric"
        assert np.isfinite(run.losses[~np.isnan(run.losses)]).all() and len(run.losses) == 60
        return
    word = [absent(at) if form in ("csv", "ndjson", "parquet") else "nan" if form in ("vw", "libsvm") else "?" for at in range(60)]
    if form in ("vw", "libsvm"):
        bar, names = ("| ", ("a", "b")) if form == "vw" else ("", ("1", "2"))
        head = lambda label: f"{label} " if label else ("nan " if form == "vw" else "")
        text = "".join(f"{head(y)}{bar}{names[0]}:{'nan' if a is None else a} {names[1]}:{b}\n" for (a, b), y in zip(cells, labels, strict=True))
    elif form == "arff":
        rows = "".join(f"{'?' if a is None else a},{b},{y or '?'}\n" for (a, b), y in zip(cells, labels, strict=True))
        text = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute label {cat,dog}\n@data\n" + rows
    else:
        rows = [
            {"a": word[at] if a is None else a, "b": b, "label": word[at] if y is None else y}
            for at, ((a, b), y) in enumerate(zip(cells, labels, strict=True))
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
    Path(f"rows.{form}").write_text(text if form not in ("csv", "parquet") else "")
    if form == "csv":
        write("rows.csv", rows)
    if form == "parquet":
        pandas.DataFrame(rows).astype(str).to_parquet("rows.parquet")
    rates = summary("run", f"rows.{form}", "--learner", "folklore", "--predictions", "told.ndjson", "--save", "model")
    # All rows were predicted, and those with a label learnt; no other classes were found, and no number is a category.
    told = [json.loads(line) for line in Path("told.ndjson").read_text().splitlines()]
    assert rates["rounds"] == 45 and len(told) == 60 and all(one["label"] in ("cat", "dog") for one in told)
    saved = Learner.load("model")
    assert (saved.labels, saved.features) == (["cat", "dog"], 2)


@answer("Do I have to scale the features, or add a constant column?")
def test_scale(here):
    x, y = stream(200, 2, 2)
    rows = [{"a": 1000 * a + 5e4, "b": b / 1000, "label": f"c{label}"} for (a, b), label in zip(x.tolist(), y, strict=True)]
    write("rows.csv", rows)
    said = sentences("run", "rows.csv", "--learner", "folklore", "--save", "model")
    assert "scaling standard, with intercept" in said
    assert "no intercept" in sentences("run", "rows.csv", "--learner", "folklore", "--no-intercept", "--scale", "maxabs")
    assert re.search("scaling +standard", sentences("inspect", "model"))
    # Units do not matter: the same table in other units.
    write("others.csv", [row | {"a": row["a"] / 1000, "b": row["b"] * 1e6} for row in rows])
    program("run", "others.csv", "--learner", "folklore", "--save", "other", "--quiet")
    p = [[line["probabilities"]["c0"] for line in program("predict", *pair, "--probabilities")] for pair in [("model", "rows.csv"), ("other", "others.csv")]]
    np.testing.assert_allclose(*p, atol=1e-6)


def kinds_of_rows(x: Any) -> Iterator[Any]:
    names = [f"c{at}" for at in range(x.shape[1])]
    yield x
    yield x.tolist()
    yield scipy.sparse.csr_matrix(x)
    yield pandas.DataFrame(x, columns=names)
    yield polars.DataFrame(x, schema=names)


@answer("Can I learn and predict many rows at once, from a DataFrame?")
@pytest.mark.parametrize("entry", entries("full", "either"), ids=lambda entry: entry["name"])
def test_many_rows(entry):
    d, k = dimension_of(entry), classes_of(entry)
    x, y = stream(12, d, max(k, 2))
    target = x.sum(axis=1) if k == 1 else y
    for rows in kinds_of_rows(x):
        # The constant feature is left out: one learner takes two features at most.
        learner = Learner(entry["name"], radius=2.0, intercept=False)
        learner.run(rows, target)
        learner.update(rows, target)
        assert len(learner.predict(rows)) == 12
    # Columns are matched by name.
    turned = pandas.DataFrame(x, columns=[f"c{at}" for at in range(d)])[[f"c{at}" for at in reversed(range(d))]]
    np.testing.assert_array_equal(learner.scores(turned), learner.scores(next(iter(list(kinds_of_rows(x))[3:4]))))


@answer("What about a feature that first comes later, as in dictionaries of River or over HTTP?")
def test_a_feature_that_comes_later():
    from noregret.river import Ogd

    late, always = Ogd(), Ogd()
    for at in range(60):
        row, label = {"a": at % 5}, "cat" if at % 2 else "dog"
        late.learn_one(row | ({"b": at % 3} if at > 30 else {}), label)
        always.learn_one(row | {"b": 40 + at % 3}, label)
    forecast = lambda model, **row: model.predict_proba_one({"a": 2} | row)
    # The column begins later, and a row that does not name it has 0 of it.
    assert forecast(late, b=2) != forecast(late) == forecast(late, b=0)
    assert forecast(always) == forecast(always, b=0) != forecast(always, b=None)


@answer("What about a class that was not in the first rows?")
def test_new_classes(here):
    write("head.csv", table())
    write("more.csv", table(90, 1) + [{"a": 9.0, "hue": "red", "species": "newt"}] * 30)
    program("run", "head.csv", "--label", "species", "--save", "model", "--quiet")
    program("run", "more.csv", "--label", "species", "--load", "model", "--save", "model", "--quiet")
    assert set(Learner.load("model").labels) == {"cat", "dog", "newt"}
    learner = Learner("folklore")
    learner.run(*told(table()))
    learner.run(*told(table(30) + [{"a": 9.0, "hue": "red", "species": "newt"}] * 30))
    assert learner.predict({"a": 9.0, "hue": "red"}) == "newt"


def told(rows: list[dict[str, Any]]) -> tuple[pandas.DataFrame, list[str]]:
    return pandas.DataFrame(rows).drop(columns="species"), [row["species"] for row in rows]


# Learning


@answer("Which learning rate, and which other parameters?")
def test_learning_rate(here):
    by_name = {entry["name"]: entry for entry in catalogue()}
    for name in ("auto", "folklore", "aioli", "gaf"):
        names = {param["name"] for param in by_name[name]["params"]}
        assert not {one for one in names if re.search(r"\brate\b|step", one)}, (name, names)
    # Nothing of `auto` has to be given.
    assert all(param["default"] for param in by_name["auto"]["params"])
    write("rows.csv", table())
    # One pass over the data: a pipe can be read once.
    grid = ["compare", "-", "--learners", "ogd,folklore", "--set", "ogd.rate=0.01,0.1,1", "--label", "species", "--format", "csv", "--quiet"]
    grid += ["--set", "classes=2", "--set", "features=3"]
    shown = program(*grid, text=True, stdin=Path("rows.csv").read_text())
    assert len(re.findall(r"^(?:ogd|folklore) ", shown, re.M)) == 4 and "best of its column" in shown and "*" in shown, shown


@answer("How do I weight rows, or rare classes?")
def test_weights(here):
    rows = table(count=100)
    write("rows.csv", [row | {"w": 1.0 + 2.0 * (at % 2)} for at, row in enumerate(rows)])
    program("run", "rows.csv", "--label", "species", "--weight", "w", "--learner", "folklore", "--save", "model", "--quiet")
    x, y = told(rows)
    one, other = Learner("folklore"), Learner("folklore", class_weight={"cat": 5.0})
    one.run(x, y, weight=[1.0 + 2.0 * (at % 2) for at in range(100)])
    asked = [line["probabilities"]["cat"] for line in program("predict", "model", "rows.csv", "--probabilities")]
    np.testing.assert_array_equal(one.predict_proba(x)[:, one.labels.index("cat")], asked)
    other.run(x, y)
    same = Learner("folklore")
    same.run(x, y, weight=[5.0 if label == "cat" else 1.0 for label in y])
    np.testing.assert_array_equal(other.scores(x), same.scores(x))


@answer("What about labels that arrive later, or never?")
def test_late_labels(here):
    write("rows.csv", table() + [{"a": 0.1, "hue": "red", "species": ""}] * 10)
    late = summary("run", "rows.csv", "--label", "species", "--delay", 20, "--learner", "folklore")
    assert late["rounds"] == 120


@answer("What happens under drift?")
def test_drift():
    x, _ = stream(2400, 3, 2, seed=1)
    turned = np.arange(2400) >= 1200
    y = np.where((x[:, 0] > 0) ^ turned, "up", "down")
    auto, fixed = Learner("auto").run(x, y), Learner("folklore").run(x, y)
    assert auto.losses[1800:].mean() < 0.8 * fixed.losses[1800:].mean()
    about = next(entry for entry in catalogue() if entry["name"] == "auto")
    assert re.search("neighbours.{0,30}latest rows", str(about)), about
    # The loss rises behind the change, and the place says where.
    assert 1200 <= np.nanargmax(fixed.drift()) < 1400 and np.nanmax(fixed.drift()) > 5 > np.nanmax(fixed.drift()[:1200])


@answer("Can it forecast a number, or several labels for one row?")
def test_numbers(here):
    x, _ = stream(200, 3, 2)
    write("rows.csv", [{"a": a, "b": b, "c": c, "y": 2 * a - b + 1} for a, b, c in x.tolist()])
    program("run", "rows.csv", "--learner", "vaw", "--quiet", "--save", "model")
    answers = [float(line) for line in lines(program("predict", "model", "rows.csv", text=True))]
    assert np.abs(np.array(answers) - (2 * x[:, 0] - x[:, 1] + 1)).mean() < 0.15
    tags = np.stack([x[:, 0] > 0, x[:, 1] > 0], axis=1)
    each = [Learner("folklore") for _ in range(2)]
    for at, learner in enumerate(each):
        learner.update(x, tags[:, at])
    assert (np.stack([learner.predict(x) for learner in each], axis=1) == tags).mean() > 0.85
    model = pytest.importorskip("noregret.sklearn").FolkloreClassifier()
    assert pytest.importorskip("sklearn.multioutput").MultiOutputClassifier(model).fit(x, tags).score(x, tags) > 0.7
    chain = pytest.importorskip("river.multioutput").ClassifierChain(pytest.importorskip("noregret.river").Folklore())
    rounds = [(dict(zip("abc", row, strict=True)), dict(enumerate(tag))) for row, tag in zip(x.tolist(), tags.tolist(), strict=True)]
    assert np.mean([chain.predict_one(row) == tag for row, tag in rounds if chain.learn_one(row, tag) is None]) > 0.7


# Results


@answer("How do I get probabilities, and why is my log-loss so large?")
def test_probabilities(here):
    write("rows.csv", table(count=300, noise=lambda at: at % 7))
    program("run", "rows.csv", "--label", "species", "--save", "model", "--learner", "folklore", "--quiet", "--report", "page.html")
    assert set(lines(program("predict", "model", "rows.csv", text=True))) == {"cat", "dog"}
    found = program("predict", "model", "rows.csv", "--probabilities")
    assert len(found) == 300 and all(sum(line["probabilities"].values()) == pytest.approx(1) for line in found)
    learner = Learner.load("model")
    x, _ = told(table(count=300, noise=lambda at: at % 7))
    scores = np.exp(learner.scores(x))
    np.testing.assert_allclose(learner.predict_proba(x), scores / scores.sum(axis=1, keepdims=True), atol=1e-12)
    assert "alibration" in Path("page.html").read_text()


@answer("How do I evaluate an online model?")
def test_progressive(here):
    rows = table()
    write("rows.csv", rows)
    said = sentences("run", "rows.csv", "--label", "species", "--learner", "folklore")
    assert all(what in said for what in ("error rate", "log-loss", "naming the commonest", "frequencies' log-loss")), said
    learner = Learner("folklore", features=1, classes=2, radius=5.0)
    x, y = np.array([[row["a"]] for row in rows]), np.array([int(row["species"] == "dog") for row in rows])
    losses = []
    for row, label in zip(x, y, strict=True):
        losses.append(-np.log(learner.predict_proba(row)[label]))
        learner.learn_one(row, int(label))
    run = Learner("folklore", features=1, classes=2, radius=5.0).run(x, y)
    np.testing.assert_allclose(run.losses, losses, rtol=1e-9)


@answer("Why does the same row get another prediction the second time?")
def test_predicting_changes_nothing(here):
    x, y = stream(150, 4, 3)
    bits = []
    for threads in (1, 2):
        learner = Learner("auto", scale="standard", seed=3)
        learner.run(x, y, threads=threads)
        before = pickle.dumps(learner)
        first = learner.predict_proba(x * 100)
        assert pickle.dumps(learner) == before
        np.testing.assert_array_equal(learner.predict_proba(x * 100), first)
        bits.append(first)
    np.testing.assert_array_equal(*bits)


@answer("Which features matter?")
def test_explain(here):
    write("rows.csv", table())
    program("run", "rows.csv", "--label", "species", "--save", "model", "--learner", "folklore", "--quiet")
    columns = program("predict", "model", "rows.csv", "--explain=columns", text=True)
    assert len(re.findall(r"^\W*(?:a|hue)\b", columns, re.M)) == 2, columns
    rows = program("predict", "model", "rows.csv", "--explain")
    assert len(rows) == 120 and {"a", "hue"} <= set(re.findall(r'"(a|hue)"', json.dumps(rows[0])))
    assert set(Learner.load("model").explain({"a": 1.0, "hue": "red"}).columns) == {"a", "hue"}


# Models


@answer("How do I save a model, and continue training?")
def test_saving(here):
    rows = table(200)
    parts = {"whole.csv": rows, "head.csv": rows[:120], "more.csv": rows[120:]}
    for name, part in parts.items():
        write(name, part)
    # Of the first run the second knows what it would otherwise find in its own rows.
    said = ["--label", "species", "--learner", "folklore", "--set", "radius=20", "--quiet"]
    program("run", "whole.csv", *said, "--save", "long")
    program("run", "head.csv", *said, "--save", "model")
    program("run", "more.csv", "--label", "species", "--load", "model", "--save", "model", "--quiet")
    asked = [program("predict", model, "whole.csv", "--probabilities") for model in ("long", "model")]
    assert asked[0] == asked[1]
    # The defaults that come from the first file are shown.
    shown = sentences("inspect", "model")
    assert re.search(r"^learner +folklore: .*radius=20", shown, re.M), shown
    x, y = told(rows)
    long, learner = Learner("folklore", radius=20.0), Learner("folklore", radius=20.0)
    learner.update(x[:120], y[:120], look_ahead=False)
    learner.save("again")
    learner = Learner.load("again")
    learner.update(x[120:], y[120:], look_ahead=False)
    long.update(x, y, look_ahead=False)
    assert (learner.scores(x) == long.scores(x)).all()
    damaged = bytearray(Path("model").read_bytes())
    damaged[-20] ^= 1
    Path("model").write_bytes(damaged)
    with pytest.raises(ValueError, match="checksum|damaged"):
        Learner.load("model")


class Trap:
    """A pickle that writes a file where it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path("sprung").write_text, ("code was executed",)


def test_a_model_of_a_stranger_executes_nothing(here):
    write("rows.csv", table())
    program("run", "rows.csv", "--label", "species", "--learner", "folklore", "--quiet", "--save", "model")
    good, code = Path("model").read_bytes(), pickle.dumps(Trap())
    head = int.from_bytes(good[:8], "little")
    files = {"code": code, "code behind a header": good[: 8 + head] + code, "code behind a model": good + code, "half": good[: len(good) // 2], "nothing": b""}
    # Any byte that differs is found, in the header and in the numbers.
    for at in range(0, len(good), max(1, len(good) // 60)):
        files[f"byte {at}"] = good[:at] + bytes([good[at] ^ 0x11]) + good[at + 1 :]
    for what, content in files.items():
        Path("stranger").write_bytes(content)
        for load in (Learner.load, Bandit.load):
            with pytest.raises(ValueError):
                load("stranger")
            assert not Path("sprung").exists(), what
    for what in ("code", "code behind a header", "half"):
        Path("stranger").write_bytes(files[what])
        for command in (["predict", "stranger", "rows.csv"], ["inspect", "stranger"], ["run", "rows.csv", "--load", "stranger"]):
            with pytest.raises(ValueError, match="stranger"):
                program(*command)
    assert not Path("sprung").exists()
    # A pickle of Python is another thing, which executes what it says.
    pickle.loads(code)
    assert Path("sprung").exists()


@answer("How large is the model?")
def test_size(here):
    write("rows.csv", table())
    sizes = {}
    for name in ("folklore", "ons-diag"):
        program("run", "rows.csv", "--label", "species", "--learner", name, "--save", name, "--quiet")
        sizes[name] = sentences("inspect", name)
        assert re.search(r"^file +[\d.]+ [kM]B", sizes[name], re.M), sizes[name]
    # K² d² and K d numbers: with twice as many columns about four times, or twice, as many, beside what does not grow as fast.
    lengths = {}
    for name, least, most in (("folklore", 2.5, 4.1), ("folklore-diag", 1.5, 2.1)):
        for features in (300, 600):
            learner = Learner(name, features=features, classes=4, radius=1.0)
            learner.update(np.full((2, features), 1 / features), [0, 1])
            lengths[features] = len(pickle.dumps(learner))
        assert least < lengths[600] / lengths[300] < most, (name, lengths)


@answer("How do I learn and predict in turns, in a process that stays?")
def test_turns(here):
    child = subprocess.Popen(
        [sys.executable, "-m", "noregret", "run", "-", "--format", "vw", "--predictions", "-", "--quiet"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1,
    )
    answers = []
    for at in range(6):
        # A blank line is no row.
        child.stdin.write("\n" * (at % 2) + f"{['cat', 'dog'][at % 2]} | a:{at % 2}\n")
        child.stdin.flush()
        # The answer comes before the next row is sent.
        while not answers or answers[-1].startswith(("label", "id")) or len([one for one in answers if not one.startswith(("label", "id"))]) <= at:
            answers.append(child.stdout.readline())
    child.stdin.close()
    assert child.stdout.read() == "" and child.wait(30) == 0
    assert re.search(r"^ +serve ", program("--help", text=True), re.M)
    learner = Learner("folklore", features=1, classes=2, radius=1.0)
    for at in range(6):
        learner.predict([at % 2])
        learner.learn_one([at % 2], at % 2)


# Bandits


@answer("Which exploration, which probability, and how do I add an action?")
def test_exploration(here):
    write("rows.csv", table())
    for floor in (0.0, 0.2):
        log = f"log-{floor}.ndjson"
        program("run", "rows.csv", "--label", "species", "--feedback", "bandit", "--exploration-floor", floor, "--log", log, "--quiet")
        logged = [json.loads(line) for line in Path(log).read_text().splitlines()]
        assert logged[0]["learner"] == "auto" or "auto" in json.dumps(logged[0])
        p = [list(one["p"].values()) if isinstance(one["p"], dict) else one["p"] for one in logged if "p" in one]
        assert len(p) == 120 and all(sum(row) == pytest.approx(1) for row in p)
        if floor:
            assert min(map(min, p)) >= floor - 1e-12
            # Every policy is evaluated: also those that the learner hardly played.
            shares = {label: sum(row["species"] == label for row in table()) / 120 for label in ("cat", "dog")}
            for policy, reward in [*((f"constant:{label}", share) for label, share in shares.items()), ("uniform", 0.5)]:
                found = noregret.evaluate(log, policy)
                estimate = found.estimates["ips"]
                assert found.rounds == 120 and estimate.sequence[0] <= reward <= estimate.sequence[1], policy
        else:
            assert any(0 < min(row) < max(row) < 1 for row in p)
    articles = Bandit("offers", width=64)
    for offer in ({"a": {"topic": "art"}, "b": {"topic": "sport"}}, {"b": {"topic": "sport"}, "c": {"topic": "news"}}):
        assert articles.decide({"likes": "art"}, offer).label in offer


@answer("How do I evaluate a policy from logs?")
def test_evaluation(here):
    write("rows.csv", table())
    program("run", "rows.csv", "--label", "species", "--feedback", "bandit", "--exploration-floor", 0.1, "--log", "log.ndjson", "--quiet")
    assert set(noregret.evaluate("log.ndjson", "uniform").estimates) == {"dm", "dr", "ips", "snips"}


# And four more


@answer("Can I train on shards and merge?")
def test_shards(here):
    rows = table(120)
    write("head.csv", rows[:40])
    program("run", "head.csv", "--label", "species", "--learner", "label-tree", "--save", "start.model", "--quiet")
    for at in range(2):
        write(f"part{at}.csv", rows[40 + at :: 2])
        program("run", f"part{at}.csv", "--label", "species", "--load", "start.model", "--save", f"part{at}.model", "--quiet")
    program("merge", "part0.model", "part1.model", "--output", "tree.model")
    assert set(lines(program("predict", "tree.model", "head.csv", text=True))) <= {"cat", "dog"}
    # Statistics that add up are those of all rows; others are refused.
    for name in ("folklore", "ogd"):
        for at in range(2):
            said = ["--label", "species", "--learner", name, "--scale", "none", "--set", "radius=9", "--quiet"]
            program("run", f"part{at}.csv", *said, "--save", f"{name}{at}.model")
        if name == "folklore":
            program("merge", "folklore0.model", "folklore1.model", "--output", "both.model")
            assert Learner.load("both.model").rounds == 80
        else:
            with pytest.raises(ValueError, match="ogd"):
                program("merge", "ogd0.model", "ogd1.model", "--output", "none.model")
    x, y = stream(60, 3, 3)
    merging = set()
    for entry in catalogue():
        if entry["feedback"] not in ("bandit", "either"):
            continue
        parts = [Bandit(entry["name"], features=3, classes=3, radius=2.0) for _ in range(2)]
        for at, part in enumerate(parts):
            part.run(x[at::2], y[at::2])
        try:
            Bandit.merge(parts)
            merging.add(entry["name"])
        except (ValueError, TypeError):
            pass
    assert merging == {"soba", "soba-diag", "soba-sketch"}


@answer("Do hash collisions hurt me?")
def test_collisions(here):
    write("rows.csv", table())
    program("run", "rows.csv", "--label", "species", "--learner", "folklore", "--save", "model", "--quiet")
    assert Learner.load("model").columns == ["a", "hue=red", "hue=blue"] or set(Learner.load("model").columns) == {"a", "hue=red", "hue=blue"}
    program("run", "rows.csv", "--label", "species", "--learner", "folklore", "--hash-bits", 4, "--save", "hashed", "--quiet")
    assert Learner.load("hashed").features == 16
    rng = np.random.default_rng(0)
    for rows, words in ((80, 4), (200, 100)):
        texts = [[f"w{at}" for at in rng.integers(10**9, size=words)] for _ in range(rows)]
        write("texts.csv", [{"text": " ".join(text), "species": ["cat", "dog"][at % 2]} for at, text in enumerate(texts)])
        program("run", "texts.csv", "--label", "species", "--learner", "ogd", "--save", "words", "--quiet")
        # Of so many words, and of so many pairs, some fall into the same of 2^18 buckets.
        buckets = sum(2**18 * (1 - np.exp(-count / 2**18)) for count in (rows * words, rows * (words - 1)))
        assert Learner.load("words").features == pytest.approx(buckets, rel=0.005)


@answer("Why is my model worse than always naming the commonest class?")
def test_commonest_class(here):
    write("rows.csv", table())
    assert "commonest" in sentences("run", "rows.csv", "--label", "species", "--learner", "folklore")
    assert Learner("folklore").run(*told(table())).baselines()["commonest class"] > 0


@answer("Does it run in several threads?")
def test_threads(here):
    write("rows.csv", table())
    said = ["rows.csv", "--label", "species", "--json", "--quiet", "--threads"]
    for words in (["compare", *said, "{}", "--learners", "ogd,folklore,auto"], ["run", *said, "{}"]):
        found = [program(*[word.format(at) for word in words], text=True) for at in (1, 2)]
        one, other = (re.sub(r'"[a-z_]*second[a-z_]*":[^,}]*|"threads":[^,}]*', "", text) for text in found)
        assert one == other
    # The command line uses all cores, and Python one.
    assert re.search(r"--threads <COUNT>.*?\[default: number of cores\]", program("run", "--help", text=True), re.S)
    for call in (Learner.run, Learner.update):
        assert inspect.signature(call).parameters["threads"].default == 1
    x, y = stream(100, 3, 2)
    runs = [Learner("auto").run(x, y, threads=threads).losses for threads in (1, 2)]
    np.testing.assert_array_equal(*runs)
    sklearn = pytest.importorskip("noregret.sklearn")
    p = [sklearn.AutoClassifier(n_jobs=jobs).fit(x, y).predict_proba(x) for jobs in (1, 2)]
    np.testing.assert_array_equal(*p)
