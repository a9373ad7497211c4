"""Learning on a Ray cluster: sweeps, shards, one model per key, and serving. `pip install noregret[ray]`.

Adapters of `noregret.cluster` for Ray's tasks, objects, actors and data sets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import cluster
from ..cluster import Fitted, Sweep
from .._tables import is_polars
from ..cluster._fit import is_real, split
from ._engine import RayEngine
from ._serve import deployment, whole_log
from ._tune import trainable

__all__ = ["KeyedBandits", "KeyedLearners", "RayEngine", "deployment", "fit", "sweep", "trainable", "whole_log"]


def sweep(
    data: Any,
    learners: str | Sequence[str],
    parameters: Mapping[str, Any] | None = None,
    seeds: int | Sequence[int] = 1,
    *,
    options: Sequence[str] = (),
    progress: bool | Callable[[int, int], None] = False,
    cores: float = 1.0,
) -> Sweep:
    """Runs every learner with every combination of its parameters and every seed as a Ray task, with one copy of the
    data per machine. See `noregret.cluster.sweep`; `cores` is the number of cores reserved per run."""
    engine = RayEngine(cores)
    return cluster.sweep(data, learners, parameters, seeds, options=options, engine=engine, progress=progress)


def fit(
    dataset: Any,
    learner: str = "folklore",
    shards: int = 2,
    *,
    label: str = "y",
    columns: Sequence[str] | None = None,
    period: int | None = None,
    cores: float = 1.0,
    **options: Any,
) -> Fitted:
    """Learns on shards of a data set, each in a Ray task, and merges the learners.

    Parameters
    ----------
    dataset
        A `ray.data.Dataset` with a column of labels and other columns (from Parquet, CSV, Arrow, pandas or NumPy), a path to
        Parquet, CSV or TSV files or a list of paths, a pandas, polars or Arrow table, or a pair `(x, y)` of rows (an array or a table) and
        labels. Rows keep their order.
    learner, period, **options
        As in `noregret.cluster.fit`.
    shards
        Number of contiguous parts of equal length.
    label, columns
        The label column, and the columns to learn from; by default all others.
    cores
        Number of cores reserved per task.
    """
    engine = RayEngine(cores)
    if isinstance(dataset, tuple) and not isinstance(dataset[0], str | os.PathLike):
        parts = [[engine.broadcast(block) for block in shard] for shard in split(dataset[0], dataset[1], shards)]
    else:
        parts = _blocks(dataset, shards, label if is_real(learner) else None)
    return cluster.fit(parts, learner, engine=engine, label=label, columns=columns, period=period, **options)


def _blocks(dataset: Any, shards: int, target: str | None) -> list[list[Any]]:
    """References of the blocks of every shard, the rows in the order of the data set; `target` is the column of numbers as targets."""
    import ray.data

    if shards < 1:
        raise ValueError(f"shards = {shards}: must be 1 or more")
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    if isinstance(dataset, str | os.PathLike):
        dataset = [dataset]
    if isinstance(dataset, list | tuple):
        paths = [os.fspath(path) for path in dataset]
        kinds = {path: _kind(path) for path in paths}
        other = next((path for path in paths if kinds[path] != kinds[paths[0]]), None) if paths else None
        if other is not None:
            raise ValueError(f"dataset: {paths[0]} is {kinds[paths[0]]}, and {other} is {kinds[other]}; files of one format were needed")
        kind = kinds[paths[0]] if paths else "Parquet"
        dataset = ray.data.read_parquet(paths) if kind == "Parquet" else _csv(paths, target, "\t" if kind == "TSV" else ",")
    elif hasattr(dataset, "iloc"):
        dataset = ray.data.from_pandas(dataset)
    elif is_polars(dataset):
        dataset = ray.data.from_arrow(dataset.to_arrow())
    elif hasattr(dataset, "column_names"):
        dataset = ray.data.from_arrow(dataset)
    if not hasattr(dataset, "materialize"):
        raise TypeError(f"dataset is a {type(dataset).__name__}; a ray.data.Dataset, a path, a table, or a pair (x, y) was needed")
    # A data set has the options of the time when it was made.
    order = dataset.context.execution_options
    order.preserve_order, before = True, order.preserve_order
    try:
        dataset = dataset.materialize()
    finally:
        order.preserve_order = before
    rows = dataset.count()
    edges = [rows * at // shards for at in range(1, shards)]
    parts = dataset.split_at_indices(edges) if edges else [dataset]
    return [[block for block in part.get_internal_block_refs()] for part in parts]


def _kind(path: str) -> str:
    """The format of a file by the end of its name; folders and files that do not tell it are Parquet.

    Raises ValueError for formats that others read.
    """
    name = path.lower().removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        return name[-3:].upper()
    ending = os.path.splitext(name.rstrip("/"))[1]
    if ending in (".json", ".jsonl", ".ndjson", ".libsvm", ".svm", ".arff", ".vw", ".xlsx", ".avro", ".orc"):
        raise ValueError(f"dataset: {path} ends in {ending}; Parquet, CSV or TSV was needed, or a ray.data.Dataset, as of ray.data.read_json")
    return "Parquet"


def _csv(paths: list[str], target: str | None, delimiter: str) -> Any:
    """The cells of CSV files as they are written: Arrow would make numbers of them, and one label of 01 and 1."""
    import pyarrow.csv
    import ray.data

    cut = pyarrow.csv.ParseOptions(delimiter=delimiter)
    kinds = {name: pyarrow.string() for name in ray.data.read_csv(paths, parse_options=cut).schema().names if name != target}
    options = pyarrow.csv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=True)
    return ray.data.read_csv(paths, parse_options=cut, convert_options=options)


class KeyedLearners(cluster.KeyedLearners):
    """`noregret.cluster.KeyedLearners` in Ray actors, which are restarted after a failure and continue from the
    store."""

    def __init__(self, folder: str | os.PathLike[str], learner: str, *, cores: float = 1.0, **options: Any) -> None:
        super().__init__(folder, learner, engine=RayEngine(cores), **options)


class KeyedBandits(cluster.KeyedBandits):
    """`noregret.cluster.KeyedBandits` in Ray actors, which are restarted after a failure and continue from the
    store."""

    def __init__(self, folder: str | os.PathLike[str], learner: str, *, cores: float = 1.0, **options: Any) -> None:
        super().__init__(folder, learner, engine=RayEngine(cores), **options)
