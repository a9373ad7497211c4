"""Models that rest: what the service holds in memory while they are awake, and when all of them rest, twice.

`python resting.py PID [MODELS]` for the service at NOREGRET_URL (http://127.0.0.1:8730), which was started with `--rest 4`."""

import http.client
import json
import os
import sys
import time
from pathlib import Path


def main(pid, count=60):
    connection = http.client.HTTPConnection(os.environ.get("NOREGRET_URL", "http://127.0.0.1:8730").split("//")[-1], timeout=60)

    def send(method, path, body):
        connection.request(method, f"/v1/models{path}", json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
        return json.loads(text)

    def show(what):
        status = Path(f"/proc/{pid}/status").read_text()
        resident = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        print(f"{what:8} {int(resident) / 1024:7.1f} MiB", flush=True)

    for model in range(count):
        send("PUT", f"/rests{model}", {"feedback": "bandit", "labels": ["a", "b", "c"]})
    for _ in range(2):
        for model in range(count):
            send("POST", f"/rests{model}/decide", {"x": {"v": 1, "c": "x"}})
        show("awake")
        while not all(model["resting"] for model in send("GET", "", None)["models"]):
            time.sleep(0.5)
        time.sleep(3)
        show("resting")


main(int(sys.argv[1]), *map(int, sys.argv[2:]))
