"""`auto` with its members on workers: how long a run takes, which worker is busy how long, and whether the bits are those of one process."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import time
from pathlib import Path


def timed(kind: type, *arguments):
    """An engine whose workers know their processor time."""
    from noregret.cluster._members import Worker

    class Timed(Worker):
        seconds = 0.0

        def play(self, *batch):
            begin = time.process_time()
            answer = super().play(*batch)
            self.seconds += time.process_time() - begin
            return answer

        def spent(self):
            return self.seconds

    class Measured(kind):
        def actors(self, _, calls):
            return super().actors(Timed, calls)

        def stop(self, actors):
            self.spent = [self.get(actor.call("spent")) for actor in actors]
            super().stop(actors)

    return Measured(*arguments)


def measured(path: Path, rows: int) -> dict:
    """The first rows of covtype on 1 and 2 workers of Ray. Then, in this process, with a worker for each member: the processor time of the
    slowest one."""
    from sklearn.datasets import load_svmlight_file

    from noregret import Learner
    from noregret.cluster import LocalEngine, fit
    from noregret.cluster._fit import split
    from noregret.ray import RayEngine

    with gzip.open(path) as file:
        x, y = load_svmlight_file(io.BytesIO(b"".join(itertools.islice(file, rows))), n_features=54)
    x, y = x.toarray(), y.astype(int)
    begin, busy = time.perf_counter(), time.process_time()
    alone = Learner("auto", features=54, labels=sorted(set(y.tolist())), scale="standard", intercept=True)
    alone.run(x, y, threads=1)
    one = {"seconds": time.perf_counter() - begin, "processor": time.process_time() - busy}
    print("alone", one, flush=True)
    ours, divided = bytes(alone._core.to_bytes()), []
    fit(split(x[:600], y[:600], 2), "auto", engine=RayEngine(0.5), how="members", held_out=0)  # Processes of Ray have begun.
    for name, workers in (("ray", 1), ("ray", 2), ("local", 24)):
        engine = timed(RayEngine, 0.5) if name == "ray" else timed(LocalEngine, 1)
        parts = split(x, y, workers)
        begin, busy = time.perf_counter(), time.process_time()
        fitted = fit(parts, "auto", engine=engine, how="members", held_out=0)
        seconds, driver = time.perf_counter() - begin, time.process_time() - busy
        if bytes(fitted.learner._core.to_bytes()) != ours:
            raise RuntimeError(f"{workers} workers have learnt something else than one process")
        driver -= sum(engine.spent) if name == "local" else 0
        divided.append({"engine": name, "workers": workers, "seconds": seconds, "driver": driver, "spent": engine.spent})
        print(divided[-1], flush=True)
    return {"rows": rows, "alone": one, "divided": divided, "cores": os.cpu_count(), "load": os.getloadavg()[0]}


def told(one: dict) -> list[str]:
    """The lines of the page."""
    alone, divided = one["alone"], one["divided"]
    slowest = max(max(run["spent"]) for run in divided if run["engine"] == "local")
    text = [
        "## `auto` with its members on workers\n",
        f"`cluster.py members`: the first {one['rows']:,} rows of covtype, 54 columns, 7 classes, {one['cores']} cores with a load of "
        f"{one['load']:.1f} at the end. What is learnt equals that of one",
        f"process, to the bit: the program compares them. One process with one thread: {alone['seconds']:.1f} s, of which it was busy "
        f"{alone['processor']:.1f} s. Where every worker has",
        "a core, a run takes as long as the busiest worker, or as the program that has weights and stacks if that is longer: both work at once.\n",
        "| workers | measured | busiest worker | weights and stacks |",
        "|---:|---:|---:|---:|",
    ]
    ray = [run for run in divided if run["engine"] == "ray"]
    for run in ray:
        text.append(f"| {run['workers']} | {run['seconds']:.1f} s | {max(run['spent']):.1f} s | {run['driver']:.1f} s |")
    first, second = (max(*run["spent"], run["driver"]) - slowest for run in ray)
    text.append(
        f"\nThe slowest member alone is busy {slowest:.1f} s, below which no number of workers gets. Of what is above it, two workers need "
        f"{second / first:.2f} of what one needs.\n"
    )
    return text
