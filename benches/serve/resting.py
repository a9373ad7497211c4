"""Models that rest: what the service holds in memory while they are awake, and when all of them rest, twice.

`python resting.py PID [MODELS]` for the service at NOREGRET_URL (http://127.0.0.1:8730), which was started with `--rest 4`."""

import sys
import time

from service import resident, send


def main(pid, count=60):
    def show(what):
        print(f"{what:8} {resident(pid):7.1f} MiB", flush=True)

    for model in range(count):
        send("PUT", f"/rests{model}", {"feedback": "bandit", "labels": ["a", "b", "c"]})
    for _ in range(2):
        for model in range(count):
            send("POST", f"/rests{model}/decide", {"x": {"v": 1, "c": "x"}})
        show("awake")
        while not all(model["resting"] for model in send("GET", "")["models"]):
            time.sleep(0.5)
        time.sleep(3)
        show("resting")


main(int(sys.argv[1]), *map(int, sys.argv[2:]))
