"""Sections of the page on quality that can be written separately."""

import math
import sys

from baselines import cells as baseline_cells
from contestants import MOST
from grids import settings
from places import ROOT
from streams import GENERATED, GENERATED_ROWS, NAMES, stream
from tables import chosen, given_up, outcome, put_into, remembered

PAGE = ROOT / "results" / "rivals-quality.md"
FORESTS = ("adaptive-random-forest", "mondrian-forest")


def shown(result, best=None):
    """Log-loss / error, bold where it is the best."""
    if result is None:
        return "not run"
    loss = f"{result.log_loss:.4f}"
    return f"{f'**{loss}**' if result is best else loss} / {result.error:.4f}"


def forests(options):
    """River's forests on every stream of at most 1,024 features, each stopped after NOREGRET_RIVAL_MINUTES (60)."""
    lines = []
    for on in chosen(options):
        run = remembered if options.remembered else outcome
        cells = []
        for forest in FORESTS:
            if forest not in settings("river", on):
                cells.append("too many features")
                continue
            result = run("river", forest, on)
            over = given_up("river", forest, on) if result is None else None
            cells.append(f"stopped after {over:.0f} minutes" if over else "not run" if result is None else f"{shown(result)} / {result.rows / result.cpu:,.0f}")
        lines.append(f"| {on.name} | {' | '.join(cells)} |")
    put_into("rivals-quality", "River's forests", f"""
`python3 benches/rivals/rivals.py forests`: log-loss / error / rows a second of processor time, ten trees each, seed 1. Where one is better
than River's other settings, it is the cell of the first table. Streams were run by their size, one after the other, as long as there was
time; of those that were not, nothing is known here.

| stream | adaptive random forest | Mondrian forest |
|---|---|---|
{chr(10).join(lines)}
""")


def pipes(options):
    """`auto` through a pipe, with the number of columns and classes given."""
    lines, worst = [], 0.0
    for on in chosen(options):
        whole, piped = outcome("noregret", "", on), outcome("noregret", "-|", on)
        ratio = piped.log_loss / whole.log_loss
        worst = max(worst, ratio)
        lines.append(f"| {on.name} | {shown(whole)} | {shown(piped)} | {ratio:.3f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    put_into("rivals-quality", "Through a pipe", f"""
`python3 benches/rivals/rivals.py pipes --streams {options.streams or ','.join(NAMES)}`: `auto` on a file, which it reads twice, and on the same rows through a
pipe (`noregret run - --set features=D --set classes=K`), of which it knows no more than the two numbers. Log-loss / error. The largest ratio
of log-losses is {worst:.3f}.

| stream | file | pipe | ratio of log-losses |
|---|---|---|---:|
{chr(10).join(lines)}
""")


def unseen(options):
    """Streams of `noregret generate`, all or those of `--streams`, separated by semicolons. Written after every stream."""
    lines, picks, firsts, names = [], [], 0, []
    asked = options.streams.split(";") if options.streams else list(GENERATED)
    for name in asked:
        on = stream(name, options.data)
        best = {"auto": outcome("noregret", "", on), "folklore": outcome("noregret", "--learner folklore", on)}
        for rival in ("vw", "river", "sklearn"):
            grid = {setting: outcome(rival, setting, on) for setting in settings(rival, on)}
            grid = {setting: result for setting, result in grid.items() if result is not None}
            pick = min(grid, key=lambda setting: grid[setting].log_loss)
            best[rival] = grid[pick]
            picks.append(f"| {name} | {rival} | {len(grid)} | `{pick}` |")
        lowest = min(best.values(), key=lambda result: result.log_loss)
        firsts += lowest is best["auto"]
        cells = [shown(result, lowest) for result in best.values()]
        lines.append("| " + " | ".join([name, str(on.rows[0].shape[1]), str(on.classes), *cells, *baseline_cells(on.rows[1].tolist(), on.classes)]) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
        names.append(name)
        write_unseen(names, lines, picks, firsts)


def ours(options):
    """Measures the column of `auto` in the first table again; the rivals' columns are kept."""
    for on in chosen(options):
        result = outcome("noregret", "", on)
        page = PAGE.read_text()
        [line] = [line for line in page.splitlines() if line.startswith(f"| {on.name} | {len(on.rows[1])} x ")]
        head, cells = line.split(" | ")[:2], line.replace("**", "").rstrip(" |").split(" | ")[2:]
        cells[0] = f"{result.log_loss:.4f} / {result.error:.4f} / {result.rows / result.cpu:,.0f}"
        losses = [float(cell.split(" /")[0]) if "/" in cell else math.inf for cell in cells]
        best = losses.index(min(losses))
        cells[best] = cells[best].replace(f"{losses[best]:.4f}", f"**{losses[best]:.4f}**", 1)
        PAGE.write_text(page.replace(line, " | ".join([*head, *cells]) + " |"))


def write_unseen(names, lines, picks, firsts):
    """The section of the streams in `names`."""
    commands = "\n".join(f"    noregret generate {GENERATED[name]} --rows {GENERATED_ROWS} --seed 1" for name in names)
    put_into("rivals-quality", "Streams that the defaults were not chosen with", f"""
`NOREGRET_GENERATED_ROWS={GENERATED_ROWS} python3 benches/rivals/rivals.py unseen --streams "{';'.join(names)}"`: log-loss / error on {GENERATED_ROWS:,} rows of known generators. `auto` has the lowest log-loss on
{firsts} of {len(lines)}. The rivals' settings were chosen after the fact, as above; River's forests were given {MOST / 60:.0f} minutes of processor time each.

{commands}

| stream | d | K | `auto` | `folklore` | vw, best of grid | river, best of grid | sklearn, best of grid | no-change | label-markov |
|---|---:|---:|---|---|---|---|---|---|---|
{chr(10).join(lines)}

| stream | rival | settings tried | lowest log-loss |
|---|---|---:|---|
{chr(10).join(picks)}
""")
