"""Kernel AIOLI by landmarks beside random Fourier features, AIOLI without a kernel and kernel AIOLI with every row.

    python benches/landmarks/landmarks.py DATA --program target/dist/noregret > results/landmarks.md

DATA is a folder with `electricity.libsvm.gz` (MOA's `elecNormNew.arff` as LIBSVM); needs numpy. All learners see the same rows in the same order:
columns are standardised by the first 1,000 rows, then divided by the length scale, so that the kernel's own length scale is 1. Random Fourier features
(Rahimi and Recht 2007) are cosines of random projections, made before the run; AIOLI learns them as columns. Nothing is timed.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import tempfile

import numpy as np

ROWS = 20_000
SIZES = (50, 200)
NORM = 30
"""The largest logit of a comparator: kernels and cosines have rows of norm 1."""
GENERATED = {
    "random-rbf": "random-rbf --set classes=2 --set drift=0",
    "agrawal": "agrawal",
}


def numbers(path):
    """Rows and labels 0, 1 of LIBSVM text."""
    lines = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]
    width = max(int(cell.split(":")[0]) for line in lines for cell in line[1:])
    x = np.zeros((len(lines), width))
    for row, line in zip(x, lines):
        for cell in line[1:]:
            column, value = cell.split(":")
            row[int(column) - 1] = float(value)
    names = sorted({line[0] for line in lines}, key=float)
    return x, np.array([names.index(line[0]) for line in lines])


def streams(options, folder):
    """Names, rows and labels of the streams."""
    source = options.data / "electricity.libsvm.gz"
    if source.exists():
        path = folder / "electricity.libsvm"
        path.write_bytes(b"".join(gzip.open(source).readlines()[:ROWS]))
        yield "electricity", *numbers(path)
    for name, command in GENERATED.items():
        path = folder / f"{name}.libsvm"
        rows = ["--rows", str(ROWS), "--seed", "1", "--format", "libsvm", "-o", str(path)]
        subprocess.run([options.program, "generate", *command.split(), *rows], check=True)
        yield name, *numbers(path)


def scaled(x):
    """Standardised by the first 1,000 rows; a distance of sqrt(d) is then one length scale."""
    mean, deviation = x[:1000].mean(0), x[:1000].std(0)
    return np.clip((x - mean) / np.where(deviation > 0, deviation, 1), -10, 10) / np.sqrt(x.shape[1])


def cosines(x, count):
    """Random features whose products approximate the rbf kernel; a row has the norm 1."""
    rng = np.random.default_rng(0)
    projected = x @ rng.standard_normal((x.shape[1], count // 2))
    return np.hstack([np.cos(projected), np.sin(projected)]) / np.sqrt(count // 2)


def run(options, folder, x, y, learner, *more):
    """Mean log-loss, error rate and certificate of a learner."""
    path = folder / "rows.libsvm"
    with open(path, "w") as file:
        for row, label in zip(x, y):
            file.write(f"{label} " + " ".join(f"{j + 1}:{value:.9g}" for j, value in enumerate(row)) + "\n")
    command = [options.program, "run", path, "--learner", learner, "--scale", "none", "--threads", "1", "--json", "--quiet", "--certify", *more]
    said = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    summary = json.loads(said)
    return summary["log_loss"], summary["error_rate"], summary.get("certificate")


def cell(result, best):
    """Log-loss, error and certificate, the lowest log-loss in bold."""
    loss, error, certificate = result
    shown = f"**{loss:.4f}**" if loss == best else f"{loss:.4f}"
    return f"{shown} / {error:.4f}" + (f" / {certificate:,.0f}" if certificate is not None else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--program", default="target/dist/noregret")
    options = parser.parse_args()
    lines, heads = [], []
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        for name, x, y in streams(options, folder):
            x, norm = scaled(x), ("--set", f"norm={NORM}")
            found = {"`aioli`, no kernel": run(options, folder, x, y, "aioli")}
            found["`kernel-aioli`, 4,096 rows"] = run(options, folder, x, y, "kernel-aioli", *norm)
            for size in SIZES:
                landmarks = ("--set", f"landmarks={size}")
                found[f"{size} landmarks"] = run(options, folder, x, y, "kernel-aioli-landmarks", *norm, *landmarks)
                found[f"{size} cosines, `aioli`"] = run(options, folder, cosines(x, size), y, "aioli", "--no-intercept", *norm)
            best = min(result[0] for result in found.values())
            heads = list(found)
            lines.append(f"| {name} | {len(y):,} × {x.shape[1]} | " + " | ".join(cell(result, best) for result in found.values()) + " |")
    print(f"""# Landmarks beside random Fourier features

Written by `python benches/landmarks/landmarks.py DATA`. Mean log-loss / error rate / certificate where there is one, in nats over all rows; every row is
predicted before its label is seen. Columns are standardised by the first 1,000 rows and clipped to ten deviations; the length scale is the square root of the number of columns, the same for
all, and not tuned. `kernel-aioli` stops learning after 4,096 rows. The certificates of the kernel's learners are about all predictors of norm {NORM} in the kernel's
Hilbert space, what the landmarks miss included (docs/theory/aioli.md, 4.2); that of the cosines is about the linear predictors of these cosines only, and that without a kernel about
logits up to 30. Guessing loses {ROWS * np.log(2):,.0f} nats: a larger certificate says nothing. Landmarks are the first rows that are far from those kept before; where a stream drifts, as electricity does, they are
those of its beginning.

| stream | rows × columns | {" | ".join(heads)} |
|---|---|{"---|" * len(heads)}
{chr(10).join(lines)}""")


if __name__ == "__main__":
    main()
