"""Measures the cost and the quality of sharded learning on Ray, and writes results/cluster.md with its pictures.

    pip install 'noregret[ray]' matplotlib
    python3 benches/cluster/cluster.py all [--data ../shared/data] [--keys 1000000] [--rows 60000] [--quick]

Parts (`sums`, `scaling`, `keyed`, `serve`, `members`, `quality`) may be run alone; each keeps its numbers in results/cluster/PART.json, and
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

import members
import numpy as np
import serving

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
    from noregret.cluster._shard import add
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
        engine.get(engine.reduce(add, parts))
        times.append(time.perf_counter() - begin)
    keep("sums", {"shards": 8, "bytes": 8 * numbers, "seconds": times})


def scaling(args) -> None:
    """Seconds of learning and of adding up, for n and shards, and the constants of the cost model."""
    from noregret import Learner
    from noregret.cluster._shard import add
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
        engine.get(engine.reduce(add, parts))
        begin = time.perf_counter()
        engine.get(engine.reduce(add, parts))
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


def serve(args) -> None:
    """A model in Ray Serve, beside a deployment that does nothing, by the proxy that the environment asks for."""
    kept = OUT / "serve.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    keep("serve", {**known, **serving.measured(*softmax_stream(1000), args.quick)})


def divided(args) -> None:
    """`auto` with its members on workers."""
    rows = 2_000 if args.quick else args.rows or 12_000
    keep("members", members.measured(args.data / "covtype.scale01.libsvm.gz", rows))


def streams(args):
    """Name, rows and labels of every stream."""
    rows = 4_000 if args.quick else args.rows or 20_000
    yield "softmax", *softmax_stream(rows)
    for name, file in [("covtype", "covtype.scale01.libsvm.gz"), ("kdd99", "kdd99_10pct.libsvm.gz")]:
        path = args.data / file
        if path.exists():
            x, y = libsvm(path, rows)
            yield name, x[:, np.any(x != 0, axis=0)], y
        else:
            print(f"skipped: {path} is absent")
    import pandas

    for name in ("adult", "bank", "magic", "mlcchurn", "robotshuf"):
        path = args.data / "tables" / f"{name}.csv.gz"
        if path.exists():
            table = pandas.read_csv(path, nrows=rows)
            yield name, table.iloc[:, :-1], table.iloc[:, -1].astype(str).to_numpy()
        else:
            print(f"skipped: {path} is absent")


def loss_of(p, labels, y) -> float:
    """The mean log-loss of probabilities; labels that no row of the learnt ones had are left out."""
    index = {str(label): at for at, label in enumerate(labels)}
    at = np.array([index.get(str(label), -1) for label in y])
    kept = at >= 0
    return float(-np.log(np.maximum(p[kept, at[kept]], 1e-300)).mean())


def best_in_hindsight(x, y, later, truth) -> float | None:
    """The held-out log-loss of scikit-learn's logistic regression with next to no penalty, on standardised columns; for numbers."""
    from sklearn.linear_model import LogisticRegression

    if not isinstance(x, np.ndarray):
        return None
    mean, units = x.mean(axis=0), x.std(axis=0)
    units[units == 0] = 1
    fitted = LogisticRegression(C=1e3, solver="newton-cholesky", max_iter=200, tol=1e-6).fit((x - mean) / units, y)
    return loss_of(fitted.predict_proba((later - mean) / units), fitted.classes_, truth)


def quality(args) -> None:
    """Log-loss on held-out rows of what is delivered, for folklore: by passes, by periods, and by one merge of what every shard has
    learnt; of the mean of the shards' probabilities; of the best linear predictor.

    In this process, one shard after another; the engine does not change the results."""
    from noregret.cluster import LocalEngine, fit
    from noregret.cluster._fit import split

    engine = LocalEngine(jobs=1)
    kept = OUT / "quality.json"
    found = json.loads(kept.read_text()) if args.only and kept.exists() else {}
    for name, x, y in streams(args):
        take = (lambda rows, at: rows.iloc[at]) if hasattr(x, "iloc") else (lambda rows, at: rows[at])
        for order, scale in [("file order", "standard"), ("shuffled", "standard"), ("shuffled", "none")]:
            if scale == "none" and hasattr(x, "iloc") or args.only and name not in args.only:
                continue
            at = np.arange(len(y)) if order == "file order" else np.random.default_rng(0).permutation(len(y))
            test = np.arange(len(y)) % 5 == 4
            learnt, later, truth = take(x, at[~test]), take(x, at[test]), y[at[test]]
            labels, lines = y[at[~test]], []

            def held_out(fitted):
                return loss_of(fitted.learner.predict_proba(later), fitted.labels, truth)

            for shards in args.shards:
                parts = split(learnt, labels, shards)
                given = {"engine": engine, "scale": scale, "held_out": 0}
                whole = fit(parts, "folklore", **given)
                line = {"shards": shards, "progressive": whole.rates["log_loss"], "delivered": held_out(whole)}
                line |= {"gap": whole.gap / whole.learner.rounds, "passes": whole.passes}
                if shards == 8:
                    line["merged"] = held_out(fit(parts, "folklore", how="lambda-once", **given))
                    line["periods"] = held_out(fit(parts, "folklore", period=max(len(labels) // shards // 16, 1), **given))
                    ends = [fit([part], "folklore", **given) for part in parts if len(set(part[0][1])) > 1]
                    names = sorted({str(label) for one in ends for label in one.labels})
                    mean = np.zeros((len(truth), len(names)))
                    for one in ends:
                        mean[:, [names.index(str(label)) for label in one.labels]] += one.learner.predict_proba(later) / len(ends)
                    line["mean"] = loss_of(mean, names, truth)
                lines.append(line)
                print(name, order, scale, line, flush=True)
            one = {"rows": len(labels), "columns": learnt.shape[1], "classes": len(set(labels)), "lines": lines}
            one["best"] = best_in_hindsight(learnt, labels, later, truth)
            print(name, order, scale, one["best"], flush=True)
            found[f"{name}, {order}, scale={scale}"] = one
            keep("quality", found)


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
        wide = 4
        figure, rows = plt.subplots(-(-len(found) // wide), wide, figsize=(13, 2.8 * -(-len(found) // wide)), layout="constrained", squeeze=False)
        for axes in rows.flat[len(found) :]:
            axes.set_visible(False)
        for axes, (name, one) in zip(rows.flat, found.items(), strict=False):
            for what, text in [("delivered", "delivered"), ("merged", "one merge of single passes"), ("mean", "mean of the shards")]:
                lines = [line for line in one["lines"] if what in line]
                axes.plot([line["shards"] for line in lines], [line[what] for line in lines], marker=".", label=text)
            if one["best"] is not None:
                axes.axhline(one["best"], color="grey", linestyle=":", label="scikit-learn, all rows")
            axes.set_xscale("log", base=2)
            axes.set_ylim(bottom=0)
            axes.set_title(name, fontsize="small")
        rows[0][0].set_ylabel("log-loss, held out")
        rows[0][0].legend(frameon=False, fontsize="small")
        figure.savefig(OUT / "quality.svg", metadata={"Date": None})
        made.append("quality.svg")
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
            "The model is of one pass over the rows. `fit` makes as many more as the last table of this page says, each with sums of the same size: both",
            "terms are multiplied, and the speed-up is the same.\n",
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
    if "serve" in parts:
        text += serving.told(parts["serve"])
    if "members" in parts:
        text += members.told(parts["members"])
    if "quality" in parts:
        text += [
            "## What is delivered\n",
            "`python3 benches/cluster/cluster.py quality --rows ROWS --only STREAM`, with a quarter more rows than the table says. Log-loss on every fifth row, which nobody learns, of `folklore`: what `fit`",
            "delivers by passes (the default) does not depend on the number of shards. `gap` bounds its distance to the best linear predictor of the",
            "theorem's ball on the learnt rows, in nats a row. Beside it, for 8 shards: 16 periods (`period=`), one merge of single passes",
            "(`how=\"lambda-once\"`), and the mean of the probabilities that every shard's own predictor gives (shards of one class left out). Last: scikit-learn's logistic regression",
            "with next to no penalty (C = 1000) on all learnt rows, for streams of numbers. Progressive: each row was predicted by its shard's learner before it was learnt.\n",
            "| stream | shards | progressive | **delivered** | gap | passes | 16 periods | one merge | mean of shards | scikit-learn |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for name, one in parts["quality"].items():
            for line in one["lines"]:
                cells = [f"{line[what]:.4f}" if what in line else "" for what in ("periods", "merged", "mean")]
                last = [f"{one['best']:.4f}" if one["best"] is not None and line["shards"] == 1 else ""]
                title = f"{name}, {one['rows']:,} rows" if line["shards"] == 1 else ""
                text.append(
                    f"| {title} | {line['shards']} | {line['progressive']:.4f} | **{line['delivered']:.4f}** | "
                    f"{line['gap']:.4f} | {line['passes']} | {' | '.join(cells + last)} |"
                )
        text.append("\n![Held-out log-loss over the number of shards](cluster/quality.svg)\n")
    (ROOT / "results" / "cluster.md").write_text("\n".join(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["all", "sums", "scaling", "keyed", "serve", "members", "quality", "page"])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, help="quality, members: rows of a stream (default: 20000 and 12000)")
    parser.add_argument("--only", nargs="*", help="quality: these streams alone; what is known of others is kept")
    parser.add_argument("--shards", type=int, nargs="*", default=[1, 8, 64], help="quality: numbers of shards (default: 1 8 64)")
    parser.add_argument("--local", action="store_true", help="keyed: in this process, by its processor time")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    os.environ.setdefault("RAY_worker_niceness", "0")
    parts = {"sums": sums, "scaling": scaling, "keyed": keyed, "serve": serve, "members": divided, "quality": quality}
    for name, part in parts.items():
        if args.part in ("all", name):
            part(args)
    page()


if __name__ == "__main__":
    main()
