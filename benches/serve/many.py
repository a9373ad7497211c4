"""Many models that rest: what the service holds of them in memory, and how many threads and open files it has.

`python many.py PID MODELS [SPEC]` for the service at NOREGRET_URL (http://127.0.0.1:8730), which was started with `--rest 1 --most-models MODELS`
after `ulimit -n` of four times as many. SPEC is what a model is made with, such as {"learner": "ogd"}; a default model of decisions if it is left out."""

import json
import sys
import time
from pathlib import Path

from service import resident, send, status

DEFAULT = '{"feedback": "bandit", "labels": ["a", "b", "c"]}'


def main(pid, count, spec=DEFAULT):
    def show(models):
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        threads = int(status(pid)["Threads"])
        print(f"{models:6,} models  {resident(pid):8.1f} MiB  {threads:6,} threads  {files:6,} files", flush=True)

    show(0)
    for model in range(count):
        send("PUT", f"/many{model}", json.loads(spec))
        if (model + 1) % (count // 10 or 1) == 0:
            show(model + 1)
    while not all(model["resting"] for model in send("GET", "")["models"]):
        time.sleep(1)
    time.sleep(2)
    show(count)


main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
