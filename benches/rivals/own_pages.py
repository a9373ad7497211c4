"""Pages about noregret alone: `rivals.py real-data`, `boosting` and `bandit-learners` write the pages of results/ with these names
(the last one bandit.md)."""

import json
import math
import sys

from many import process
from places import NOREGRET, WORK
from tables import write

BOTH = ["ogd", "folklore"]
FIRST_ORDER = ["ogd"]
REAL_SETS = {
    "vehicle.scale.libsvm.gz": BOTH,
    "vehicle.csv.gz": BOTH,
    "segment.scale.libsvm.gz": BOTH,
    "segment.csv.gz": BOTH,
    "shuttle.libsvm.gz": BOTH,
    "shuttle.csv.gz": BOTH,
    "pendigits.libsvm.gz": BOTH,
    "letter.scale.libsvm.gz": BOTH,
    "satimage.scale.libsvm.gz": BOTH,
    "electricity.libsvm.gz": BOTH,
    "covtype.scale01.libsvm.gz": BOTH,
    "covtype.csv.gz": BOTH,
    "kdd99_10pct.libsvm.gz": FIRST_ORDER,
    "reuters4_sub.libsvm.gz": FIRST_ORDER,
}
"""Data sets with the learners that are affordable for them."""


def noregret(*arguments):
    """The lines of JSON that a command prints, and its peak memory in MiB."""
    print("noregret", *arguments, file=sys.stderr, flush=True)
    out, _, memory = process([NOREGRET, *arguments, "--json"])
    return [json.loads(line) for line in out.splitlines()], memory


def measured(path, arguments):
    lines, memory = noregret("run", path, *arguments.split())
    return lines[-1], memory


def number(value, digits=4):
    return "" if value is None else f"{value:.{digits}f}"


def table(head, rows, numbers=0):
    """A table; its last `numbers` columns are aligned to the right."""
    cells = head.split("|")
    rules = ["---"] * (len(cells) - numbers) + ["---:"] * numbers
    return "\n".join("|" + "|".join(row) + "|" for row in [[f" {cell.strip()} " for cell in cells], rules, *rows])


def row(*cells):
    return [f" {cell} " for cell in cells]


def real_data(options):
    rows = []
    for file, learners in REAL_SETS.items():
        if not (options.data / file).exists():
            print(f"skipped: {file} is absent", file=sys.stderr)
            continue
        for learner in learners:
            got, memory = measured(options.data / file, f"--learner {learner}")
            sizes = (got["rounds"], got["classes"], got["features"], number(got["error_rate"]), number(got["log_loss"]))
            rows.append(row(file, learner, *sizes, number(got["rows_per_second"], 0), f"{memory:.0f} MiB"))
    head = "file | learner | rounds | K | d | error rate | log-loss | rows/s | peak memory"
    write(
        "real-data",
        f"""# Real data, default settings

Written by `benches/rivals/rivals.py real-data`: every row is `noregret run FILE --learner LEARNER` with nothing else, one
pass in file order, each prediction made before its label was seen. Features include the intercept. Rates and
log-loss (nats) are means over the whole pass; rows a second are those of the learning pass, decompression and
parsing included, on a shared machine with two cores; memory is the peak of the process.

{table(head, rows, 7)}
""",
    )


# Boosting ---------------------------------------------------------------------------------------------------------

BOOSTED = {
    "vehicle.scale.libsvm.gz": "",
    "segment.scale.libsvm.gz": "",
    "satimage.scale.libsvm.gz": "",
    "pendigits.libsvm.gz": "",
    "letter.scale.libsvm.gz": "",
    "usps.libsvm.gz": "",
    "electricity.libsvm.gz": "",
    "shuttle.libsvm.gz": "",
    "covtype.scale01.libsvm.gz": " --limit 100000",
}
TREES = {
    "folklore (linear)": "--learner folklore",
    "one tree": "--learner adaboost-olm --set copies=1",
    "adaboost-olm": "--learner adaboost-olm",
    "play=mixture": "--learner adaboost-olm --set play=mixture",
    "play=vote": "--learner adaboost-olm --set play=vote",
}
WEAK = ("tree", "best-stump", "stump", "linear-cost", "ogd")
TUNED_ON = ("vehicle.scale.libsvm.gz", "segment.scale.libsvm.gz", "satimage.scale.libsvm.gz", "electricity.libsvm.gz")
CHANGES = (
    [""]
    + [f"--set copies={copies}" for copies in (10, 100)]
    + [f"--set weak.grace={rows}" for rows in (2, 10, 50)]
    + [f"--set weak.buffer={rows}" for rows in (8, 128)]
    + ["--set weak.tries=4"]
    + [f"--set weak.confidence={share}" for share in (1, 0.1, 0.001)]
    + ["--set horizon=anytime", "--set horizon=1000000", "--seed 1", "--seed 2"]
)
"""Arguments that change one thing each."""
COPIES = (1, 10, 30, 100, 300)


def boosting(options):
    def run(file, arguments):
        return measured(options.data / file, arguments)

    def weak(name, copies):
        return f"--learner adaboost-olm --set weak={name} --set copies={copies} --limit 20000"

    def error(file, arguments):
        return number(run(file, arguments)[0]["error_rate"])

    against = []
    for file, limit in BOOSTED.items():
        for name, arguments in TREES.items():
            got, memory = run(file, arguments + limit)
            rates = (number(got["error_rate"]), number(got.get("log_loss")), number(got["rows_per_second"], 0))
            against.append(row(file, got["rounds"], name, *rates, f"{memory:.0f} MiB"))
    alone = [row(file, *(f"{error(file, weak(name, 1))} → {error(file, weak(name, 30))}" for name in WEAK)) for file in BOOSTED]
    changes = [
        row(change or "none", *(error(file, f"--learner adaboost-olm {change}") for file in TUNED_ON)) for change in CHANGES
    ]
    cost = [
        row(name, *(number(1e6 / run("covtype.scale01.libsvm.gz", weak(name, copies))[0]["rows_per_second"], 1) for copies in COPIES))
        for name in WEAK[:4]
    ]
    write(
        "boosting",
        f"""# Boosting on real data

Written by `benches/rivals/rivals.py boosting`: every number is one pass in file order by `noregret run FILE ARGUMENTS`, each
prediction made before its label was seen, everything else at its default. Rows a second are those of the learning
pass on a shared machine with two cores, on one of them.

## Boosted trees against the best linear learner and against one tree

{table("file | rows | learner | error rate | log-loss | rows/s | peak memory", against)}

## Weak learners, alone and boosted (error rates; 1 and 30 copies; at most 20,000 rows)

{table(" | ".join(["file", *WEAK]), alone)}

## Trees, one thing changed at a time (error rates)

{table(" | ".join(["arguments", *TUNED_ON]), changes)}

## Cost: microseconds a round by copies N, on the first 20 000 rows of covtype (K = 7, d = 55)

{table(" | ".join(["weak learner", *(f"N = {copies}" for copies in COPIES)]), cost)}
""",
        keep=["What the defaults are, and why", "Threads"],
    )


# Bandit learners --------------------------------------------------------------------------------------------------

SEEDS = "3"
GAPTRON = ["mode=bandit", "norm=1000"]


def gaptron(slow, fast):
    """Gaptron without a ball, as in the papers' comparisons: explorations with the theorem's rate, and powers of two with a hundred
    times that rate."""
    losses = ("logistic", "hinge", "smooth")
    return [(f"gaptron-{loss}", [*GAPTRON, f"exploration={at}"], powers) for loss, at, powers in zip(losses, slow, fast, strict=True)]


# Learners, settings, and powers of two for `gaptron`. Other parameters have the theorem's defaults.
SYNTHETIC = [
    (
        "perceptron,second-order-perceptron-diag,gaptron-logistic,gaptron-hinge,gaptron-smooth",
        ["second-order-perceptron-diag.regularization=1"],
        (),
    ),
    ("banditron", ["exploration=2^-14,2^-7,2^-6,2^-5"], ()),
    ("pnewtron", ["exploration=2^-14,2^-8"], ()),
    ("soba-diag", ["exploration=2^-8,2^-7,2^-6", "regularization=1"], ()),
    ("soba-diag", ["exploration=adaptive", "regularization=1"], ()),
    *gaptron(("2^-3", "2^-6,2^-5", "2^-4"), ((-6, -5), (-9, -7), (-8, -7))),
    ("confidit-diag", ["width=0.001,0.01,0.1"], ()),
]
REAL = [
    ("perceptron,second-order-perceptron-diag", ["second-order-perceptron-diag.regularization=1"], ()),
    ("banditron,soba-diag", ["exploration=2^-9,2^-7,2^-5", "soba-diag.regularization=1"], ()),
    ("pnewtron", ["exploration=2^-9,2^-7", "norm=1,10"], ()),
    *gaptron(("2^-4", "2^-4", "2^-4"), ((-6, -4), (-6, -4), (-6, -4))),
    ("confidit-diag", ["width=0.001,0.01,0.1"], ()),
]
# Learners with full matrices and examples for teaching, for data with few features.
FEW_FEATURES = [
    ("soba", ["exploration=2^-7,2^-5", "regularization=1"], ()),
    ("soba-reduction", ["exploration=2^-4", "norm=10", "ons_rate=0.01,0.1", "ons_regularization=1000"], ()),
    ("bandit-reduction", ["exploration=2^-6,2^-4"], ()),
    ("newtron", ["exploration=2^-7", "projection=scale"], ()),
    ("confidit", ["width=0.001,0.1"], ()),
    ("exp4", [], ()),
]


def best(settings, learner):
    """The table row of the best setting of `learner`. A value at the end of the grid is marked, since the best value may be beyond."""
    all = [one for one in settings if one["learner"] == learner]
    found = min(all, key=lambda one: one["error_rate"]["mean"])
    words = []
    for name, value in found["settings"].items():
        if name == "mode":
            continue
        numbers = [one["settings"][name] for one in all if isinstance(one["settings"].get(name), (int, float))]
        end = isinstance(value, (int, float)) and len(set(numbers)) > 1 and value in (min(numbers), max(numbers))
        power = math.log2(value) if isinstance(value, (int, float)) and value > 0 else 0.5
        shown = f"2^{power:.0f}" if power < 0 and power == int(power) else str(value)
        words.append(f"{name}={shown}" + (" (100 times the theorem's)" if name == "rate" else " (end of the grid)" if end else ""))
    feedback = "right or wrong" if found["feedback"] == "bandit" else "the label"
    error = found["error_rate"]
    sd = "" if found["repeats"] == 1 else number(error["sd"])
    greedy = (found.get("greedy_error_rate") or {}).get("mean")
    return row(f"`{learner}`", feedback, ", ".join(words), number(error["mean"]), sd, number(greedy))


def section(title, path, options, sweeps):
    """A heading, a table and its commands."""
    rows, commands = [], []

    def compared(learners, settings):
        chosen = [part for setting in settings for part in ("--set", setting)]
        call = ["compare", str(path), "--learners", learners, "--repeats", SEEDS, *options, *chosen]
        commands.append(f"    noregret {' '.join([call[0], path.name, *call[2:]])}")
        lines, _ = noregret(*call)
        return lines[0], lines[-1]

    for learners, settings, fast in sweeps:
        first, summary = compared(learners, settings)
        rows.extend(best(summary["settings"], learner) for learner in learners.split(","))
        faster = []
        for exploration in (2.0**power for power in fast):
            # The theorem's rate is proportional to the exploration if the ball has no effect.
            used = first["resolved_parameters"]
            rate = 100 * used["rate"] * exploration / used["exploration"]
            rest = [setting for setting in settings if not setting.startswith("exploration=")]
            faster += compared(learners, [*rest, f"exploration={exploration}", f"rate={rate:.3e}"])[1]["settings"]
        if fast:
            rows.append(best(faster, learners))
    rows.append(row("guess: always the commonest class", "", "", number(summary["majority_error_rate"]), "", ""))
    rows.append(row("guess: any class", "", "", number(summary["uniform_error_rate"]), "", ""))
    body = table("learner | feedback | best setting | error | sd | greedy", rows, 3)
    return f"## {title}\n\n{body}\n\n" + "\n".join(commands) + "\n"


def bandit_learners(options):
    count = str(options.rows or 1_000_000)
    sections = []
    for stream, more in (("synsep", ""), ("synnonsep", ": 5 % of the labels are wrong")):
        path = WORK / f"{stream}-{count}.svm"
        if not path.exists():
            process([NOREGRET, "generate", stream, "--rows", count, "--seed", "1", "-o", path])
        name = {"synsep": "SynSep", "synnonsep": "SynNonSep"}[stream]
        sections.append(section(f"{name}, {count} rows, not normalised{more}", path, ["--scale", "none", "--no-intercept"], SYNTHETIC))
    whole, part = ["--scale", "none", "--limit", count], ["--scale", "none", "--limit", "100000"]
    for file, title, limits, sweeps in (
        ("covtype.scale01.libsvm.gz", "Covertype, features in [0, 1] with a constant one, file order", whole, REAL),
        ("covtype.scale01.libsvm.gz", "Covertype, the first 100,000 rows: learners for few features", part, FEW_FEATURES),
        ("reuters4_sub.libsvm.gz", "Reuters4 (a subset), cosine-normalised", whole, REAL),
    ):
        if (options.data / file).exists():
            sections.append(section(title, options.data / file, limits, sweeps))
        else:
            print(f"skipped: {file} is absent", file=sys.stderr)
    write(
        "bandit",
        f"""# Bandit feedback: every learner's best over its grid

Written by `benches/rivals/rivals.py bandit-learners`. Every learner hears only whether the label that it played was right,
except where "feedback" says "the label". Errors are those of the labels played, the mean over {SEEDS} seeds
(what draws nothing runs once), with standard deviation; greedy is the error of the learner's best label. The grids
are small, about what served best in the literature and in earlier runs: the commands after every table show them.
Gaptron's rate is the theorem's, or a hundred times that, which no theorem covers.

"""
        + "\n".join(sections),
        keep=["Made by hand"],
    )
