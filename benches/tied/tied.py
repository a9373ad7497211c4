"""`conditional-logit` beside learners that give every label weights of its own, where labels are described by columns.

    python benches/tied/tied.py --program target/dist/noregret > results/tied-weights.md

Every row has a block of columns for each label, and the label is drawn from the softmax of linear scores of the blocks, with one vector of weights for all labels; in the last
stream the weights change by label, which conditional-logit cannot learn. Needs numpy. Nothing is timed.
"""

import argparse
import datetime
import json
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

ROWS = 4_000
COLUMNS = 4
NORM = 3
"""Of the weights; blocks have norm 1 at most, so that logits are within three."""
SIZES = (3, 6, 30)
LEARNERS = {
    "conditional-logit": ("--scale", "none", "--set", f"norm={NORM}", "--set", "radius=1.000001", "--certify"),
    "folklore": ("--scale", "none", "--no-intercept", "--certify"),
    "folklore-diag": ("--scale", "none", "--no-intercept"),
    "auto": (),
}
LARGE = ("folklore",)
"""Left out for 30 labels: its matrix has (K - 1) times as many rows as there are columns."""


def made(labels, own):
    """Blocks, labels, and the mean log-loss of the probabilities that labels were drawn from. `own`: weights of their own for every label."""
    rng = np.random.default_rng(labels)
    blocks = rng.standard_normal((ROWS, labels, COLUMNS))
    blocks /= np.maximum(np.linalg.norm(blocks, axis=2, keepdims=True), 1)
    weights = rng.standard_normal((labels if own else 1, COLUMNS))
    weights *= NORM / np.linalg.norm(weights, axis=1, keepdims=True)
    scores = (blocks * weights).sum(2)
    p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    y = (p.cumsum(1) > rng.random((ROWS, 1))).argmax(1)
    return blocks, y, -np.log(p[np.arange(ROWS), y]).mean()


def run(options, path, learner):
    """Total log-loss and certificate."""
    command = [options.program, "run", path, "--label", "label", "--learner", learner, *LEARNERS[learner], "--threads", "1", "--json", "--quiet"]
    said = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    summary = json.loads(said)
    return summary["log_loss"] * summary["rounds"], summary.get("certificate")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/dist/noregret")
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.csv"
        for labels, own in [*((size, False) for size in SIZES), (6, True)]:
            blocks, y, best = made(labels, own)
            head = [f"c{j} of {k:02}" for k in range(labels) for j in range(COLUMNS)]
            with open(path, "w") as file:
                file.write(",".join([*head, "label"]) + "\n")
                for row, label in zip(blocks.reshape(ROWS, -1), y):
                    file.write(",".join(f"{value:.9g}" for value in row) + f",{label:02}\n")
            cells = []
            for learner in LEARNERS:
                if learner in LARGE and labels > 10:
                    cells.append("-")
                    continue
                loss, certificate = run(options, path, learner)
                cells.append(f"{loss - best * ROWS:,.0f}" + (f" / {certificate:,.0f}" if certificate is not None else ""))
            what = "weights of their own" if own else "common weights"
            lines.append(f"| {labels}, {what} | {best * ROWS:,.0f} | {' | '.join(cells)} |")
    day = datetime.date.fromtimestamp(pathlib.Path(shutil.which(options.program)).stat().st_mtime)
    heads = " | ".join(f"`{name}`" for name in LEARNERS)
    print(f"""# One weight for a column of all labels

Written by `python benches/tied/tied.py`: {ROWS:,} rows of {COLUMNS} columns a label, whose label is drawn from the softmax of linear scores. Total log-loss in nats beyond that of the
probabilities which the labels were drawn from / certificate where there is one. Guessing loses {ROWS:,} ln K. `conditional-logit` is told the norm of the weights, {NORM}; the others run with their
defaults. A dash is a full matrix that would be too large. `auto` is of the build of {day.day} {day:%B %Y}.

| labels | loss of the truth | {heads} |
|---|---:|{"---:|" * len(LEARNERS)}
{chr(10).join(lines)}""")


if __name__ == "__main__":
    main()
