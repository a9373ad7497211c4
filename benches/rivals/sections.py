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


def lines_of(page, start):
    """Cells of the lines of a table on a page, by their first cell: those that begin after the text `start`."""
    table = page.partition(start)[2].partition("\n## ")[0].splitlines()
    return {cells[0]: cells[1:] for cells in (line.strip("| ").split(" | ") for line in table if line.startswith("| "))}


def duration(seconds):
    """In hours or minutes."""
    return f"{seconds / 3600:.1f} hours" if seconds > 5400 else f"{max(seconds / 60, 1):.0f} minutes"


def forests(options):
    """River's forests on every stream. What was not run with `--remembered` stays as it is on the page."""
    run = remembered if options.remembered else outcome
    for on in chosen(options):
        before = lines_of(PAGE.read_text(), "## River's forests").get(on.name, ["not run", "not run"])
        cells = []
        for forest, cell in zip(FORESTS, before, strict=True):
            result = run("river", forest, on)
            stop = None if result else given_up("river", forest, on)
            if result:
                cells.append(f"{shown(result)} / {result.rows / result.cpu:,.0f}")
            elif stop:
                cells.append(f"would take {duration(stop.seconds / stop.rows * len(on.rows[1]))} at the speed of its first {stop.rows:,} rows")
            else:
                cells.append(cell)
        write_forests(on, before, cells)


def ran(cells):
    """The forests that were run to the end, with their log-loss and error."""
    split = {forest: cell.split(" / ") for forest, cell in zip(FORESTS, cells) if " / " in cell}
    return {forest: (float(loss), float(error)) for forest, (loss, error, _) in split.items()}


def write_forests(on, before, cells):
    """Writes a stream's line of the section, and counts the forests for River's column of the first tables."""
    table = lines_of(PAGE.read_text(), "## River's forests")
    table[on.name] = cells
    lines = [f"| {name} | {' | '.join(table.get(name, ['not run', 'not run']))} |" for name in NAMES]
    put_into("rivals-quality", "River's forests", f"""
`python3 benches/rivals/rivals.py forests`: log-loss / error / rows a second of processor time, ten trees each, seed 1. Where one is better
than River's other settings, it is the cell of the first table. A forest that has had a minute of processor time and would, at its speed so far, need more than
{duration(MOST)} for the whole stream is stopped; forests become slower as they grow, so that the time it would take is the least. Other programs ran
on the machine meanwhile.

| stream | adaptive random forest | Mondrian forest |
|---|---|---|
{chr(10).join(lines)}
""")
    new = {forest: result for forest, result in ran(cells).items() if forest not in ran(before)}
    page = PAGE.read_text()
    for forest, (loss, error) in new.items():
        page = count_forest(page, on, forest, loss, error, cells[FORESTS.index(forest)])
    PAGE.write_text(page)


def count_forest(page, on, forest, loss, error, cell):
    """The page with a forest among the settings of River that were tried on a stream."""
    [line] = [line for line in page.splitlines() if line.startswith(f"| {on.name} | {len(on.rows[1])} x ")]
    row = line.strip("| ").split(" | ")
    better = "/" not in row[5] or loss < float(row[5].replace("**", "").split(" / ")[0])
    if better:
        row[5] = cell
    page = page.replace(line, "| " + " | ".join(lowest_bold(row)) + " |")
    picks = [line for line in page.splitlines() if line.startswith(f"| {on.name} | river | ")]
    tried, pick, sharp = 0, "", "1 with"
    if picks:
        tried, pick, sharp = picks[0].strip("| ").split(" | ")[2:]
        tried = int(tried.split()[0])
    tried = "10" if tried == 9 else f"{tried + 1} of 10"
    pick = f"`{forest}`" if better else pick
    sharp = f"{error:.4f} with `{forest}`" if error < float(sharp.split(" with")[0]) else sharp
    chosen_line = f"| {on.name} | river | {tried} | {pick} | {sharp} |"
    if picks:
        return page.replace(picks[0], chosen_line)
    [above] = [line for line in page.splitlines() if line.startswith(f"| {on.name} | vw | ")]
    return page.replace(above, f"{above}\n{chosen_line}")


def lowest_bold(row):
    """The cells of a line of the first table, with the lowest log-loss in bold."""
    row = [cell.replace("**", "") for cell in row]
    losses = [float(cell.split(" / ")[0]) if "/" in cell else math.inf for cell in row[2:]]
    best = losses.index(min(losses))
    row[2 + best] = row[2 + best].replace(f"{losses[best]:.4f}", f"**{losses[best]:.4f}**", 1)
    return row


def pipes(options):
    """`auto` through a pipe, with the number of columns and classes given. Written after every stream."""
    lines, names, worst = [], [], 0.0
    for on in chosen(options):
        whole, piped = outcome("noregret", "", on), outcome("noregret", "-|", on)
        ratio = piped.log_loss / whole.log_loss
        worst = max(worst, ratio)
        names.append(on.name)
        lines.append(f"| {on.name} | {shown(whole)} | {shown(piped)} | {ratio:.3f} |")
        print(lines[-1], file=sys.stderr, flush=True)
        command = "pipes" if len(names) == len(NAMES) else f"pipes --streams {','.join(names)}"
        rest = "" if len(names) == len(NAMES) else " The other streams were not run."
        put_into("rivals-quality", "Through a pipe", f"""
`python3 benches/rivals/rivals.py {command}`: `auto` on a file, which it reads twice, and on the same rows through a
pipe (`noregret run - --set features=D --set classes=K`), of which it knows no more than the two numbers. Log-loss / error. The largest ratio
of log-losses is {worst:.3f}.{rest}

| stream | file | pipe | ratio of log-losses |
|---|---|---|---:|
{chr(10).join(lines)}
""")


def unseen(options):
    """Streams of `noregret generate`, all or those of `--streams`, separated by semicolons. Written after every stream; with
    `--remembered`, rivals that were not run on a stream are left out of its line."""
    run = remembered if options.remembered else outcome
    lines, picks, firsts, names = [], [], 0, []
    asked = options.streams.split(";") if options.streams else list(GENERATED)
    for name in asked:
        on = stream(name, options.data)
        if not any(run(rival, setting, on) for rival in ("vw", "river", "sklearn") for setting in settings(rival, on)):
            print(f"left out: {name}, no rival was run on it", file=sys.stderr)
            continue
        best = {"auto": outcome("noregret", "", on), "folklore": outcome("noregret", "--learner folklore", on)}
        for rival in ("vw", "river", "sklearn"):
            grid = {setting: run(rival, setting, on) for setting in settings(rival, on)}
            grid = {setting: result for setting, result in grid.items() if result is not None}
            best[rival] = None
            if not grid:
                continue
            pick = min(grid, key=lambda setting: grid[setting].log_loss)
            best[rival] = grid[pick]
            offered = len(settings(rival, on))
            picks.append(f"| {name} | {rival} | {len(grid)}{'' if len(grid) == offered else f' of {offered}'} | `{pick}` |")
        lowest = min((result for result in best.values() if result), key=lambda result: result.log_loss)
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
        row = line.strip("| ").split(" | ")
        row[2] = f"{result.log_loss:.4f} / {result.error:.4f} / {result.rows / result.cpu:,.0f}"
        PAGE.write_text(page.replace(line, "| " + " | ".join(lowest_bold(row)) + " |"))


def write_unseen(names, lines, picks, firsts):
    """The section of the streams in `names`."""
    commands = "\n".join(f"    noregret generate {GENERATED[name]} --rows {GENERATED_ROWS} --seed 1" for name in names)
    put_into("rivals-quality", "Streams that the defaults were not chosen with", f"""
`NOREGRET_GENERATED_ROWS={GENERATED_ROWS} python3 benches/rivals/rivals.py unseen --streams "{';'.join(names)}"`: log-loss / error on {GENERATED_ROWS:,} rows of known generators. `auto` has the lowest log-loss on
{firsts} of {len(lines)}. The rivals' settings were chosen after the fact, as above. Other programs ran on the machine meanwhile.

{commands}

| stream | d | K | `auto` | `folklore` | vw, best of grid | river, best of grid | sklearn, best of grid | no-change | label-markov |
|---|---:|---:|---|---|---|---|---|---|---|
{chr(10).join(lines)}

| stream | rival | settings tried | lowest log-loss |
|---|---|---:|---|
{chr(10).join(picks)}
""")
