"""`auto` by itself: how well its probabilities are calibrated, which member leads in the end, and what its budget does."""

import json
import sys

from contestants import NOREGRET, timed
from tables import chosen, machine, write

# Less than 0.8 counts as 0.8.
BUDGETS = ("0.01", "2", "8", "100")
# Rows of the sweep.
FEW = 8000
SWEPT = "digits,segments,vehicle,segment,satimage,pendigits,usps,letter,electricity,shuttle,covtype,covtype-shuffled"

TEXT = """# auto by itself

Written by `python3 benches/rivals/rivals.py auto`. What tuned rivals reach on the same streams is in
[rivals-quality.md](rivals-quality.md).

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
Log-loss over four decades of it, the first {few:,} rows:

| stream | {heads} | highest over lowest |
|---|{rules}---:|
{sweep}

Less than 0.8 counts as 0.8. By default the budget is 20,000 over the number of rows, within 0.8 and 8.

The trial of the members ends after 8,192 rounds. Whole streams with 0.01 and with 8: letter 0.2532 and 0.2489, usps 0.2034 and
0.1936, electricity 0.1684 and 0.1683, shuttle 0.0052 and 0.0051, the first 60,000 rows of shuffled covtype 0.4540 and 0.4510.

## What forgetting brings

Families that forget a part of their matrix and gradients in a round, beside all others, log-loss before there were waves,
with all columns standardised:

| | electricity, the first 12000 | covtype, every 12th row in file order, the first 12000 |
|---|---:|---:|
| none | 0.1639 | 0.4614 |
| `shared`, 0.001 (and `products` on electricity) | 0.1494 | 0.4554 |
| `shared`, 0.004 (and `products`) | 0.1352 | 0.4486 |
| `shared` and `products`, 0.015 | 0.1258 | |
| `shared`, 0.004 and 0.016, `products@0.0001`, 0.016: the default | 0.1226 | |

On streams that do not drift they cost up to 1 %. With matrices of all pairs of classes the inversions are too expensive;
those do not forget.

## What waves bring

Random Fourier features beside all others, log-loss without and with them: usps 0.220 and 0.194, pendigits 0.0455 and 0.0414,
satimage 0.195 and 0.189; on vehicle 0.507 and 0.509.
"""


def played(on, *more):
    out, *_ = timed([NOREGRET, "run", on.libsvm, "--threads", "1", "--json", "--quiet", *more])
    return json.loads(out.splitlines()[-1])


def auto(options):
    """Log-loss, error, calibration and leaders on every stream; log-loss over budgets."""
    streams, sweep = [], []
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
    if not options.streams:
        page = TEXT.format(
            machine=machine(),
            streams="\n".join(streams),
            few=FEW,
            heads=" | ".join(BUDGETS),
            rules="---:|" * len(BUDGETS),
            sweep="\n".join(sweep),
        )
        write("auto", page)
