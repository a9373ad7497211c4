"""Many learners, parameters and seeds over one data set: `noregret compare`, distributed by an engine."""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import _arrays, _core, _tables, _targets
from .._kinds import KINDS
from ._engine import Engine

MEASURES = ("error_rate", "expected_error_rate", "greedy_error_rate", "log_loss", "squared_loss")
"""The rates that are averaged over seeds."""

Values = Mapping[str, Any]
Setting = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Sweep:
    """The result of a sweep."""

    runs: list[dict[str, Any]]
    """One entry for every learner, setting and seed, in the given order: the objects of type `run` of
    `noregret compare --json`."""
    settings: list[dict[str, Any]]
    """Mean, standard deviation, smallest and largest rate over the seeds: the `settings` of its summary."""
    failures: list[dict[str, Any]]
    """Failed runs: `learner`, `settings`, `seed` and the `error` as a sentence."""

    def frame(self) -> Any:
        """The settings as a pandas table, one row each, the best error (or squared loss) first."""
        import pandas as pd

        rows = []
        for one in self.settings:
            row = {"learner": one["learner"], **one["settings"], "feedback": one["feedback"], "repeats": one["repeats"]}
            for measure in MEASURES:
                if measure in one:
                    row[measure] = one[measure]["mean"]
                    row[f"{measure}_sd"] = one[measure]["sd"]
            rows.append(row)
        table = pd.DataFrame(rows)
        by = [measure for measure in ("error_rate", "squared_loss") if measure in table]
        return table.sort_values(by, kind="stable", ignore_index=True) if by else table

    def best(self, measure: str = "error_rate") -> dict[str, Any]:
        """The setting with the lowest mean of `measure`. Raises ValueError if no run has it."""
        measured = [one for one in self.settings if measure in one]
        if not measured:
            raise ValueError(f"measure = {measure!r}: no run has it; known are {', '.join(MEASURES)}")
        return min(measured, key=lambda one: float(one[measure]["mean"]))

    def _repr_html_(self) -> str:
        return str(self.frame().to_html())


def sweep(
    data: Any,
    learners: str | Sequence[str],
    parameters: Mapping[str, Any] | None = None,
    seeds: int | Sequence[int] = 1,
    *,
    options: Sequence[str] = (),
    engine: Engine | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Sweep:
    """Runs every learner with every combination of its parameters and every seed over `data`.

    Every run is a separate `noregret compare`, so that the table, except for times, is bit-equal to that of the command
    line.

    Parameters
    ----------
    data
        A file that the command line reads, or a list of files of one format, whose rows follow one another; a pair `(x, y)` of
        rows (an array or a table) and labels, or a pandas or Arrow table with both; columns may be numbers, texts, categories, times and booleans, as in the command line. The engine keeps one
        copy per machine.
    learners
        A name of the registry, or several.
    parameters
        Values by name: `{"ogd.rate": [0.1, 1, 10]}` for one learner, `{"norm": [5, 10]}` for all. One value or a list.
    seeds
        A number of seeds from 0, or the seeds. Runs that depend on none, by learner, parameters and options, are made once.
    options
        Further options of the command line, such as `["--label", "species", "--scale", "unit"]`.
    engine
        The engine; processes of this machine by default.
    progress
        True for a progress bar (tqdm, if installed), or a function of the number of finished runs and of all runs.

    Returns
    -------
    Runs in the order of learners, parameters (the last one varies fastest) and seeds. Failed runs are in `failures`.

    Raises
    ------
    ValueError
        For an unknown learner, and a value outside a parameter's range.
    TypeError
        For a parameter that a learner does not have, and data of another type.
    """
    from ._engine import LocalEngine

    engine = LocalEngine() if engine is None else engine
    names = [learners] if isinstance(learners, str) else list(learners)
    combinations = list(_combinations(names, parameters or {}))
    first_seeds = list(range(seeds)) if isinstance(seeds, int | np.integer) else [int(seed) for seed in seeds]
    if not first_seeds:
        raise ValueError("seeds: there are none; at least one was needed")
    calls, jobs = [], []
    name, content, categorical = _content(data)
    options = [*options, *_declared(categorical, options)]
    shared = engine.broadcast(content)
    for learner, values in combinations:
        words = ["noregret", *_words(name, learner, values, first_seeds[0], options)]
        for seed in first_seeds if _core.depends_on_seed(words) else first_seeds[:1]:
            jobs.append((learner, values, seed))
            calls.append((shared, name, learner, values, seed, list(options)))
    runs: list[dict[str, Any] | None] = [None] * len(jobs)
    failures = []
    tell = _teller(progress, len(jobs))
    for done, (at, outcome) in enumerate(engine.completed(engine.map(_run, calls)), 1):
        if isinstance(outcome, Exception):
            learner, values, seed = jobs[at]
            failures.append((at, {"learner": learner, "settings": values, "seed": seed, "error": str(outcome)}))
        else:
            runs[at] = outcome
        tell(done)
    kept = [run for run in runs if run is not None]
    return Sweep(kept, _means(jobs, runs), [failure for _, failure in sorted(failures, key=lambda pair: pair[0])])


def _combinations(learners: Sequence[str], parameters: Mapping[str, Any]) -> Iterable[Setting]:
    for learner in learners:
        if learner not in KINDS:
            raise ValueError(f"learners: {learner!r} is no learner; `noregret.catalogue()` lists them")
    axes: list[tuple[str | None, str, list[Any]]] = []
    for key, given in parameters.items():
        head, _, tail = key.partition(".")
        owner, name = (head, tail) if tail else (None, key)
        if owner is not None and owner not in learners:
            raise ValueError(f"parameters: {key}: {owner} is not among the learners, {', '.join(learners)}")
        values = list(given) if isinstance(given, list | tuple | range | np.ndarray) else [given]
        if not values:
            raise ValueError(f"parameters: {key} has no values; at least one was needed")
        axes.append((owner, name, [value.item() if isinstance(value, np.generic) else value for value in values]))
    for learner in learners:
        mine = [(name, values) for owner, name, values in axes if owner in (None, learner)]
        for chosen in itertools.product(*(values for _, values in mine)):
            setting = dict(zip((name for name, _ in mine), chosen, strict=True))
            _core.check(learner, setting)
            yield learner, setting


def _declared(categorical: Sequence[str], options: Sequence[str]) -> list[str]:
    """Options for columns of a categorical type, which a file does not tell: without those that the options name."""
    roles = [f"--{role}" for role in _tables.ROLES]
    pairs = [*itertools.pairwise(options), *(tuple(option.split("=", 1)) for option in options if "=" in option)]
    named = {name.strip() for option, names in pairs if option in roles for name in names.split(",")}
    return [word for name in categorical if name not in named and "," not in name for word in ("--categorical", name)]


def _content(data: Any) -> tuple[str, np.ndarray[Any, Any], list[str]]:
    """The bytes of a file for the command line, its extension, and the columns of a categorical type."""
    data = data.compute() if hasattr(data, "__dask_graph__") else data
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        return path.name, np.fromfile(path, dtype=np.uint8), []
    if isinstance(data, list) and data and all(isinstance(path, str | os.PathLike) for path in data):
        return *_joined([Path(path) for path in data]), []
    if isinstance(data, tuple) and len(data) == 2:
        _tables.check_index(data[0], y=data[1])
        data = _tables.sparse(_tables.whole(data[0]), dense=True), _targets.labels(data[1])
    if isinstance(data, tuple) and len(data) == 2 and _is_table(data):
        table = _tables.table(data[0] if _tables.is_table(data[0]) else np.asarray(data[0]))
        label = _tables.free("label", table.names)
        targets = _targets.column(data[1], label)
        if table.names and len(targets) != table.rows:
            raise ValueError(f"data: x has {table.rows} rows and y {len(targets)}; as many were needed")
        if table.nests:
            return "rows.ndjson", np.frombuffer(table.lines(label, targets), dtype=np.uint8), table.categorical
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*table.names, label])
        writer.writerows(zip(*table.cells, targets, strict=True))
        return "rows.csv", np.frombuffer(out.getvalue().encode(), dtype=np.uint8), table.categorical
    if isinstance(data, tuple) and len(data) == 2:
        x, y = np.asarray(data[0], dtype=np.float64), np.asarray(data[1])
        if x.ndim != 2 or len(x) != len(y):
            raise ValueError(f"data: x of shape {x.shape} and y of shape {y.shape}; rows and as many labels were needed")
        lines = (json.dumps({"x": row, "y": label}) for row, label in zip(x.tolist(), y.tolist(), strict=True))
        return "rows.ndjson", np.frombuffer(("\n".join(lines) + "\n").encode(), dtype=np.uint8), []
    import pyarrow as pa
    import pyarrow.parquet as pq

    if hasattr(data, "to_arrow"):
        data = data.to_arrow()
    if not (isinstance(data, pa.Table) or hasattr(data, "iloc")):
        raise TypeError(f"data is a {type(data).__name__}; a path, a list of paths, a pair (x, y), or a pandas or Arrow table was needed")
    table = data if isinstance(data, pa.Table) else pa.Table.from_pandas(data, preserve_index=False)
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    categorical = [one.name for one in table.schema if pa.types.is_dictionary(one.type)]
    return "rows.parquet", np.frombuffer(buffer.getvalue(), dtype=np.uint8), categorical


def _joined(paths: Sequence[Path]) -> tuple[str, np.ndarray[Any, Any]]:
    """The rows of several files as those of one: of CSV all have the header of the first."""
    kinds = {path.suffix.lower() for path in paths}
    if len(kinds) > 1:
        raise ValueError(f"data: {paths[0]} and others end in {', '.join(sorted(kinds))}; files of one format were needed")
    kind = kinds.pop()
    if kind in (".gz", ".zst", ".arff"):
        raise ValueError(f"data: {paths[0]}: files that end in {kind} cannot be joined; CSV, lines or Parquet were needed")
    if kind in (".parquet", ".pq"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        buffer = io.BytesIO()
        pq.write_table(pa.concat_tables([pq.read_table(path) for path in paths]), buffer)
        return "rows.parquet", np.frombuffer(buffer.getvalue(), dtype=np.uint8)
    texts: list[bytes] = []
    header, of = b"", paths[0]
    for path in paths:
        text = path.read_bytes()
        if not text:
            continue
        if kind in (".csv", ".tsv"):
            first, _, rest = text.partition(b"\n")
            if not texts:
                header, of = first.strip(), path
            elif first.strip() != header:
                raise ValueError(f"data: {path}: its first line is not that of {of}; the same header was needed")
            else:
                text = rest
        texts.append(text if text.endswith(b"\n") or not text else text + b"\n")
    return paths[0].name, np.frombuffer(b"".join(texts), dtype=np.uint8)


def _is_table(data: tuple[Any, Any]) -> bool:
    """Whether rows and labels are written as a table: they have names, texts, or missing values."""
    x, y = data
    labels = _targets.column(y, "y")
    if any(isinstance(label, datetime.date) for label in labels):
        return True
    if _tables.is_table(x) or _tables.has_texts(x) or any(map(_arrays.is_missing, labels)):
        return True
    return bool(np.isnan(np.asarray(x, dtype=np.float64)).any())


def _run(
    content: np.ndarray[Any, Any], name: str, learner: str, values: Values, seed: int, options: Sequence[str]
) -> dict[str, Any]:
    """One run, as a process of the command line, which reads a file that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="noregret-sweep-") as folder:
        (Path(folder) / name).write_bytes(content.data)
        words = _words(name, learner, values, seed, options)
        done = subprocess.run([sys.executable, "-m", "noregret", *words], capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        # Remarks on the columns come before the failure.
        raise ValueError(done.stderr.strip().rpartition("noregret: ")[2].removeprefix("error: "))
    return dict(next(line for line in map(json.loads, done.stdout.splitlines()) if line["type"] == "run"))


def _words(name: str, learner: str, values: Values, seed: int, options: Sequence[str]) -> list[str]:
    """The command of one run, on the file `name`."""
    words = ["compare", "--learners", learner, "--seed", str(seed)]
    for key, value in values.items():
        words += ["--set", f"{learner}.{key}={_word(value)}"]
    return [*words, "--threads", "1", "--json", "--quiet", *options, "--", name]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _means(jobs: Sequence[tuple[str, dict[str, Any], int]], runs: Sequence[dict[str, Any] | None]) -> list[dict[str, Any]]:
    means = []
    pairs = zip(jobs, runs, strict=True)
    for _, group in itertools.groupby(pairs, key=lambda pair: (pair[0][0], json.dumps(pair[0][1], default=str))):
        ended = [(job, run) for job, run in group if run is not None]
        if not ended:
            continue
        (learner, _, _), first = ended[0]
        one: dict[str, Any] = {
            "learner": learner,
            "settings": first["settings"],
            "feedback": first["feedback"],
            "repeats": len(ended),
        }
        for measure in MEASURES:
            values = [run[measure] for _, run in ended if run.get(measure) is not None]
            if len(values) == len(ended):
                one[measure] = _spread(values)
        means.append(one)
    return means


def _spread(values: Sequence[float]) -> dict[str, float]:
    """Mean, standard deviation and range, by the same operations as the command line."""
    count = mean = squares = 0.0
    for value in values:
        count += 1.0
        before = value - mean
        mean += before / count
        squares += before * (value - mean)
    sd = math.sqrt(max(squares / (count - 1.0), 0.0)) if count > 1.0 else 0.0
    return {"mean": mean, "sd": sd, "min": min(values), "max": max(values)}


def _teller(progress: bool | Callable[[int, int], None], total: int) -> Callable[[int], None]:
    if callable(progress):
        return lambda done: progress(done, total)
    if progress:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return lambda done: print(f"{done} of {total} runs", file=sys.stderr)
        bar = tqdm(total=total, unit="run")

        def step(done: int) -> None:
            bar.update()
            if done == total:
                bar.close()

        return step
    return lambda done: None
