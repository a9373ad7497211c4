"""Kernel AIOLI by landmarks beside random Fourier features and AIOLI without a kernel.

    python benches/landmarks/landmarks.py DATA --program target/dist/noregret > results/landmarks.md

DATA is a folder with `electricity.libsvm.gz` (MOA's `elecNormNew.arff` as LIBSVM); needs numpy. All learners see the same rows in the same order:
columns are standardised by the rows so far, as `--scale standard` does, then divided by the length scale, so that the kernel's own length scale is 1. Random
Fourier features (Rahimi and Recht 2007) are cosines of random projections, made before the run; AIOLI learns them as columns. Nothing is timed.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROWS = 20_000
SIZES = (50, 200)
WIDTHS = (1, 2)
"""Length scales, in square roots of the number of columns."""
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
    """Standardised by the rows so far, the row itself included, and clipped to ten deviations."""
    count = np.arange(1, len(x) + 1)[:, None]
    mean = np.cumsum(x, 0) / count
    deviation = np.sqrt(np.maximum(np.cumsum(x * x, 0) / count - mean * mean, 0))
    known = deviation > 1e-9
    return np.clip(np.where(known, x - mean, 0) / np.where(known, deviation, 1), -10, 10)


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
            found = {"`aioli`, no kernel": run(options, folder, x / np.sqrt(x.shape[1]), y, "aioli")}
            for width in WIDTHS:
                z, wide = x / (width * np.sqrt(x.shape[1])), "" if width == 1 else f", length scale {width} √d"
                kernel = ("--set", "length_scale=1", *norm)
                for size in SIZES if width == 1 else SIZES[-1:]:
                    landmarks = ("--set", f"landmarks={size}")
                    found[f"{size} landmarks{wide}"] = run(options, folder, z, y, "kernel-aioli-landmarks", *kernel, *landmarks)
                    found[f"{size} cosines, `aioli`{wide}"] = run(options, folder, cosines(z, size), y, "aioli", "--no-intercept", *norm)
            print(name, found, file=sys.stderr, flush=True)
            best = min(result[0] for result in found.values())
            heads = list(found)
            lines.append(f"| {name} | {len(y):,} × {x.shape[1]} | " + " | ".join(cell(result, best) for result in found.values()) + " |")
    print(f"""# Landmarks beside random Fourier features

Written by `python benches/landmarks/landmarks.py DATA`. Mean log-loss / error rate / certificate where there is one, in nats over all rows; every row is
predicted before its label is seen. Columns are standardised by the rows so far and clipped to ten deviations. The length scale is the square root of the number d of columns, which is the
default, or twice that where the column says so; nothing is tuned. The certificates of the kernel's learner are about all predictors of norm {NORM} in
the kernel's Hilbert space, what the landmarks miss included (docs/theory/aioli.md, 4.2); that of the cosines is about the linear predictors of these cosines only, and that without a kernel about
logits up to 30. Guessing loses {ROWS * np.log(2):,.0f} nats: a larger certificate says nothing.

Landmarks are the first rows that are far from those kept before. They serve as long as later rows are near to some of them in the kernel, which is why the scaling matters more than drift: with columns
standardised by the first 1,000 rows alone, all later rows of electricity, whose first column is the date, are at a distance of ten deviations from every landmark, and 200 landmarks had a log-loss of 0.63.
Where distances grow beyond the length scale whatever the scaling does, they do not pay: take cosines, or columns without a kernel. Nor do they for a certificate, unless
the length scale is long or the landmarks are many: what few of them miss is charged in full.

| stream | rows × columns | {" | ".join(heads)} |
|---|---|{"---|" * len(heads)}
{chr(10).join(lines)}""")


if __name__ == "__main__":
    main()
