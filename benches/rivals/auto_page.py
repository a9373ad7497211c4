"""`auto` by itself: how well its probabilities are calibrated, which member leads in the end, what its budget does, and
what each kind of member brings."""

import json
import sys

from contestants import NOREGRET, timed
from tables import built, chosen, machine, write

BUDGETS = ("0.1", "0.6", "3", "10", "100")
# Rows of the sweep.
FEW = 8000
KINDS = {
    "trees": lambda member: member == "trees",
    "forest": lambda member: member == "forest",
    "neighbours": lambda member: member == "neighbours",
    "waves": lambda member: member.startswith("waves@"),
    "forgetting": lambda member: member.startswith(("shared@", "products@")) and ":" in member,
}
SWEPT = "digits,segments,vehicle,segment,satimage,pendigits,usps,letter,electricity,shuttle,covtype,covtype-shuffled"

TEXT = """# auto by itself

Written by `python3 benches/rivals/rivals.py auto`. What tuned rivals reach on the same streams is in
[rivals-quality.md](rivals-quality.md). {built}

{machine}

Every row is `noregret run FILE --calibration --json`: one pass in file order, every prediction made before its label was seen,
nothing tuned. The calibration error is the mean difference between the probability of the most probable label and how often
that label was right, in fifteen bins. Weights are those of the last round; a stack learns how far to trust each of the
members.

| stream | rounds | log-loss | error rate | calibration error | largest weights at the end |
|---|---:|---:|---:|---:|---|
{streams}

## The parameters that remain

`radius` is not a parameter: members see rows in multiples of a unit that is measured on the first eight of them. Multiplied
by 2^-40 or 2^60 a stream has the same log-loss to the bit, by 1e-4, 0.3 or 1e5 the same within 3 % (tests of `auto`).
`members` lists the members, and has no scale. `budget`, in millions of multiply-adds a round, limits the computation.
Log-loss over three decades of it, the first {few:,} rows:

| stream | {heads} | highest over lowest |
|---|{rules}---:|
{sweep}

The default is 0.6, and 2.5 for more than 32 classes; less than 0.1 counts as 0.1.

## What each kind of member brings

Log-loss of the first {few:,} rows with all members, and with those of a kind left out:

| stream | all | {kinds} |
|---|---:|{kind_rules}
{without}
"""


def played(on, *more):
    out, *_ = timed([NOREGRET, "run", on.libsvm, "--threads", "1", "--json", "--quiet", *more])
    return json.loads(out.splitlines()[-1])


def without_each_kind(on, members):
    """Log-loss of the first rows with all `members`, and without those of each kind; `None` if there are none."""
    losses = []
    for leave in [lambda member: False, *KINDS.values()]:
        kept = [member for member in members if not leave(member)]
        known = losses and len(kept) == len(members)
        losses.append(None if known else played(on, "--limit", str(FEW), "--set", f"members={'+'.join(kept)}")["log_loss"])
    return losses


def auto(options):
    """Log-loss, error, calibration and leaders on every stream; log-loss over budgets and without kinds of members."""
    streams, sweep, without = [], [], []
    for on in chosen(options):
        got = played(on, "--calibration")
        leaders = sorted(got["weights"].items(), key=lambda item: -item[1])[:2]
        said = ", ".join(f"`{name}` {share:.2f}" for name, share in leaders if share >= 0.005)
        ece = got["calibration"]["ece"]
        line = f"| {on.name} | {got['rounds']:,} | {got['log_loss']:.4f} | {got['error_rate']:.4f} | {ece:.4f} | {said} |"
        streams.append(line)
        print(line, file=sys.stderr, flush=True)
        if on.name not in SWEPT.split(","):
            continue
        losses = [played(on, "--limit", str(FEW), "--set", f"budget={budget}")["log_loss"] for budget in BUDGETS]
        line = f"| {on.name} | {' | '.join(f'{loss:.4f}' for loss in losses)} | {max(losses) / min(losses) - 1:.1%} |"
        sweep.append(line)
        print(line, file=sys.stderr, flush=True)
        # Members that were dropped in the run have a minus.
        members = [member.removeprefix("-") for member in got["resolved_parameters"]["members"].split("+")]
        cells = ["-" if loss is None else f"{loss:.4f}" for loss in without_each_kind(on, members)]
        line = f"| {on.name} | {' | '.join(cells)} |"
        without.append(line)
        print(line, file=sys.stderr, flush=True)
    if not options.streams:
        page = TEXT.format(
            built=built(),
            machine=machine(),
            streams="\n".join(streams),
            few=FEW,
            heads=" | ".join(BUDGETS),
            rules="---:|" * len(BUDGETS),
            sweep="\n".join(sweep),
            kinds=" | ".join(f"without {kind}" for kind in KINDS),
            kind_rules="---:|" * len(KINDS),
            without="\n".join(without),
        )
        write("auto", page)
