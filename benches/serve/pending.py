"""Decisions that nobody answers, of a model with a shadow: what the service holds in memory, every ten thousand.

`python pending.py PID [DECISIONS]` for the service at NOREGRET_URL (http://127.0.0.1:8730)."""

import random
import sys
import time

from service import resident, row, send

BATCH, FEATURES = 1000, 20


def main(pid, count=300_000):
    def scores(model):
        return send("GET", f"/{model}")["scores"]

    spec = {"feedback": "bandit", "learner": "squarecb", "labels": list("abc"), "params": {"features": FEATURES}}
    send("PUT", "/pending", spec)
    send("PUT", "/beside", {"shadow_of": "pending", "learner": "squarecb"})
    drawn = random.Random(1)
    for decided in range(0, count + 1, BATCH):
        if decided % (10 * BATCH) == 0:
            while scores("beside")["decisions"] < decided:
                time.sleep(0.1)
            waiting = [scores(model)["waiting"] for model in ("pending", "beside")]
            print(f"{decided:9,} decisions  {waiting[0]:9,} and {waiting[1]:9,} wait  {resident(pid):7.1f} MiB", flush=True)
        send("POST", "/pending/decide", [row(drawn, FEATURES) for _ in range(BATCH)])


main(int(sys.argv[1]), *map(int, sys.argv[2:]))
