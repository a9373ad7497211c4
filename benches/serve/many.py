"""Many models: what the service holds of them in memory, its threads and open files, and how long it takes to list them.

`python many.py PID MODELS [SPEC [ROWS]]` for the service at NOREGRET_URL (http://127.0.0.1:8730), which was started with `--rest 1 --most-models MODELS`
after `ulimit -n` of four times as many. SPEC is what a model is made with, such as {"learner": "ogd"}; a default model of decisions if it is left out.
With ROWS, so many decisions of every model are answered."""

import json
import random
import sys
import time
from pathlib import Path

from service import resident, send, status

DEFAULT = '{"feedback": "bandit", "labels": ["a", "b", "c"]}'


def answered(model, count, drawn):
    """Lets a model learn so many decisions with two numbers and a category."""
    for _ in range(count):
        x = {"hour": drawn.randint(0, 23), "age": drawn.randint(0, 90), "plan": drawn.choice(["free", "paid"])}
        decision = send("POST", f"/{model}/decide", {"x": x})
        send("POST", f"/{model}/feedback", {"id": decision["id"], "reward": drawn.randint(0, 1)})


def main(pid, count, spec=DEFAULT, rows=0):
    def show(models):
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        threads = int(status(pid)["Threads"])
        begun = time.monotonic()
        send("GET", "")
        listed = time.monotonic() - begun
        print(
            f"{models:6,} models  {resident(pid):8.1f} MiB  {threads:6,} threads  {files:6,} files  listed in {listed:.2f} s",
            flush=True,
        )

    show(0)
    drawn = random.Random(1)
    for model in range(count):
        send("PUT", f"/many{model}", json.loads(spec))
        answered(f"many{model}", int(rows), drawn)
        if (model + 1) % (count // 10 or 1) == 0:
            show(model + 1)
    while not all(model["resting"] for model in send("GET", "")["models"]):
        time.sleep(1)
    time.sleep(2)
    show(count)


main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
