"""Decisions that nobody answers, of a model with a shadow: what the service holds in memory, every ten thousand.

`python pending.py PID [DECISIONS]` for the service at NOREGRET_URL (http://127.0.0.1:8730)."""

import http.client
import json
import os
import random
import sys
import time
from pathlib import Path

BATCH, FEATURES = 1000, 20


def main(pid, count=300_000):
    connection = http.client.HTTPConnection(os.environ.get("NOREGRET_URL", "http://127.0.0.1:8730").split("//")[-1], timeout=60)

    def send(method, path, body=None, kind="application/json"):
        connection.request(method, f"/v1/models/{path}", body, {"content-type": kind})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
        return text

    def scores(model):
        return json.loads(send("GET", model))["scores"]

    spec = {"feedback": "bandit", "learner": "squarecb", "labels": list("abc"), "params": {"features": FEATURES}}
    send("PUT", "pending", json.dumps(spec))
    send("PUT", "beside", json.dumps({"shadow_of": "pending", "learner": "squarecb"}))
    drawn = random.Random(1)
    for decided in range(0, count + 1, BATCH):
        if decided % (10 * BATCH) == 0:
            while scores("beside")["decisions"] < decided:
                time.sleep(0.1)
            status = Path(f"/proc/{pid}/status").read_text()
            resident = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
            waiting = [scores(model)["waiting"] for model in ("pending", "beside")]
            print(f"{decided:9,} decisions  {waiting[0]:9,} and {waiting[1]:9,} wait  {int(resident) / 1024:7.1f} MiB", flush=True)
        rows = [{"x": {f"f{j}": round(drawn.uniform(-1, 1), 3) for j in range(FEATURES)}} for _ in range(BATCH)]
        send("POST", "pending/decide", "".join(json.dumps(row) + "\n" for row in rows), "application/x-ndjson")


main(int(sys.argv[1]), *map(int, sys.argv[2:]))
