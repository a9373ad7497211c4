"""The conformance table: the same rows through every front. Each cell has the bits of the CSV file, or a refusal, or says why it
does not apply. `docs/fronts.md` is the table; `NOREGRET_WRITE=1 pytest tests/test_fronts.py` writes it.

A situation joins by one entry of SITUATIONS, a front by one of FRONTS.
"""

import csv
import datetime
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from noregret import Bandit, Learner

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

PAGE = ROOT / "docs" / "fronts.md"
LEARNER = "folklore"


@dataclass(frozen=True)
class Situation:
    """Rows and labels, and whether they are played (the label is only revealed as right or wrong)."""

    rows: list[dict[str, Any]]
    labels: list[Any]
    weights: list[float] | None = None
    later: list[dict[str, Any]] | None = None
    """The rows that are forecast afterwards; the first twelve if None."""
    played: bool = False

    @property
    def asked(self) -> list[dict[str, Any]]:
        return self.rows[:12] if self.later is None else self.later

    @property
    def is_numeric(self) -> bool:
        return all(isinstance(cell, int | float) and not isinstance(cell, bool) for row in self.rows for cell in row.values())


class Inapplicable(Exception):
    """Why a cell does not apply."""


RNG = np.random.default_rng(0)
SIDE = RNG.normal(size=(120, 2)).round(3)
UP = [bool(a > 0) for a, _ in SIDE]
NUMBERS = [{"a": float(a), "b": float(50 * b)} for a, b in SIDE]
HUES = [row | {"hue": "red" if up else ["blue", "green"][at % 2]} for at, (row, up) in enumerate(zip(NUMBERS, UP, strict=True))]


def named(no: Any, yes: Any) -> list[Any]:
    return [yes if up else no for up in UP]


def with_holes(rows: list[dict[str, Any]], name: str, hole: Any = None) -> list[dict[str, Any]]:
    return [row | ({name: hole} if at % 6 == 0 else {}) for at, row in enumerate(rows)]


START = datetime.datetime(2026, 3, 1, 6, 30)
SITUATIONS = {
    "numbers, labels that are texts": Situation(NUMBERS, named("down", "up")),
    "labels that are whole numbers": Situation(NUMBERS, named(3, 12)),
    "labels that are real numbers": Situation(NUMBERS, named(0.5, 1.5)),
    "labels that are true and false": Situation(NUMBERS, named(False, True)),
    "labels that are texts of digits": Situation(NUMBERS, named("7", "12")),
    "labels that are other writings of numbers": Situation(NUMBERS, named("01", "1.10")),
    "labels that are words for missing ones": Situation(
        HUES, ["n/a" if at % 5 == 0 else label for at, label in enumerate(named("down", "up"))]
    ),
    "missing categories that are words": Situation(with_holes(HUES, "hue", "NA"), named("down", "up")),
    "categories": Situation(HUES, named("down", "up")),
    "missing labels": Situation(HUES, [None if at % 5 == 0 else label for at, label in enumerate(named("down", "up"))]),
    "missing numbers": Situation(with_holes(HUES, "b"), named("down", "up")),
    "missing numbers that are NaN": Situation(with_holes(HUES, "b", math.nan), named("down", "up")),
    "missing categories": Situation(with_holes(HUES, "hue"), named("down", "up")),
    "a category that is new afterwards": Situation(HUES, named("down", "up"), later=[HUES[0] | {"hue": "mauve"}, *HUES[1:4]]),
    "a column that is absent afterwards": Situation(HUES, named("down", "up"), later=[{"b": row["b"], "hue": row["hue"]} for row in HUES[:4]]),
    "times": Situation(
        [row | {"at": START + datetime.timedelta(hours=7 * at)} for at, row in enumerate(NUMBERS)], named("down", "up")
    ),
    "free text": Situation(
        [{"text": f"{'the parcel never came' if up else 'please refund my invoice'} case {at}"} for at, up in enumerate(UP)],
        named("refund", "parcel"),
    ),
    "weights": Situation(HUES, named("down", "up"), weights=[0.5 + at % 3 for at in range(120)]),
    "a column of one value": Situation([row | {"one": 1.0} for row in NUMBERS], named("down", "up")),
    "a number that is infinite": Situation(with_holes(NUMBERS, "b", math.inf), named("down", "up")),
    "played: numbers": Situation(NUMBERS, named("down", "up"), played=True),
    "played: categories and missing numbers": Situation(with_holes(HUES, "b"), named("down", "up"), played=True),
    "played: labels that are whole numbers": Situation(HUES, named(3, 12), played=True),
    "played: missing labels": Situation(
        HUES, [None if at % 5 == 0 else label for at, label in enumerate(named("down", "up"))], played=True
    ),
}


# Fronts


def program(*words: Any, stdin: str = "") -> list[dict[str, Any]]:
    done = subprocess.run([sys.executable, "-m", "noregret", *map(str, words)], input=stdin, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().splitlines()[-1])
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def text_of(cell: Any) -> Any:
    return "" if cell is None or (isinstance(cell, float) and math.isnan(cell)) else cell


def columns(case: Situation, rows: list[dict[str, Any]], learns: bool) -> dict[str, list[Any]]:
    found = {name: [row.get(name) for row in rows] for name in rows[0]}
    if learns:
        found["label"] = case.labels
        if case.weights is not None:
            found["weight"] = case.weights
    return found


def write_csv(path: Any, case: Situation, rows: Any, learns: bool) -> None:
    table = columns(case, rows, learns)
    with open(path, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(table)
        writer.writerows([map(text_of, row) for row in zip(*table.values(), strict=True)])


def write_ndjson(path: Any, case: Situation, rows: Any, learns: bool) -> None:
    table = columns(case, rows, learns)
    cell = lambda value: str(value) if isinstance(value, datetime.datetime) else None if text_of(value) == "" else value
    with open(path, "w") as out:
        for row in zip(*table.values(), strict=True):
            out.write(json.dumps(dict(zip(table, map(cell, row), strict=True))) + "\n")


def write_parquet(path: Any, case: Situation, rows: Any, learns: bool) -> None:
    parquet.write_table(pyarrow.table(columns(case, rows, learns)), path)


def command_line(extension: str, write: Callable[..., None]) -> Callable[..., Any]:
    """Files of a format, learnt and predicted by the command line."""

    def run(case: Situation, folder: Any) -> Any:
        learnt, asked, model = (folder / f"{name}.{extension}" for name in ("learnt", "asked", "model"))
        write(learnt, case, case.rows, True)
        write(asked, case, case.asked, False)
        words = ["--label", "label", "--json", "--quiet", "--save", model]
        words += ["--weight", "weight"] if case.weights is not None else []
        words += ["--feedback", "bandit", "--learner", "squarecb"] if case.played else ["--learner", LEARNER]
        rates = program("run", learnt, *words)[-1]
        lines = program("predict", model, asked, "--probabilities")
        p = [list(line["probabilities"].values()) for line in lines]
        names = list(lines[0]["probabilities"])
        return rates["expected_error_rate"] if case.played else rates["log_loss"], names, p

    return run


def learner(convert: Callable[[list[dict[str, Any]]], Any], *, arrays: bool = False, again: bool = False) -> Callable[..., Any]:
    """Rows of a kind, learnt by `Learner` or `Bandit`; `again`: saved and loaded before it predicts."""

    def run(case: Situation, folder: Any) -> Any:
        if arrays and not case.is_numeric:
            raise Inapplicable("an array has numbers only")
        if arrays and case.later is not None:
            raise Inapplicable("the columns of an array have no names")
        kind = Bandit if case.played else Learner
        model = kind("squarecb" if case.played else LEARNER)
        weights = {} if case.weights is None else {"weight": case.weights}
        rates = model.run(convert(case.rows), case.labels, **weights).rates
        given = {type(label) for label in case.labels if label is not None}
        if again:
            model.save(folder / "saved")
            model = kind.load(folder / "saved")
        one = model.predict(convert(case.asked))[0]
        assert again or type(getattr(one, "item", lambda: one)()) in given, f"{one!r} for labels of {given}"
        p = model.predict_proba(convert(case.asked))
        return rates["expected_error_rate"] if case.played else rates["log_loss"], [str(label) for label in model.labels], p.tolist()

    return run


def sklearn(case: Situation, folder: Any) -> Any:
    from noregret.sklearn import FolkloreClassifier

    if case.played:
        raise Inapplicable("classifiers learn from labels")
    if any(label in (None, "n/a") for label in case.labels):
        raise Inapplicable("scikit-learn has no missing labels")
    if any(isinstance(label, float) for label in case.labels):
        raise Inapplicable("real numbers are no classes in scikit-learn")
    if case.is_numeric:
        raise Inapplicable("an array of numbers is learnt with the radius that the scaling promises")
    weights = {} if case.weights is None else {"sample_weight": case.weights}
    model = FolkloreClassifier().partial_fit(pandas.DataFrame(case.rows), case.labels, sorted(set(case.labels)), **weights)
    return None, [str(label) for label in model.classes_], model.predict_proba(pandas.DataFrame(case.asked)).tolist()


def river(case: Situation, folder: Any) -> Any:
    from noregret.river import Folklore

    if case.played:
        raise Inapplicable("River's classifiers learn from labels")
    if case.is_numeric:
        raise Inapplicable("a table of plain numbers is learnt row by row, whose columns are not known before")
    model, weights = Folklore(), {} if case.weights is None else {"w": case.weights}
    model.learn_many(pandas.DataFrame(case.rows), pandas.Series(case.labels, dtype=object), **weights)
    p = model.predict_proba_many(pandas.DataFrame(case.asked))
    return None, [str(label) for label in p.columns], p.to_numpy().tolist()


def ray_store(case: Situation, folder: Any) -> Any:
    from noregret.cluster import KeyedLearners

    if case.played or case.weights is not None:
        raise Inapplicable("keyed learners take no weights" if case.weights is not None else "keyed learners learn from labels")
    with KeyedLearners(folder / "store", LEARNER, labels=list(dict.fromkeys(x for x in case.labels if x is not None)), actors=1, partitions=1) as keyed:
        learnt = keyed.learn(["k"] * len(case.rows), pandas.DataFrame(case.rows), case.labels)
        assert type(learnt.played[0]) in {type(label) for label in case.labels}
    raise Inapplicable("the first batch determines columns, not radius and horizon: not the bits of one run, but the same rows are taken")


FRONTS: dict[str, Callable[[Situation, Any], Any]] = {
    "CSV": command_line("csv", write_csv),
    "NDJSON": command_line("ndjson", write_ndjson),
    "Parquet": command_line("parquet", write_parquet),
    "dictionaries": learner(lambda rows: rows),
    "columns": learner(lambda rows: {name: [row.get(name) for row in rows] for name in rows[0]}),
    "pandas": learner(pandas.DataFrame),
    "polars": learner(lambda rows: polars.DataFrame(rows, strict=False)),
    "Arrow": learner(pyarrow.Table.from_pylist),
    "arrays": learner(lambda rows: np.array([list(row.values()) for row in rows]), arrays=True),
    "saved, loaded": learner(pandas.DataFrame, again=True),
    "scikit-learn": sklearn,
    "River": river,
    "keyed": ray_store,
}


def sentence(error: Exception) -> str:
    """A refusal without what depends on the place."""
    return re.sub(r"^(error|noregret): |\S+/(?=\w+\.\w+)|\s*\(or --[^)]*\)", "", str(error))


def cell(front: str, case: Situation, folder: Any) -> Any:
    try:
        return FRONTS[front](case, folder)
    except Inapplicable as why:
        return f"– {why}"
    except (ValueError, TypeError) as error:
        return f"× {sentence(error)}"


def compared(found: Any, reference: Any) -> str:
    """What a cell of the table says."""
    if isinstance(found, str):
        return found
    if isinstance(reference, str):
        return "taken"
    loss, names, p = found
    # JSON's true is CSV's True.
    names, known = ([name.casefold() for name in some] for some in (names, reference[1]))
    if sorted(names) != sorted(known):
        return f"labels {', '.join(names)}"
    order = [names.index(name) for name in known]
    same = np.array_equal(np.array(p)[:, order], np.array(reference[2])) and loss in (None, reference[0])
    if same:
        return "="
    apart = float(np.abs(np.array(p)[:, order] - np.array(reference[2])).max())
    return "≈" if apart < 1e-9 else f"differs by {apart:.1e}"


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> dict[str, dict[str, str]]:
    found = {}
    for name, case in SITUATIONS.items():
        outcomes = {front: cell(front, case, tmp_path_factory.mktemp("cell")) for front in FRONTS}
        found[name] = {front: compared(outcome, outcomes["CSV"]) for front, outcome in outcomes.items()}
    return found


def page(table: dict[str, dict[str, str]]) -> str:
    """The table as a page, with refusals and reasons as notes."""
    notes: dict[str, int] = {}
    lines = [
        "# The same rows through every front", "",
        "Written by `bindings/python/tests/test_fronts.py`, which fails when a cell changes. Each row is a situation, each column a front:",
        "files of the command line (`noregret run`, then `predict`), `Learner` and `Bandit` of Python with rows of several kinds, the",
        "classifiers, and learners by key. **=** has the bits of the CSV file, in the whole run and in later forecasts; **≈** the same up to",
        "rounding; **×** is refused; **–** does not apply. The numbers are those of the notes.", "",
        "| | " + " | ".join(FRONTS) + " |",
        "|---|" + "---|" * len(FRONTS),
    ]
    for name, cells in table.items():
        shown = []
        for text in cells.values():
            if len(text) > 1:
                number = notes.setdefault(text[2:] if text[0] in "×–" else text, len(notes) + 1)
                text = f"{text[0] if text[0] in '×–' else ''} {number}".strip()
            shown.append(text)
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    lines += ["", *(f"{number}. {text}" for text, number in notes.items()), ""]
    return "\n".join(lines)


def test_every_front_gives_the_same_answer(table):
    wrong = [
        f"{name}, {front}: {text}" for name, cells in table.items() for front, text in cells.items()
        if text.startswith(("differs", "labels", "taken"))
    ]
    assert wrong == []


def test_the_page_is_the_table(table):
    if os.environ.get("NOREGRET_WRITE"):
        PAGE.write_text(page(table))
    assert PAGE.read_text() == page(table), "NOREGRET_WRITE=1 writes it"
