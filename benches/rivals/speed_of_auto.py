"""`rivals.py speed-of-auto`: the processor time of `auto` beside its rivals'; a section of results/rivals-speed.md.

The log-losses of the same contests are on the other pages.
"""

import statistics
import sys

from contestants import RUN
from grids import settings
from streams import head, stream
from tables import built, machine, put_into

VW = ("covtype", "covtype-shuffled", "digits", "usps", "mnist_t10k", "letter", "kdd99")
TARGETS = {"covtype": 0.1, "covtype-shuffled": 0.1, "digits": 0.006}
"""What was aimed at, of VW's rate at its default settings on the same rows."""
ROWS = 20_000
FEW = {
    "River `ARFClassifier`, ten trees": ("river", "adaptive-random-forest"),
    "River `AMFClassifier`, ten trees": ("river", "mondrian-forest"),
    "MOA `AdaptiveRandomForest -s 30`": ("moa, calibrated", "meta.AdaptiveRandomForest -s 30"),
    "MOA `StreamingRandomPatches -s 30`": ("moa, calibrated", "meta.StreamingRandomPatches -s 30"),
    "scikit-learn `MLPClassifier.partial_fit`, row by row": ("sklearn", "mlp 0.001 1"),
}


def rate(result):
    return result.rows / result.cpu


def pairs(ours, theirs, repeat):
    """Rows a second of both, and the median, least and greatest ratio of pairs that were run in turn."""
    runs = [(ours(), theirs()) for _ in range(repeat)]
    ratios = [rate(a) / rate(b) for a, b in runs]
    return [statistics.median(rate(run[side]) for run in runs) for side in (0, 1)], ratios


def line(what, rival, ours, theirs, repeat, target=""):
    (fast, other), ratios = pairs(ours, theirs, repeat)
    text = (
        f"| {what} | {rival} | {fast:,.0f} | {other:,.0f} | {statistics.median(ratios):.3g} "
        f"({min(ratios):.3g} to {max(ratios):.3g}) | {target} |"
    )
    print(text, file=sys.stderr, flush=True)
    return text


def auto(on):
    return lambda: RUN["noregret"](on, "")


def contests(options):
    for name in options.streams.split(",") if options.streams else VW:
        on = stream(name, options.data)
        if on is None:
            print(f"skipped: {name}, its data set is not in {options.data}", file=sys.stderr)
            continue
        target = TARGETS.get(name, "")
        # Long streams take minutes of `auto` each time.
        repeat = 1 if len(on.rows[1]) > 100_000 else min(options.repeat, 3)
        yield line(name, "`vw --oaa K --probabilities`", auto(on), lambda: RUN["vw"](on, ""), repeat, target)
    on = stream("covtype", options.data)
    if on is None:
        return
    part = head(on, ROWS)
    for rival, (kind, setting) in FEW.items():
        yield line(part.name, rival, auto(part), lambda: RUN[kind](part, setting), 1)
    grid = settings("vw", on)
    log_losses = {}

    def whole_grid():
        runs = [RUN["vw"](part, setting) for setting in grid]
        log_losses.update((setting, run.log_loss) for setting, run in zip(grid, runs))
        runs[0].cpu = sum(run.cpu for run in runs)
        return runs[0]

    yield line(part.name, f"VW, all {len(grid)} settings of its grid, one after the other", auto(part), whole_grid, 1)
    best = min(log_losses, key=log_losses.get)
    yield line(part.name, f"VW, the setting of that grid with the lowest log-loss, `{best}`", auto(part), lambda: RUN["vw"](part, best), 1)


def speed_of_auto(options):
    table = "\n".join(contests(options))
    put_into("rivals-speed", "`auto`", f"""
`python3 benches/rivals/rivals.py speed-of-auto`: rows a second of processor time, one thread, of the whole process for `noregret run FILE` and VW, of
predicting and learning alone for the others. Long streams once, the others three times, in turn. What log-loss and error each has for it is in
[rivals-quality.md](rivals-quality.md) and [rivals-moa.md](rivals-moa.md). The last row but one is what tuning VW costs, and the
last one what was chosen by it. {built()}

{machine()}

| stream | rival | `auto`, rows/s | rival, rows/s | ratio | aimed at |
|---|---|---:|---:|---:|---:|
{table}
""")
