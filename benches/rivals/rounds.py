"""The time of single rounds of `auto` in a pipe: `python3 benches/rivals/rounds.py FOLDER PROGRAM`.

Rows are written one by one, each when the prediction of the one before has come, so that a time includes both ways
through the pipe. FOLDER has the streams as in places.py. Prints a table in Markdown.
"""

import gzip
import subprocess
import sys
import time
from pathlib import Path

STREAMS = [("segment.scale", 7, 19), ("satimage.scale", 6, 36), ("pendigits", 10, 16), ("letter.scale", 26, 16), ("electricity", 2, 8)]
# Rows that are played, and of these the first ones that do not count.
ROWS, FIRST = 12_000, 1000


def times(program, file, classes, features):
    """Seconds of each round."""
    told = [f"--set=classes={classes}", f"--set=features={features}"]
    command = [program, "run", "-", "--format", "libsvm", *told, "--quiet", "--threads", "1", "--predictions", "/dev/stdout"]
    run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    taken = []
    with gzip.open(file) as rows:
        for _, row in zip(range(ROWS), rows):
            start = time.perf_counter()
            run.stdin.write(row)
            run.stdout.readline()
            taken.append(time.perf_counter() - start)
            if len(taken) == 1:
                run.stdout.readline()  # Behind the header, in the first round.
    run.stdin.close()
    run.wait()
    return taken


def main():
    """Prints the table."""
    folder, program = Path(sys.argv[1]), sys.argv[2]
    print("| stream | rows | median | 99 % | 99.9 % | largest | 99.9 % / median |\n|---|---:|---:|---:|---:|---:|---:|")
    for name, classes, features in STREAMS:
        taken = times(program, folder / f"{name}.libsvm.gz", classes, features)
        late = sorted(1e6 * seconds for seconds in taken[FIRST:])
        median, most, nearly_all = (late[int(part * len(late))] for part in (0.5, 0.99, 0.999))
        figures = " | ".join(f"{figure:,.0f}" for figure in (median, most, nearly_all, late[-1]))
        print(f"| {name} | {len(taken):,} | {figures} | {nearly_all / median:.1f} |", flush=True)


if __name__ == "__main__":
    main()
