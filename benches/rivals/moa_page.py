"""`rivals.py moa`: `auto` beside the learners of MOA, River's forests and Vowpal Wabbit's grid, on generated streams and on real
ones; writes results/rivals-moa.md after every stream."""

import sys

from baselines import BASELINES, cells as baseline_cells
from contestants import MOST
from grids import settings
from places import MOA
from streams import GENERATED, GENERATED_ROWS, stream
from tables import machine, outcome, remembered, write

LEARNERS = {
    "ARF, 30 trees": "meta.AdaptiveRandomForest -s 30",
    "ARF, 100 trees": "meta.AdaptiveRandomForest -s 100",
    "SRP, 30 trees": "meta.StreamingRandomPatches -s 30",
    "LeveragingBag": "meta.LeveragingBag",
    "HAT": "trees.HoeffdingAdaptiveTree",
    "SAMkNN": "lazy.SAMkNN",
    "kNN": "lazy.kNN -w 1000",
}
FORESTS = {"River ARF": "adaptive-random-forest", "River AMF": "mondrian-forest"}
REAL = ("digits", "segments", "vehicle", "segment", "satimage", "pendigits", "letter", "electricity")


def best_of(grid, by):
    """The outcome with the smallest `by` among those that were run, or None."""
    return min((result for result in grid if result is not None), key=by, default=None)


def contest(on, remember):
    """The outcome of every contestant on a stream; of VW's grid, the setting with the lowest log-loss and that with the lowest error."""
    run = remembered if remember else outcome
    found = {"`auto`": outcome("noregret", "", on)}
    found.update((name, run("moa", setting, on)) for name, setting in LEARNERS.items())
    found.update((name, run("river", setting, on)) for name, setting in FORESTS.items())
    grid = [run("vw", setting, on) for setting in settings("vw", on)]
    found["VW, lowest log-loss"] = best_of(grid, lambda result: result.log_loss)
    found["VW, lowest error"] = best_of(grid, lambda result: result.error)
    return found


def cell(result, found):
    """Log-loss / error / rows a second, the lowest of the line in bold."""
    if result is None:
        return "not run"
    others = [one for one in found.values() if one is not None]
    loss, error = f"{result.log_loss:.4f}", f"{result.error:.4f}"
    if result.log_loss <= min(one.log_loss for one in others):
        loss = f"**{loss}**"
    if result.error <= min(one.error for one in others):
        error = f"**{error}**"
    return f"{loss} / {error} / {result.rows / result.cpu:,.0f}"


def moa(options):
    if not MOA.exists():
        raise SystemExit(f"{MOA} is absent: places.py says where it comes from, and NOREGRET_MOA names another place")
    names = options.streams.split(";") if options.streams else [*GENERATED, *REAL]
    table, losses, errors = [], 0, 0
    for name in names:
        on = stream(name, options.data)
        if on is None:
            print(f"skipped: {name}, its data set is not in {options.data}", file=sys.stderr)
            continue
        found = contest(on, options.remembered)
        rivals = [result for who, result in found.items() if who != "`auto`" and result is not None]
        losses += found["`auto`"].log_loss <= min(result.log_loss for result in rivals)
        errors += found["`auto`"].error <= min(result.error for result in rivals)
        cells = [cell(result, found) for result in found.values()]
        table.append([name, f"{len(on.rows[1]):,} x {on.rows[0].shape[1]}, {on.classes}", *cells, *baseline_cells(on.rows[1].tolist(), on.classes)])
        print(f"{name}: {cells[0]}", file=sys.stderr, flush=True)
        page(names, table, list(found), losses, errors)


def page(names, table, contestants, losses, errors):
    """The page: one line per stream, one column per contestant."""
    head = ["stream", "rows x columns, classes", *contestants, *BASELINES]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(line) + " |" for line in table]
    commands = "\n".join(f"    noregret generate {GENERATED[name]} --rows {GENERATED_ROWS} --seed 1" for name in names if name in GENERATED)
    write("rivals-moa", f"""# Beside MOA, River's forests and Vowpal Wabbit's grid

Written by `NOREGRET_GENERATED_ROWS={GENERATED_ROWS} python3 benches/rivals/rivals.py moa`. Log-loss / error rate / rows a second of processor
time; every row is predicted before its label is seen. `auto` is `noregret run FILE`, nothing set; it has the lowest log-loss on {losses} of {len(table)}
streams and the lowest error rate on {errors}.

MOA is that of capymoa 0.15.1, at its defaults but for the number of trees; its votes are taken as probabilities
(`benches/rivals/Prequential.java`). Where a rival's probability of the label is zero, the better of a floor of 1e-15 and a thousandth of the uniform distribution
mixed in is taken, to its favour. Its seconds are those of predicting and learning only, `auto`'s and VW's those of the whole process. River's forests
have ten trees and were given {MOST / 60:.0f} minutes of processor time each. VW's two columns are the lowest log-loss and the lowest error of its grid
(`benches/rivals/grids.py`), each chosen after the fact.

{machine()}

{commands}

{chr(10).join(lines)}
""")
