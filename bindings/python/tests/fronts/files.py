"""Files of every format, and a pipe: learnt by `noregret run`, forecast by `noregret predict`."""

import csv
import datetime
import io
import json
import math
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from program import program
from .situations import STANDARD, Costly, Logged, Offered, Rows, Seen, Situation
from .table import ABSENT, Front, Inapplicable, Outcome

LEARNER, BANDIT = "folklore", "squarecb"
WIDTH = 256
"""Columns of a label on offer with features of its own."""


def is_missing(cell: Any) -> bool:
    return cell in (None, "") or (isinstance(cell, float) and math.isnan(cell))


def columns(case: Situation, rows: Rows, labels: list[Any] | None) -> dict[str, list[Any]]:
    """The columns of a table, with those of what is learnt."""
    names = dict.fromkeys(name for row in rows for name in row)
    found = {name: [row.get(name) for row in rows] for name in names}
    found |= {"on": case.offers[: len(rows)]} if isinstance(case, Logged | Offered) and case.offers else {}
    if labels is None:
        return found
    if isinstance(case, Logged):
        return found | played(case, labels)
    found["label"] = labels
    return found | ({} if case.weights is None else {"weight": case.weights})


def played(case: Logged, labels: list[Any]) -> dict[str, list[Any]]:
    """The columns of what another policy has played."""
    return {"shown": labels, "p": case.probabilities[: len(labels)], "earned": case.earned[: len(labels)]}


class CommandLine(Front):
    """Files of a format. A subclass writes rows: with their labels, or without (None) to be forecast."""

    extension: str
    has_types = False
    """Whether labels have types in the format, which are those of the answers."""

    def text(self, case: Situation, rows: Rows, labels: list[Any] | None) -> str | bytes:
        raise NotImplementedError

    def learn(self, case: Situation, folder: Path) -> Outcome:
        if case.is_soft and self.extension != "ndjson":
            raise Inapplicable("a cell has one label")
        if case.has_twins and self.extension != "ndjson":
            raise Inapplicable("a column has labels of one type")
        if case.has_blanks and self.extension not in ("ndjson", "parquet"):
            raise Inapplicable("blanks around a label in a text are no part of it")
        return self._run(case, folder, "log_loss", "--learner", LEARNER)

    def play(self, case: Situation, folder: Path) -> Outcome:
        return self._run(case, folder, "expected_error_rate", "--feedback", "bandit", "--learner", BANDIT)

    def costly(self, case: Situation, folder: Path) -> Outcome:
        raise Inapplicable("a row has one label, and no costs of all labels")

    def offer(self, case: Offered, folder: Path) -> Outcome:
        if case.have_features:
            raise Inapplicable("a cell has the names of labels on offer, and no features of theirs")
        return self._run(case, folder, "expected_error_rate", "--feedback", "bandit", "--learner", BANDIT, "--offered", "on")

    def among(self, case: Seen, folder: Path) -> Outcome:
        return self._run(case, folder, "log_loss", "--learner", LEARNER, "--offered", "on")

    def follow(self, case: Logged, folder: Path) -> Outcome:
        words = ["--decision", "shown", "--probability", "p", "--reward", "earned"]
        words += ["--offered", "on"] if case.offers else []
        if case.spread:
            words += ["--costs" if case.are_costs else "--rewards", f"{case.spread[0]}..{case.spread[1]}"]
        return self._run(case, folder, None, "--feedback", "bandit", "--learner", BANDIT, *words)

    def said(self, case: Situation) -> list[str]:
        """Options that name columns."""
        if isinstance(case, Logged):
            return []
        return ["--label", "label"] + ([] if case.weights is None else ["--weight", "weight"])

    def _run(self, case: Situation, folder: Path, rate: str | None, *words: Any) -> Outcome:
        model = folder / "model"
        asked = ["--offered", "on"] if "--offered" in words else []
        every = ["--json", "--quiet", *self.said(case)]
        setting = self.setting_for(case)
        stated = setting.bandit_words if BANDIT in words else setting.words
        rates = self.call(case, folder, "run", "learnt", case.rows, case.labels, "--save", model, *every, *stated, *words)[-1]
        if case.more:
            self.call(case, folder, "run", "more", *case.more, "--load", model, "--save", model, *every)
        # A row of a table has something: where there are no columns, the label.
        truth = None if any(case.rows) else case.labels[: len(case.asked)]
        lines = self.call(case, folder, "predict", "asked", case.asked, truth, "--probabilities", *asked, model=model)
        labels = [line["label"] for line in lines] if self.has_types and not case.is_soft and not isinstance(case, Offered) else None
        return Outcome([line["probabilities"] for line in lines], labels, rates[rate] if rate else None)

    def call(self, case: Situation, folder: Path, command: str, name: str, rows: Rows, labels: Any, *words: Any, model: Any = None) -> Any:
        path = folder / f"{name}.{self.extension}"
        text = self.text(case, rows, labels)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return program(command, *([model] if model else []), path, *words)


class Csv(CommandLine):
    extension = "csv"

    def text(self, case, rows, labels):
        table, out = columns(case, rows, labels), io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(table)
        writer.writerows([[self.cell(value) for value in row] for row in zip(*table.values(), strict=True)])
        return out.getvalue()

    def cell(self, value: Any) -> Any:
        return "" if is_missing(value) else " ".join(value) if isinstance(value, list) else value


class Ndjson(CommandLine):
    extension = "ndjson"
    has_types = True

    def text(self, case, rows, labels):
        if self._are_rounds(case) or not any(rows):
            return self.rounds(case, rows, labels)
        table = columns(case, rows, labels)
        return "".join(json.dumps(dict(zip(table, map(self.cell, row), strict=True))) + "\n" for row in zip(*table.values(), strict=True))

    def rounds(self, case: Situation, rows: Rows, labels: list[Any] | None) -> str:
        """Rows that have what is learnt beside them."""
        lines = [{"x": row} for row in rows]
        for at, line in enumerate(lines):
            if labels is not None:
                beside = played(case, labels) if isinstance(case, Logged) else {"y": labels}
                line |= {name: cells[at] for name, cells in beside.items()}
            line |= {"labels": case.offers[at]} if isinstance(case, Offered) else {}
        return "".join(json.dumps(line) + "\n" for line in lines)

    def _are_rounds(self, case: Situation) -> bool:
        return case.is_soft or (isinstance(case, Offered) and not isinstance(case, Seen))

    def said(self, case):
        return [] if self._are_rounds(case) or not any(case.rows) else super().said(case)

    def cell(self, value: Any) -> Any:
        return str(value) if isinstance(value, datetime.datetime) else None if value is None else value

    def offer(self, case: Offered, folder: Path) -> Outcome:
        if not case.have_features:
            return self.play(case, folder)
        return self._run(case, folder, "expected_error_rate", "--feedback", "bandit", "--set", f"width={WIDTH}")


class Pipe(CommandLine):
    """CSV on a pipe, or NDJSON where a cell does not say it: told how many classes and columns there are, and which are texts."""

    extension = "ndjson"
    setting = STANDARD

    def text(self, case, rows, labels):
        return self._form(case).text(case, rows, labels)

    def said(self, case):
        return self._form(case).said(case)

    def _form(self, case: Situation) -> CommandLine:
        return Ndjson() if case.is_soft or case.has_twins or case.has_blanks or isinstance(case, Offered) else Csv()

    def call(self, case, folder, command, name, rows, labels, *words, model=None):
        words = ["-", *words, "--format", self._form(case).extension]
        if command == "run" and "--load" not in words:
            width = max(len(case.rows[0]), 1) if case.is_numeric else 500
            classes = 3 if isinstance(case, Offered) else len(case.names)
            words += ["--set", f"features={width}"] if BANDIT in words or LEARNER in words else []
            # A number of classes that is said stays as it is.
            words += [] if case.more else ["--set", f"classes={classes}"]
            words += ["--text", "text"] if "text" in case.rows[0] else []
        return program(command, *([model] if model else []), *words, stdin=self.text(case, rows, labels))

    def offer(self, case, folder):
        return Ndjson.offer(self, case, folder)


class Parquet(CommandLine):
    extension = "parquet"

    def text(self, case, rows, labels):
        table = columns(case, rows, labels) or {"nothing": [None] * len(rows)}
        out = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(table), out)
        return out.getvalue()


class Arff(CommandLine):
    extension = "arff"

    def text(self, case, rows, labels):
        table = columns(case, rows, labels)
        if "label" not in table and not isinstance(case, Logged):
            table["label"] = [None] * len(rows)
        weights = table.pop("weight", [None] * len(rows))
        head = "".join(f"@attribute {name} {self.kind(name, cells, case)}\n" for name, cells in table.items())
        lines = [", ".join(map(self.cell, row)) for row in zip(*table.values(), strict=True)]
        lines = [line if weight is None else f"{line}, {{{weight}}}" for line, weight in zip(lines, weights, strict=True)]
        return f"@relation rows\n{head}@data\n" + "\n".join(lines) + "\n"

    def said(self, case):
        return super().said(case)[:2]

    def kind(self, name: str, cells: list[Any], case: Situation) -> str:
        some = [cell for cell in cells if not is_missing(cell)]
        if name == "label":
            return "{" + ", ".join(map(self.cell, case.all_names)) + "}"
        if isinstance(some[0], datetime.datetime):
            return "date \"yyyy-MM-dd HH:mm:ss\""
        if isinstance(some[0], str | bool):
            return "string" if name in ("text", "on") else "{" + ", ".join(map(str, dict.fromkeys(some))) + "}"
        return "string" if isinstance(some[0], list) else "numeric"

    def cell(self, value: Any) -> str:
        if is_missing(value):
            return "?"
        value = " ".join(value) if isinstance(value, list) else value
        quoted = isinstance(value, datetime.datetime) or any(mark in str(value) for mark in ' ,"')
        return f"'{value}'" if quoted else str(value)


class Libsvm(CommandLine):
    extension = "libsvm"

    def text(self, case, rows, labels):
        if not case.is_numeric:
            raise Inapplicable("the format has numbers only")
        if case.weights is not None:
            raise Inapplicable("the format has no weights")
        pairs = lambda row: " ".join(f"{at}:{'nan' if is_missing(cell) else cell}" for at, cell in enumerate(row.values(), 1))
        heads = [""] * len(rows) if labels is None else ["" if label is None else f"{label} " for label in labels]
        return "".join(f"{head}{pairs(row)}\n" for head, row in zip(heads, rows, strict=True))

    def said(self, case):
        return []

    def learn(self, case, folder):
        if set(case.asked[0]) < set(case.rows[0]):
            raise Inapplicable(ABSENT)
        return super().learn(case, folder)

    def offer(self, case, folder):
        raise Inapplicable("the format has no labels on offer")

    among = offer

    def follow(self, case, folder):
        raise Inapplicable("the format has no probabilities and rewards")


class Vw(Libsvm):
    extension = "vw"

    def text(self, case, rows, labels):
        if any(isinstance(cell, datetime.datetime) or " " in str(cell) for cell in rows[0].values()):
            raise Inapplicable("the format has numbers and words; times and texts are made to them before")
        if isinstance(case, Offered) and case.have_features:
            return self.actions(case, rows, labels)
        heads = [self.head(case, at, None if labels is None else labels[at]) for at in range(len(rows))]
        return "".join(f"{head}| {self.features(row)}\n" for head, row in zip(heads, rows, strict=True))

    def head(self, case: Situation, at: int, label: Any) -> str:
        """What stands before the bar."""
        if isinstance(case, Costly) and label is not None:
            return " ".join(f"{name}:{cost}" for name, cost in case.costs[at].items()) + " "
        if isinstance(case, Offered) and (label is None or not isinstance(case, Seen)):
            return " ".join(f"{name}:" if label is None else f"{name}:{int(name != label)}" for name in case.offers[at]) + " "
        if isinstance(case, Logged):
            names = case.offers[at] if case.offers else ["down", "up"]
            if label is None:
                return " ".join(f"{name}:" for name in names) + " "
            cost = case.earned[at] if case.are_costs else -case.earned[at]
            return " ".join(f"{name}:{cost}:{case.probabilities[at]}" if name == label else name for name in names) + " "
        weight = "" if case.weights is None or label is None else f"{case.weights[at]} "
        return "" if label is None else f"{label} {weight}"

    def features(self, row: dict[str, Any]) -> str:
        """A number has a value, a word is part of the name."""
        pair = lambda name, cell: f"{name}={cell}" if isinstance(cell, str) else f"{name}:{'nan' if is_missing(cell) else cell}"
        return " ".join(pair(name, cell) for name, cell in row.items() if not (is_missing(cell) and name == "hue"))

    def actions(self, case: Offered, rows: Rows, labels: list[Any] | None) -> str:
        """Rounds of several lines: what is shared, and each label with its cost and its features."""
        rounds = []
        for at, row in enumerate(rows):
            cost = lambda name, at=at: "" if labels is None else f"0:{int(name != labels[at])} "
            own = [f"{cost(name)}'{name} | {self.features(features)}" for name, features in case.offers[at].items()]
            rounds.append("\n".join([f"shared | {self.features(row)}", *own]) + "\n\n")
        return "".join(rounds)

    def learn(self, case, folder):
        if isinstance(case, Situation) and case.is_soft:
            raise Inapplicable("a row has one label")
        return super().learn(case, folder)

    def costly(self, case, folder):
        words = ["--feedback", "bandit", "--learner", BANDIT, "--costs", f"{case.spread[0]}..{case.spread[1]}"]
        return self._run(case, folder, None, *words)

    def offer(self, case, folder):
        if not case.have_features:
            return self.play(case, folder)
        return self._run(case, folder, "expected_error_rate", "--feedback", "bandit", "--set", f"width={WIDTH}")

    def among(self, case, folder):
        # A line has a label or what is on offer, so that the run's rate is that of forecasts among all.
        return self._run(case, folder, None, "--learner", LEARNER)

    def follow(self, case, folder):
        low, high = case.spread or (0, 1)
        costs = f"{low}..{high}" if case.are_costs else f"{-high}..{-low}"
        return self._run(case, folder, None, "--feedback", "bandit", "--learner", BANDIT, "--costs", costs)
