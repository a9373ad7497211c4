"""noregret and its rivals on the same rows: `python3 benches/rivals/rivals.py TABLE [--data FOLDER]`.

    quality   progressive log-loss and error, the best of each rival's grid, chosen after the fact
    ours      of the same page: the column of `auto` alone, anew
    forests   of the same page: River's forests as far as they end within an hour, beside `auto`
    pipes     of the same page: `auto` through a pipe, without a first pass
    unseen    of the same page: streams that `auto` was not designed on
    auto      `auto` by itself: calibration, leaders, and log-loss over its budgets
    bandit    error with right-or-wrong feedback only, beside `vw --cbify` best of a grid
    many      many classes and many features: beside `vw --oaa` and `vw --plt`, with peak memory; writes many-classes.md
    moa       `auto` beside MOA's learners, River's forests and VW's grid, on generated and on real streams; needs Java and MOA (places.py)
    label-before   of the same page: rivals that are told the label of the row before, on streams whose order says something
    real-data, boosting, bandit-learners   pages about noregret alone: data sets with default settings, boosting, each bandit learner's
              best of a grid
    speed     ratios of running time, medians of interleaved repetitions; builds and installs a release wheel of the Python
              package first
    speed-of-auto   of the same page: `auto` beside VW, River's forests, MOA's and a neural network

The first run makes an environment of its own under target/rivals and installs requirements.txt there. Tables go to
results/rivals-TABLE.md; NOREGRET_PROGRAM names another program than target/dist/noregret; outcomes are stored in target/rivals/runs.jsonl (delete it to run again), those of noregret for each build.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from places import HERE, ROOT, WORK

# One thread each, so that ratios compare programs and not pools. The last two are exported by some machines and make
# OpenBLAS choose slower kernels than it would by itself.
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "MATMUL_NUM_THREADS")
HANDICAPS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def environment():
    """A virtual environment with the rivals, made anew when requirements.txt changes."""
    python = WORK / "venv" / "bin" / "python"
    wanted = (HERE / "requirements.txt").read_text()
    stamp = WORK / "installed.txt"
    if not (python.exists() and stamp.exists() and stamp.read_text() == wanted):
        print("installing the rivals (once)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", WORK / "venv"], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", HERE / "requirements.txt"], check=True)
        stamp.write_text(wanted)
    return python


def main():
    if Path(sys.prefix) != WORK / "venv":
        clean = {name: value for name, value in os.environ.items() if name not in HANDICAPS}
        clean.update(dict.fromkeys(POOLS, "1"))
        python = str(environment())
        os.execve(python, [python, __file__, *sys.argv[1:]], clean)

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["quality", "ours", "forests", "pipes", "unseen", "auto", "bandit", "many", "moa", "label-before", "real-data", "boosting", "bandit-learners",
             "speed", "speed-of-auto"]
    parser.add_argument("table", choices=names)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the real data sets")
    parser.add_argument("--streams", help="only these streams, by name, with commas")
    parser.add_argument("--rivals", help="only these contestants, by name, with commas")
    parser.add_argument("--remembered", action="store_true", help="quality, moa, label-before, unseen, forests: of rivals, only what was run before")
    parser.add_argument("--seeds", type=int, default=5, help="bandit: runs of our learners, each with a seed of its own (default: 5)")
    parser.add_argument("--rows", type=int, help="bandit, bandit-learners: no more than the first rows of a stream")
    parser.add_argument("--repeat", type=int, default=5, help="speed: interleaved repetitions (default: 5)")
    options = parser.parse_args()

    import auto_page
    import many
    import moa_page
    import own_pages
    import sections
    import speed_of_auto
    import tables

    home = {"auto": auto_page, "many": many, "moa": moa_page, "label-before": moa_page, "ours": sections, "forests": sections, "pipes": sections, "unseen": sections,
            "real-data": own_pages, "boosting": own_pages, "bandit-learners": own_pages, "speed-of-auto": speed_of_auto}
    getattr(home.get(options.table, tables), options.table.replace("-", "_"))(options)


if __name__ == "__main__":
    main()
