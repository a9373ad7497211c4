"""`rivals.py moa`: `auto` beside the learners of MOA, River's forests and Vowpal Wabbit's grid, on generated streams and on real
ones; writes results/rivals-moa.md after every stream. `rivals.py label-before`: of the same page, rivals that are told the label of the row before."""

import sys

from baselines import BASELINES, cells as baseline_cells
from contestants import MOST
from grids import settings
from places import MOA
from streams import GENERATED, GENERATED_ROWS, head, stream, with_label_before
from sections import duration
from tables import built, given_up, machine, outcome, put_into, remembered, write

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
REAL = ("digits", "segments", "vehicle", "segment", "satimage", "usps", "pendigits", "letter", "electricity", "shuttle", "covtype", "kdd99")
ORDERED = ("satimage", "electricity", "shuttle", "covtype", "kdd99")
"""Real streams whose order says something about the label."""
TOLD = "Rivals that are told the label before"
FIRST = 50_000
"""Rows of a longer stream; what comes after them is left out."""


def best_of(grid, by):
    """The outcome with the smallest `by` among those that were run, or None."""
    return min((result for result in grid if result is not None), key=by, default=None)


def contest(on, remember, ours=None):
    """The outcome of every contestant on a stream, of `auto` (on the stream `ours`, if it is another) only where a rival was run; of VW's grid, the setting with the lowest log-loss and that with the lowest error."""
    run = remembered if remember else outcome
    found = {"`auto`": None}
    found.update((name, run("moa, calibrated", setting, on)) for name, setting in LEARNERS.items())
    found.update((name, run("river", setting, on)) for name, setting in FORESTS.items())
    grid = [run("vw", setting, on) for setting in settings("vw", on)]
    found["VW, lowest log-loss"] = best_of(grid, lambda result: result.log_loss)
    found["VW, lowest error"] = best_of(grid, lambda result: result.error)
    if any(found.values()):
        found["`auto`"] = outcome("noregret", "", ours or on)
    return found


def label_before(options):
    """`auto`, which remembers the label before by itself, beside rivals that have it as further columns. Written after every stream."""
    if not MOA.exists():
        raise SystemExit(f"{MOA} is absent: places.py says where it comes from, and NOREGRET_MOA names another place")
    run, table = remembered if options.remembered else outcome, []
    for name in options.streams.split(";") if options.streams else ORDERED:
        on = stream(name, options.data)
        if on is None:
            print(f"skipped: {name}, its data set is not in {options.data}", file=sys.stderr)
            continue
        on = head(on, FIRST) if len(on.rows[1]) > FIRST else on
        told = with_label_before(on)
        found = contest(told, options.remembered, on)
        for rival in ("river", "sklearn"):
            grid = [run(rival, setting, told) for setting in settings(rival, told)]
            found[f"{rival}, lowest log-loss"] = best_of(grid, lambda result: result.log_loss)
            found[f"{rival}, lowest error"] = best_of(grid, lambda result: result.error)
        if found["`auto`"] is None:
            print(f"left out: {name}, no rival was run on it", file=sys.stderr)
            continue
        cells = [cell(who, result, found, told, timed=False) for who, result in found.items()]
        table.append([on.name, *cells, *baseline_cells(on.rows[1].tolist(), on.classes)])
        print(f"{on.name}: {cells[0]}", file=sys.stderr, flush=True)
        heads = ["stream", *found, *BASELINES]
        lines = ["| " + " | ".join(line) + " |" for line in table]
        put_into("rivals-moa", TOLD, f"""
Written by `python3 benches/rivals/rivals.py label-before`. `auto` has members that count which label follows which label. Here the rivals have as many further
columns as there are labels, 1 in that of the label of the row before, on streams whose order says something; `auto` is `noregret run FILE` on the rows as they are. (scikit-learn, which
predicts in blocks, is told the labels within its block, too.) Log-loss / error rate, everything else as above, and nothing is timed. "Not run" says that this contestant has not been run.

| {" | ".join(heads)} |
|{"---|" * len(heads)}
{chr(10).join(lines)}
""")


def cell(who, result, found, on, timed=True):
    """Log-loss / error / rows a second if `timed`, the lowest of the line in bold."""
    if result is None:
        stop = given_up("river", FORESTS[who], on) if who in FORESTS else None
        return f"would take {duration(stop.seconds / stop.rows * len(on.rows[1]))}" if stop else "not run"
    others = [one for one in found.values() if one is not None]
    loss, error = f"{result.log_loss:.4f}", f"{result.error:.4f}"
    if result.log_loss <= min(one.log_loss for one in others):
        loss = f"**{loss}**"
    if result.error <= min(one.error for one in others):
        error = f"**{error}**"
    return f"{loss} / {error}" + (f" / {result.rows / result.cpu:,.0f}" if timed else "")


def moa(options):
    if not MOA.exists():
        raise SystemExit(f"{MOA} is absent: places.py says where it comes from, and NOREGRET_MOA names another place")
    names = options.streams.split(";") if options.streams else [*GENERATED, *REAL]
    table, done, lost, partly = [], [], [], False
    for name in names:
        on = stream(name, options.data)
        if on is None:
            print(f"skipped: {name}, its data set is not in {options.data}", file=sys.stderr)
            continue
        if len(on.rows[1]) > FIRST:
            on = head(on, FIRST)
        found = contest(on, options.remembered)
        if found["`auto`"] is None:
            print(f"left out: {name}, no rival was run on it", file=sys.stderr)
            continue
        cells = [cell(who, result, found, on) for who, result in found.items()]
        title = on.name if name in REAL else name
        lost += [f"| {title} | {measure} | {who} |" for measure, who in winners(found).items() if who]
        done.append(name)
        partly |= "not run" in cells
        table.append([title, f"{len(on.rows[1]):,} x {on.rows[0].shape[1]}, {on.classes}", *cells, *baseline_cells(on.rows[1].tolist(), on.classes)])
        print(f"{name}: {cells[0]}", file=sys.stderr, flush=True)
        page(done, table, list(found), lost, partly)


def winners(found):
    """Of log-loss and of error: the rivals that are lower than `auto`, with their figures; empty where `auto` is the lowest."""
    ours, said = found["`auto`"], {}
    for measure, of in (("log-loss", "log_loss"), ("error rate", "error")):
        own = getattr(ours, of)
        lower = sorted((getattr(result, of), who) for who, result in found.items() if result is not None and getattr(result, of) < own)
        said[measure] = f"{own:.4f} | " + ", ".join(f"{who} {value:.4f}" for value, who in lower) if lower else ""
    return said


def page(names, table, contestants, lost, partly):
    """The page: one line per stream, one column per contestant. `partly` says that some were not run."""
    rest = [name for name in (*GENERATED, *REAL) if name not in names]
    missing = f" Not yet run: {'; '.join(rest)}." if rest else ""
    missing += " \"Not run\" in a cell says that this contestant has not been run on that stream." if partly else ""
    heads = ["stream", "rows x columns, classes", *contestants, *BASELINES]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(line) + " |" for line in table]
    commands = "\n".join(f"    noregret generate {GENERATED[name]} --rows {GENERATED_ROWS} --seed 1" for name in names if name in GENERATED)
    behind = "\n".join(("", "## Where a rival is lower", "", "| stream | measure | `auto` | lower |", "|---|---|---:|---|", *lost, "")) if lost else ""
    losses, errors = (sum(f" | {measure} | " in line for line in lost) for measure in ("log-loss", "error rate"))
    asked = "" if len(names) == len(GENERATED) + len(REAL) else f' --streams "{";".join(names)}"'
    write("rivals-moa", f"""# Beside MOA, River's forests and Vowpal Wabbit's grid

Written by `NOREGRET_GENERATED_ROWS={GENERATED_ROWS} python3 benches/rivals/rivals.py moa{asked}`. Log-loss / error rate / rows a second of processor
time; every row is predicted before its label is seen. `auto` is `noregret run FILE`, nothing set; it has the lowest log-loss on {len(table) - losses} of {len(table)}
streams and the lowest error rate on {len(table) - errors}. Longer real streams are cut after {FIRST:,} rows.{missing} {built()}

MOA is that of capymoa 0.15.1, at its defaults but for the number of trees; its votes are taken as probabilities, calibrated on the rows so far by Vovk's mixture of fifteen
powers and shares of uniform, if that is better (`benches/rivals/Prequential.java`). Where a rival's probability of the label is zero, the better of a floor of 1e-15 and a thousandth of the uniform distribution
mixed in is taken, to its favour. Its seconds are those of predicting and learning only, without the threads that compile and collect garbage beside it; `auto`'s and VW's
are those of the whole process. River's forests have ten trees; where one would take more than {duration(MOST)} at the speed of its first minute, the cell says so. VW's two columns are the lowest log-loss and the lowest error of its grid
(`benches/rivals/grids.py`), each chosen after the fact. Other programs ran on the machine meanwhile, which changes no loss and lowers the rows a second.

{machine()}

{commands}

{chr(10).join(lines)}
{behind}""", keep=[TOLD])
