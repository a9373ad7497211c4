"""Measures the cost and the quality of sharded learning on Ray, and writes results/cluster.md with its pictures.

    pip install 'noregret[ray]' matplotlib
    python3 benches/cluster/cluster.py all [--data ../shared/data] [--keys 1000000] [--rows 60000] [--quick]

Parts (`sums`, `scaling`, `keyed`, `quality`, `period`) may be run alone; each keeps its numbers in results/cluster/PART.json, and
the page is written of whatever parts there are.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "results" / "cluster"


def keep(part: str, numbers: dict) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / f"{part}.json").write_text(json.dumps(numbers, indent=1) + "\n")


def softmax_stream(rows: int, features: int = 10, classes: int = 4, seed: int = 1):
    """Rows of a random linear softmax."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, features))
    logits = x @ rng.standard_normal((features, classes))
    return x, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def libsvm(path: Path, rows: int | None):
    """Rows of a gzipped LIBSVM file, dense, in their order."""
    from sklearn.datasets import load_svmlight_file

    with gzip.open(path) as file:
        x, y = load_svmlight_file(file)
    return np.ascontiguousarray(x[:rows].toarray()), y[:rows].astype(int)


def sums(args) -> None:
    """Eight statistics of 72 MB, added up in a tree."""
    from noregret.cluster._fit import _add
    from noregret.ray import RayEngine

    engine = RayEngine()
    numbers = 72_000_000 // 8

    def make(seed):
        return np.random.default_rng(seed).standard_normal(numbers)

    parts = engine.map(make, [(seed,) for seed in range(8)])
    for part in parts:
        engine.get(part)
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        engine.get(engine.reduce(_add, parts))
        times.append(time.perf_counter() - begin)
    keep("sums", {"shards": 8, "bytes": 8 * numbers, "seconds": times})


def scaling(args) -> None:
    """Seconds of learning and of adding up, for n and shards, and the constants of the cost model."""
    from noregret import Learner
    from noregret.cluster._fit import _add
    from noregret.ray import RayEngine, fit

    engine = RayEngine()
    learning, adding = [], []
    for features, classes, rows in [(20, 4, 20_000), (54, 7, 8_000), (120, 4, 4_000), (120, 10, 1_500)]:
        x, y = softmax_stream(rows, features, classes)
        learner = Learner("folklore", features=features, classes=classes, scale="standard", intercept=True)
        begin = time.process_time()
        learner.run(x, y)
        seconds = time.process_time() - begin
        side = (classes - 1) * (features + 1)
        learning.append({"side": side, "rows": rows, "seconds": seconds})
        held = learner.statistics()
        parts = [engine.broadcast(held + shard) for shard in range(8)]
        engine.get(engine.reduce(_add, parts))
        begin = time.perf_counter()
        engine.get(engine.reduce(_add, parts))
        adding.append({"side": side, "bytes": held.nbytes, "shards": 8, "seconds": time.perf_counter() - begin})
    x, y = softmax_stream(6_000 if args.quick else 60_000, 54, 7)
    walls = []
    for shards in (1, 2, 4):
        begin = time.perf_counter()
        fit((x, y), "folklore", shards)
        walls.append({"shards": shards, "seconds": time.perf_counter() - begin})
    keep("scaling", {"learning": learning, "adding": adding, "walls": walls, "rows": len(y), "cores": os.cpu_count()})


def actors_mib() -> list[float]:
    """The peak resident memory of every actor on this machine, in MiB."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes().startswith(b"ray::Partitions"):
                lines = (process / "status").read_text().splitlines()
                found += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")]
        except OSError:
            pass  # The process has ended.
    return found


def keyed(args) -> None:
    """A learner for every key: throughput, memory, restart. With --local in this process, by its processor time."""
    from noregret import cluster, ray

    keys = 20_000 if args.quick else args.keys
    folder = tempfile.mkdtemp()
    facts = {"features": 20, "labels": [str(label) for label in range(5)], "partitions": 16, "in_memory": 20_000}
    clock = time.process_time if args.local else time.perf_counter

    def opened(actors):
        if args.local:
            return cluster.KeyedLearners(folder, "ogd", actors=actors, **facts)
        return ray.KeyedLearners(folder, "ogd", actors=actors, cores=0.5, **facts)

    rng = np.random.default_rng(0)
    batch = 20_000
    try:
        store = opened(2)
        begin, rows = clock(), 0
        # Every key once, and a fifth of them again, which are read from the store.
        for at in range(0, keys + keys // 5, batch):
            names = [f"key {(at + one) % keys}" for one in range(batch)]
            x = rng.standard_normal((batch, 20))
            store.learn(names, x, rng.integers(5, size=batch))
            rows += batch
        seconds = clock() - begin
        begin = clock()
        store.checkpoint()
        checkpoint = clock() - begin
        peaks = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024] if args.local else actors_mib()
        store.close()
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        begin = clock()
        again = opened(1)
        again.predict([f"key {at}" for at in range(1000)], rng.standard_normal((1000, 20)))
        restart = clock() - begin
        count = len(again)
        again.close()
    finally:
        shutil.rmtree(folder)
    keep("keyed", {
        "keys": count, "rows": rows, "seconds": seconds, "checkpoint": checkpoint, "restart": restart, "bytes": size,
        "actors_mib": peaks, "local": args.local,
    })


def quality(args) -> None:
    """Log-loss of sharded learning beside one stream, for folklore; ogd and auto on one stream.

    In this process, one shard after another; the engine does not change the results."""
    from noregret import Learner
    from noregret.cluster import LocalEngine, fit
    from noregret.cluster._fit import split

    engine = LocalEngine(jobs=1)
    rows = 4_000 if args.quick else args.rows
    streams = {"softmax": softmax_stream(rows)}
    for name, file in [("covtype", "covtype.scale01.libsvm.gz"), ("kdd99", "kdd99_10pct.libsvm.gz")]:
        path = args.data / file
        if path.exists():
            x, y = libsvm(path, rows)
            streams[name] = (x[:, np.any(x != 0, axis=0)][:, :60], y)
        else:
            print(f"skipped: {path} is absent")
    found = {}
    keep("quality", found)
    for name, (x, y) in streams.items():
        lines = []
        for shards in (1, 2, 4, 8, 16, 32, 64):
            for period in (None, max(len(y) // shards // 16, 1)):
                if shards == 1 and period is not None:
                    continue
                fitted = fit(split(x, y, shards), "folklore", engine=engine, period=period)
                lines.append({"shards": shards, "period": period, **fitted.rates})
                print(name, lines[-1], flush=True)
        alone = {}
        names = [str(label) for label in np.unique(y)]
        for learner in ("ogd", "auto"):
            one = Learner(learner, features=x.shape[1], labels=names, scale="standard", intercept=True)
            alone[learner] = one.run(x, [str(label) for label in y]).rates
        found[name] = {"rows": len(y), "features": x.shape[1], "classes": len(names), "folklore": lines, "alone": alone}
        keep("quality", found)


def period(args) -> None:
    """Cost and log-loss of rounds of "learn, merge, broadcast" over their period, on eight shards.

    In this process, one shard after another, so that the time is the work of all shards and merges."""
    from noregret.cluster import LocalEngine, fit
    from noregret.cluster._fit import split

    engine = LocalEngine(jobs=1)
    shards, rows = 8, 4_000 if args.quick else args.rows
    streams = {"softmax": softmax_stream(rows, 20, 5)}
    path = args.data / "covtype.scale01.libsvm.gz"
    if path.exists():
        x, y = libsvm(path, rows)
        streams["covtype"] = (x[:, np.any(x != 0, axis=0)], y)
    found = {}
    for name, (x, y) in streams.items():
        lines = []
        longest = -(-len(y) // shards)
        for merges in (1, 2, 4, 8, 16, 32, 64):
            length = -(-longest // merges)
            begin = time.process_time()
            fitted = fit(split(x, y, shards), "folklore", engine=engine, period=None if merges == 1 else length)
            seconds = time.process_time() - begin
            lines.append({"merges": merges, "period": length, "seconds": seconds, **fitted.rates})
            print(name, lines[-1], flush=True)
        found[name] = {"rows": len(y), "features": x.shape[1], "classes": len(np.unique(y)), "shards": shards, "lines": lines}
    keep("period", found)


def model_seconds(shards: float, rows: float, side: float, constants: dict) -> float:
    """The cost model: rows at c n^2 + c' n a row on each shard, then a tree of packed triangles over the network."""
    triangle = 8 * side * (side + 1) / 2
    depth = math.ceil(math.log2(max(shards, 1)))
    learn = rows / shards * (constants["row"] + constants["square"] * side**2)
    move = depth * (triangle / constants["bandwidth"] + triangle / constants["add"] + constants["task"])
    return learn + move


def constants_of(numbers: dict) -> dict:
    """The constants, by least squares over the measurements."""
    learning = numbers["learning"]
    a = np.array([[1.0, one["side"] ** 2] for one in learning])
    b = np.array([one["seconds"] / one["rows"] for one in learning])
    weight = 1 / b
    row, square = np.linalg.lstsq(a * weight[:, None], b * weight, rcond=None)[0]
    depth = 3
    per_level = [(one["bytes"], one["seconds"] / depth) for one in numbers["adding"]]
    sizes = np.array([size for size, _ in per_level], dtype=float)
    seconds = np.array([second for _, second in per_level])
    task = float(seconds.min())
    rate = float(np.median(sizes[-2:] / np.maximum(seconds[-2:] - 0.5 * task, 1e-6)))
    return {"row": float(max(row, 0)), "square": float(max(square, 0)), "task": task, "add": rate, "bandwidth": 1.25e9}


def pictures() -> list[str]:
    """The curves, light and dark."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "noregret"
    made = []
    if (OUT / "scaling.json").exists():
        numbers = json.loads((OUT / "scaling.json").read_text())
        constants = constants_of(numbers)
        figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
        shards = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000])
        for side in (126, 330, 1000):
            one = model_seconds(1, 1e6, side, constants)
            axes.loglog(shards, [one / model_seconds(s, 1e6, side, constants) for s in shards], marker=".", label=f"n = {side}")
        axes.loglog(shards, shards, color="grey", linewidth=0.8, label="linear")
        axes.set_xlabel("shards (nodes)")
        axes.set_ylabel("speed-up on a million rows, modelled")
        axes.legend(frameon=False)
        figure.savefig(OUT / "scaling.svg", metadata={"Date": None})
        made.append("scaling.svg")
    if (OUT / "quality.json").exists():
        found = json.loads((OUT / "quality.json").read_text())
        figure, rows = plt.subplots(1, len(found), figsize=(4.2 * len(found), 3.8), layout="constrained", squeeze=False)
        for axes, (name, one) in zip(rows[0], found.items(), strict=True):
            for periodic, text in [(False, "one merge at the end"), (True, "16 merges")]:
                lines = [line for line in one["folklore"] if line["shards"] == 1 or (line["period"] is not None) == periodic]
                axes.plot([line["shards"] for line in lines], [line["log_loss"] for line in lines], marker=".", label=text)
            for learner, rates in one["alone"].items():
                axes.axhline(rates["log_loss"], color="grey", linestyle=":" if learner == "ogd" else "--", label=f"{learner}, one stream")
            axes.set_xscale("log", base=2)
            axes.set_title(name)
            axes.set_xlabel("shards")
        rows[0][0].set_ylabel("log-loss, test-then-train")
        rows[0][0].legend(frameon=False, fontsize="small")
        figure.savefig(OUT / "quality.svg", metadata={"Date": None})
        made.append("quality.svg")
    if (OUT / "period.json").exists():
        found = json.loads((OUT / "period.json").read_text())
        figure, (loss, cost) = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
        for name, one in found.items():
            merges = [line["merges"] for line in one["lines"]]
            loss.plot(merges, [line["log_loss"] for line in one["lines"]], marker=".", label=name)
            cost.plot(merges, [line["seconds"] for line in one["lines"]], marker=".", label=name)
        for axes, what in ((loss, "log-loss, test-then-train"), (cost, "processor seconds, all shards")):
            axes.set_xscale("log", base=2)
            axes.set_xlabel("merges")
            axes.set_ylabel(what)
        loss.set_ylim(bottom=0)
        cost.set_ylim(bottom=0)
        loss.legend(frameon=False)
        figure.savefig(OUT / "period.svg", metadata={"Date": None})
        made.append("period.svg")
    return made


def page() -> None:
    """results/cluster.md."""
    parts = {path.stem: json.loads(path.read_text()) for path in OUT.glob("*.json")}
    pictures()
    text = [
        "# Beyond one machine\n",
        "Written by `python3 benches/cluster/cluster.py all`. Ray on one machine with two cores, shared with other programs unless",
        "said otherwise: seconds are upper bounds, losses do not depend on it.\n",
    ]
    if "sums" in parts:
        one = parts["sums"]
        text += [
            "## Adding up\n",
            f"{one['shards']} statistics of {one['bytes'] / 1e6:.0f} MB, added up in a tree of Ray tasks: "
            f"{min(one['seconds']):.2f} s the fastest of {len(one['seconds'])}, median {statistics.median(one['seconds']):.2f} s.\n",
        ]
    if "scaling" in parts:
        one = parts["scaling"]
        constants = constants_of(one)
        text += [
            "## The cost model\n",
            "Seconds = rows / shards · (a + b n²) + ⌈log₂ shards⌉ · (s / bandwidth + s / add + task), where n is the side of the",
            "matrix and s = 4 n (n + 1) bytes its packed triangle. Bandwidth is assumed: 1.25 GB/s (10 Gbit/s).\n",
            f"Fitted: a = {1e6 * constants['row']:.1f} µs, b = {1e12 * constants['square']:.0f} ps, add = "
            f"{constants['add'] / 1e9:.2f} GB/s, task = {1e3 * constants['task']:.1f} ms.\n",
            "| n | rows | learning, measured | modelled | adding up 8, measured |",
            "|---:|---:|---:|---:|---:|",
        ]
        for learn, add in zip(one["learning"], one["adding"], strict=True):
            modelled = learn["rows"] * (constants["row"] + constants["square"] * learn["side"] ** 2)
            text.append(f"| {learn['side']} | {learn['rows']} | {learn['seconds']:.2f} s | {modelled:.2f} s | {add['seconds']:.3f} s |")
        text += [
            "",
            f"`fit` on {one['rows']} rows (n = 330), wall time on {one['cores']} cores, start of processes included: "
            + ", ".join(f"{wall['shards']} shards {wall['seconds']:.1f} s" for wall in one["walls"])
            + ".\n",
            "![Speed-up on a million rows that the model predicts, up to 1,000 nodes](cluster/scaling.svg)\n",
        ]
    if "keyed" in parts:
        one = parts["keyed"]
        where = (
            "both in one process and by its processor time (`cluster.py keyed --local`), since the machine had other work"
            if one["local"]
            else "Ray's (`cluster.py keyed`)"
        )
        text += [
            "## A learner for every key\n",
            f"{one['keys']:,} keys, 20 columns, 5 classes, `ogd`, two actors with 20,000 learners in memory each, {where}; every batch",
            f"is committed before it is answered: {one['rows'] / one['seconds']:,.0f} rows a second, a sixth of them of learners that had been "
            f"put away, and {one['bytes'] / one['keys']:.0f} bytes a key on disk;",
            f"checkpoint {one['checkpoint']:.1f} s; opened again with one actor and 1,000 predictions in {one['restart']:.1f} s; at most "
            f"{max(one['actors_mib']):.0f} MiB of memory, with the interpreter.\n",
        ]
    if "quality" in parts:
        text += [
            "## What sharding costs in quality\n",
            "`python3 benches/cluster/cluster.py quality --rows ROWS`. Test-then-train log-loss of `folklore`: every row is predicted by its",
            "shard's learner. The first rows of each stream, as many as its heading says; `ogd` and `auto` do not add up (first-order steps depend on their order, trees and members' weights on what was seen), so they",
            "are shown on one stream only.\n",
        ]
        for name, one in parts["quality"].items():
            text += [f"### {name}: {one['rows']:,} rows, {one['features']} columns\n", "| shards | one merge at the end | 16 merges |", "|---:|---:|---:|"]
            for shards in sorted({line["shards"] for line in one["folklore"]}):
                end = next(line for line in one["folklore"] if line["shards"] == shards and line["period"] is None)
                often = [line for line in one["folklore"] if line["shards"] == shards and line["period"] is not None]
                text.append(f"| {shards} | {end['log_loss']:.4f} | {often[0]['log_loss']:.4f} |" if often else f"| {shards} | {end['log_loss']:.4f} | |")
            alone = ", ".join(f"`{learner}` {rates['log_loss']:.4f}" for learner, rates in one["alone"].items())
            text.append(f"\nOn one stream: {alone}.\n")
        text.append("![Log-loss over the number of shards](cluster/quality.svg)\n")
    if parts.get("period"):
        text += [
            "## What the period costs\n",
            "`python3 benches/cluster/cluster.py period --rows ROWS`. Shards learn, statistics are added up, all go on from the sum: the more",
            "often, the closer to one stream, and the more work. Eight shards; the first row has one merge, at the end. Seconds of processor",
            "time of all shards and mergers together, in one process: what a network adds is in the cost model.\n",
        ]
        for name, one in parts["period"].items():
            text += [
                f"### {name}: {one['rows']:,} rows, {one['features']} columns, {one['classes']} classes\n",
                "| merges | rows a shard between them | log-loss | processor seconds |",
                "|---:|---:|---:|---:|",
                *(f"| {line['merges']} | {line['period']} | {line['log_loss']:.4f} | {line['seconds']:.1f} |" for line in one["lines"]),
                "",
            ]
        text.append("![Log-loss and seconds over the number of merges](cluster/period.svg)\n")
    (ROOT / "results" / "cluster.md").write_text("\n".join(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["all", "sums", "scaling", "keyed", "quality", "period", "page"])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=60_000, help="quality, period: rows of a stream (default: 60000)")
    parser.add_argument("--local", action="store_true", help="keyed: in this process, by its processor time")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    os.environ.setdefault("RAY_worker_niceness", "0")
    parts = {"sums": sums, "scaling": scaling, "keyed": keyed, "quality": quality, "period": period}
    for name, part in parts.items():
        if args.part in ("all", name):
            part(args)
    page()


if __name__ == "__main__":
    main()
