"""A thousand decisions a second, of which a tenth are never answered: what the service holds in memory, every minute.

`python memory.py PID MINUTES` for the service at NOREGRET_URL (http://127.0.0.1:8730). Lines go in batches of a hundred, each of which
is durable before it is answered."""

import http.client
import json
import os
import random
import sys
import time
from pathlib import Path

BATCH, EVERY, LATE = 100, 0.1, 20


def main(pid, minutes):
    connection = http.client.HTTPConnection(os.environ.get("NOREGRET_URL", "http://127.0.0.1:8730").split("//")[-1], timeout=60)

    def send(method, path, body, kind="application/json"):
        connection.request(method, f"/v1/models/memory{path}", body, {"content-type": kind})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
        return [json.loads(line) for line in text.splitlines()]

    service = {"wait_seconds": 60, "default_reward": 0, "retain_days": 0.002}
    spec = {"feedback": "bandit", "learner": "squarecb", "labels": list("abcdefghij"), "params": {"features": 50}, "service": service}
    send("PUT", "", json.dumps(spec))
    drawn, late, begun, decided, behind = random.Random(1), [], time.monotonic(), 0, 0.0
    shown = 0
    while (now := time.monotonic() - begun) < 60 * minutes:
        if now >= shown:
            status = Path(f"/proc/{pid}/status").read_text()
            resident = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
            print(f"{now:6.0f} s  {decided:9,} decisions  {int(resident) / 1024:7.1f} MiB  {behind:.1f} s behind", flush=True)
            shown += 60
        rows = [{"x": {f"f{j}": round(drawn.uniform(-1, 1), 3) for j in range(50)}} for _ in range(BATCH)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        answers = send("POST", "/decide", lines, "application/x-ndjson")
        decided += BATCH
        late.append([answer["id"] for at, answer in enumerate(answers) if at % 10])
        if len(late) > LATE:
            told = "".join(json.dumps({"id": id, "correct": drawn.random() < 0.3}) + "\n" for id in late.pop(0))
            send("POST", "/feedback", told, "application/x-ndjson")
        behind = time.monotonic() - begun - decided / BATCH * EVERY
        if behind < 0:
            time.sleep(-behind)


main(int(sys.argv[1]), float(sys.argv[2]))
