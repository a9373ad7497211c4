"""The tables: runs the contestants, stores their outcomes, writes the pages."""

import datetime
import functools
import hashlib
import importlib.metadata
import json
import platform
import sys
from dataclasses import asdict

from baselines import BASELINES, cells as baseline_cells, no_change
from contestants import MOST, RUN, Outcome, Stopped
from grids import OFFERED, VW_CBIFY, settings
from places import NOREGRET, ROOT, WORK
from streams import NAMES, head, stream

LOG = WORK / "runs.jsonl"


def remembered(rival, setting, on):
    """The stored outcome, or None."""
    key = [rival, setting, on.name]
    entries = map(json.loads, LOG.read_text().splitlines()) if LOG.exists() else ()
    return next((Outcome(**entry["outcome"]) for entry in entries if entry["key"] == key and entry["outcome"]), None)


def given_up(rival, setting, on):
    """The rows and seconds of an earlier run that was stopped and would have taken more than `MOST`, or None."""
    key = [rival, setting, on.name]
    entries = map(json.loads, LOG.read_text().splitlines()) if LOG.exists() else ()
    stopped = [Stopped(entry["rows"], entry["seconds"]) for entry in entries if entry["key"] == key and entry["outcome"] is None]
    return next((stop for stop in reversed(stopped) if stop.seconds / stop.rows * len(on.rows[1]) > MOST), None)


@functools.cache
def build():
    """Identifies a build of noregret."""
    return hashlib.blake2b(NOREGRET.read_bytes(), digest_size=8).hexdigest()


def built():
    """Of which day's build `auto` is: the day on which the program was written."""
    day = datetime.date.fromtimestamp(NOREGRET.stat().st_mtime)
    return f"`auto` is of the build of {day.day} {day:%B %Y}."


def outcome(rival, setting, on):
    """The outcome of a contestant: a stored one (for noregret, of the same build), or that of a new run."""
    key = [rival if rival != "noregret" else f"noregret {build()}", setting, on.name]
    known = remembered(key[0], setting, on)
    if known is not None or given_up(rival, setting, on):
        return known
    result = RUN[rival](on, setting)
    if isinstance(result, Stopped):
        print(f"{on.name:18} {rival:9} {setting:50} stopped after {result.rows} rows, {result.seconds:.0f}s", file=sys.stderr, flush=True)
        with open(LOG, "a") as log:
            log.write(json.dumps({"key": key, "outcome": None, **asdict(result)}) + "\n")
        return None
    print(f"{on.name:18} {rival:9} {setting:50} {result.log_loss or 0:.4f} {result.error:.4f} {result.wall:.1f}s", file=sys.stderr, flush=True)
    with open(LOG, "a") as log:
        log.write(json.dumps({"key": key, "outcome": result.to_json()}) + "\n")
    return result


def chosen(options):
    """The wanted streams whose data are present; names the others."""
    for name in options.streams.split(",") if options.streams else NAMES:
        found = stream(name, options.data)
        if found is None:
            print(f"skipped: {name}, its data set is not in {options.data}", file=sys.stderr)
        else:
            yield found


def machine():
    """Versions of the programs, and the processor."""
    names = ("vowpalwabbit", "river", "scikit-learn", "numpy")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), platform.machine())
    return f"{versions}, Python {platform.python_version()}; {model}, one thread each."


def put_into(name, title, body):
    """Writes a section of a page, replacing the one with the same title."""
    path = ROOT / "results" / f"{name}.md"
    text = path.read_text()
    before, found, rest = text.partition(f"## {title}\n")
    after = rest.partition("\n## ")
    section = f"## {title}\n\n{body.strip()}\n"
    following = f"\n## {after[2]}" if found and after[1] else ""
    path.write_text((before if found else text.rstrip() + "\n\n") + section + following)
    print(f"wrote '{title}' into {path}", file=sys.stderr)


def write(name, text, keep=()):
    """Writes a page. The sections `keep`, which have commands of their own, stay as they were."""
    path = ROOT / "results" / f"{name}.md"
    old = path.read_text() if path.exists() else ""
    sections = {title: body for title, _, body in (part.partition("\n") for part in old.split("\n## ")[1:])}
    kept = [f"## {title}\n{sections[title].rstrip()}\n" for title in keep if title in sections]
    path.write_text("\n".join([text, *kept]))
    print(f"wrote {path}", file=sys.stderr)


RIVALS = ("vw", "river", "sklearn")


ORDER = """## What the order of the rows gives away

Forecasts that look at no feature (`benches/rivals/baselines.py`): `no-change` says the label before again, with the share of rounds in which
that was right; `label-markov` counts which label follows which. Log-loss / error. Where they are good, learners that adapt fast
are good for that reason, too: on covtype in file order `no-change` errs less often than every rival of the table. Rivals that have the label before
as further columns are in the last section of [rivals-moa.md](rivals-moa.md).
"""

# Largest number of floating-point operations of a pass: a minute or two.
AFFORDABLE = 3e12


def full_matrix_flops(on):
    """Floating-point operations of FOLKLORE's full matrix on a stream."""
    (rows, features), q = on.rows[0].shape, on.classes - 1
    return rows * (2 * q**2 + q**3) * (features + 1) ** 2


def quality(options):
    """Log-loss and error of `auto` and `folklore`, untuned, beside the best of each rival's grid."""
    ours = {"auto": "", "folklore": "--learner folklore"}
    rivals = options.rivals.split(",") if options.rivals else [*ours, *RIVALS]
    lines, picks, order = [], [], []
    for on in chosen(options):
        cells = {}
        order.append(f"| {on.name} | {' | '.join(baseline_cells(on.rows[1].tolist(), on.classes))} |")
        for name in rivals:
            if name in ours:
                affordable = name != "folklore" or full_matrix_flops(on) < AFFORDABLE
                cells[name] = outcome("noregret", ours[name], on) if affordable else None
                continue
            run = remembered if options.remembered else outcome
            grid = {setting: run(name, setting, on) for setting in settings(name, on)}
            tried = {setting: result for setting, result in grid.items() if result is not None}
            if not tried:
                cells[name] = None
                continue
            grid = tried
            pick = min(grid, key=lambda setting: grid[setting].log_loss)
            sharp = min(grid, key=lambda setting: grid[setting].error)
            cells[name] = grid[pick]
            of = "" if len(grid) == OFFERED[name] else f" of {OFFERED[name]}"
            picks.append(f"| {on.name} | {name} | {len(grid)}{of} | `{pick}` | {grid[sharp].error:.4f} with `{sharp}` |")
        best = min(cell.log_loss for cell in cells.values() if cell)
        row = [on.name, f"{len(on.rows[1])} x {on.rows[0].shape[1]}, {on.classes}"]
        for cell in cells.values():
            if cell is None:
                row.append("not run")
                continue
            loss = f"**{cell.log_loss:.4f}**" if cell.log_loss == best else f"{cell.log_loss:.4f}"
            row.append(f"{loss} / {cell.error:.4f} / {cell.rows / cell.cpu:,.0f}")
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    if options.streams or options.rivals:
        print("\n".join(lines))
        return
    heads = [f"`{name}`" if name in ours else f"{name}, best of grid" for name in rivals]
    write(
        "rivals-quality",
        f"""# Untuned against the best of three grids

Written by `python3 benches/rivals/rivals.py quality`. Every row of a stream is predicted, scored, then learnt, once, in
order; scikit-learn alone predicts and learns in blocks of 16 or 64 rows on streams of more than 3,000 (the last number of its
settings), which it needs for its speed. Each cell: mean log-loss (nats) / error rate / rows a second. `auto` and `folklore` are
`noregret run FILE` without options (`--learner folklore`), reading text: a first pass over the file finds classes, columns and the number of rows,
which the rivals are told. For the rivals the setting of the lowest log-loss was
chosen after the fact from a grid, and where they give a label no probability, the better of a floor of 1e-15 and a thousandth of
uniform mixed in was counted. "Not run": left out because it takes long; below, how many settings of a grid were run. The
lowest log-loss of a row is bold. Rows a second of processor time: of the whole process for noregret and VW (text included), of the
loop alone for River and scikit-learn (rows in memory already).

{machine()}

| stream | rows x d, K | {" | ".join(heads)} |
|---|---|{"---|" * len(heads)}
{chr(10).join(lines)}

## What was chosen

| stream | rival | settings tried | lowest log-loss | lowest error |
|---|---|---|---|---|
{chr(10).join(picks)}

{ORDER}
| stream | {" | ".join(BASELINES)} |
|---|{"---|" * len(BASELINES)}
{chr(10).join(order)}
""",
        keep=["River's forests", "Streams that the defaults were not chosen with", "Through a pipe"],
    )


# Ours at one stated setting each, not tuned: rows of norm 1, five labels in a hundred drawn
# uniformly, and constants that suit such rows: the papers' a = 1 for SOBA, a ball in which scores can reach 10 for
# PNewtron, and for Gaptron, whose theorem's rate is very slow, a rate of 0.01. Confidit has its defaults.
BANDITS = {
    "auto": "--feedback bandit",
    "squarecb": "--learner squarecb --set schedule=root",
    "fastcb": "--learner fastcb --set schedule=root",
    "confidit": "--learner confidit",
    "confidit-diag": "--learner confidit-diag",
    "soba": "--learner soba --scale unit --set exploration=0.05 --set regularization=1",
    "soba-diag": "--learner soba-diag --scale unit --set exploration=0.05 --set regularization=1",
    "gaptron-hinge": "--learner gaptron-hinge --feedback bandit --scale unit --set exploration=0.05 --set rate=0.01",
}
BANDIT_STREAMS = (
    "digits,segments-scaled,softmax,covtype,covtype-shuffled,reuters4,pendigits,letter,satimage,shuttle,usps,electricity"
)
TARGETS = {
    "digits": 0.13, "segments-scaled": 0.12, "softmax": 0.27, "covtype": 0.19, "covtype-shuffled": 0.28, "reuters4": 0.065,
}
"""What `auto` is to err at most."""
TIMED = ("softmax", "covtype", "covtype-shuffled")
"""Streams on which decisions are counted by the second."""
FULL = ("soba", "confidit", "squarecb", "fastcb")
"""Learners of full matrices, which many features make too large."""


def bandit(options):
    """Error under right-or-wrong feedback over seeds, ours untuned, `vw --cbify` at the best of its grid. Written after every stream."""
    options.streams = options.streams or BANDIT_STREAMS
    table = BanditTable(options)
    for on in chosen(options):
        table.add(head(on, options.rows) if options.rows and len(on.rows[1]) > options.rows else on)
        table.write()


class BanditTable:
    """Lines of results/rivals-bandit.md."""

    def __init__(self, options):
        self.options = options
        self.lines, self.picks, self.speeds, self.lowest, self.close = [], [], [], 0, 0

    def add(self, on):
        """Runs every contestant on a stream."""
        labels = on.rows[1]
        majority = 1 - max((labels == k).mean() for k in range(on.classes))
        affordable = on.classes * on.rows[0].shape[1] <= 3000
        cells, spreads, speeds = {}, {}, {}
        for name, setting in BANDITS.items():
            cells[name] = None
            if affordable or name not in FULL:
                runs = [outcome("noregret", f"{setting} --seed {seed}", on) for seed in range(1, self.options.seeds + 1)]
                errors = [run.error for run in runs]
                speeds[name] = len(labels) * len(runs) / sum(run.cpu for run in runs)
                cells[name], spreads[name] = sum(errors) / len(errors), (min(errors), max(errors))
        grid = {setting: outcome("vw-cbify", setting, on).error for setting in settings("vw-cbify", on)}
        pick = min(grid, key=grid.get)
        cells["vw"] = grid[pick]
        others = min(error for name, error in cells.items() if name != "auto" and error is not None)
        self.lowest += cells["auto"] <= others
        self.close += cells["auto"] <= 1.05 * others
        best = min(error for error in cells.values() if error is not None)
        shown = ["-" if e is None else f"**{e:.4f}**" if e == best else f"{e:.4f}" for e in cells.values()]
        # A target is one of a whole stream.
        target = TARGETS.get(on.name)
        held = "" if target is None else f"{target} {'held' if cells['auto'] <= target else 'missed'}"
        low, high = spreads["auto"]
        self.lines.append(
            f"| {on.name} | {len(labels):,} | {1 - 1 / on.classes:.4f} | {majority:.4f} | {no_change(labels.tolist(), on.classes)[1]:.4f} "
            f"| {' | '.join(shown)} | {grid[VW_CBIFY[0]]:.4f} "
            f"| {low:.4f} to {high:.4f} | {held} |"
        )
        of = "" if len(grid) == OFFERED["vw-cbify"] else f" of {OFFERED['vw-cbify']}"
        self.picks.append(f"| {on.name} | {len(grid)}{of} | `{pick}` |")
        if on.name in TIMED:
            figures = " | ".join(f"{speeds[name]:,.0f}" for name in ("auto", "squarecb", "fastcb", "confidit"))
            self.speeds.append(f"| {on.name} | {figures} |")

    def write(self):
        options, count = self.options, len(self.lines)
        cut = f" --rows {options.rows}" if options.rows else ""
        heads = " | ".join(f"`{name}`" for name in BANDITS)
        speeds = ""
        if self.speeds:
            speeds = """## Decisions a second

Rounds a second of processor time on one core, of the runs above: reading the row as text, the decision, the score and what is learnt from
the answer. Other programs ran on the machine meanwhile.

| stream | `auto` | `squarecb` | `fastcb` | `confidit` |
|---|---:|---:|---:|---:|
""" + "\n".join(self.speeds) + "\n\n"
        settings_of_ours = "\n".join(f"    noregret run FILE {setting}" for setting in BANDITS.values())
        write(
            "rivals-bandit-first-rows" if options.rows else "rivals-bandit",
            f"""# Right-or-wrong feedback, beside `vw --cbify`

Written by `python3 benches/rivals/rivals.py bandit --seeds {options.seeds}{cut}`. Error rate of the labels played, exploration
included, one pass, the mean over {options.seeds} seeds. noregret: one setting for all streams, that of the command below, `auto` without any; VW: the setting of the lowest error, chosen after the fact, with one seed, and VW's own
default. The lowest error of a row is bold; - is a full matrix that would be too large. What was aimed at counts for whole streams.

*No-change* says the label of the row before again, which under this feedback only those know who have played it: where it errs seldom, rows of
one label follow each other, and who counts which label follows which label, as a member of `auto` does where it has heard them, is good for that reason, too.

`auto` has the lowest error on {self.lowest} of {count} streams, and is within 5 % of the lowest on {self.close}. {built()}

{machine()}

| stream | rows | uniform guess | majority class | no-change | {heads} | `vw --cbify`, best of grid | VW's default | `auto`, lowest and highest seed | aimed at |
|---|---:|---:|---:|---:|{"---:|" * (len(BANDITS) + 3)}---|
{chr(10).join(self.lines)}

{speeds}## Settings

{settings_of_ours}

| stream | VW settings tried | lowest error |
|---|---:|---|
{chr(10).join(self.picks)}
""",
        )


def speed(options):
    """Ratios of running time."""
    import python_rows
    from speed import contests, gemm, line

    def lines(of):
        table = []
        for contest in of:
            table.append(line(contest, options.repeat))
            print(table[-1], file=sys.stderr, flush=True)
        return "\n".join(table)

    python_rows.install(sys.executable)
    heads = """| what | rival | ours, rows/s | rival, rows/s | ratio of wall time | of CPU time | target |
|---|---|---:|---:|---:|---:|---:|"""
    write(
        "rivals-speed",
        f"""# Speed beside the rivals

Written by `python3 benches/rivals/rivals.py speed --repeat {options.repeat}`: medians of {options.repeat} interleaved pairs, lowest and highest in
brackets. noregret is timed as a whole process, reading LIBSVM text and scoring every prediction; so is VW; of NumPy only
the loop counts. NumPy's own matrix product ran at {gemm():.0f} GFLOP/s (n = 1024, double precision).

{machine()}

{heads}
{lines(contests(options.data))}

## From Python

In one process, d = {python_rows.FEATURES}, K = {python_rows.CLASSES}, dense. One row at a time, {python_rows.ROWS} of them, each in the form that the contestant likes best
(arrays of one row for scikit-learn, dictionaries for River, arrays for `Learner`); then whole arrays beside the command line
on the same rows as text, where a ratio of 1 is its speed.

{heads}
{lines(python_rows.contests())}
""",
        keep=["`auto`"],
    )
