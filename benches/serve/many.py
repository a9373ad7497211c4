"""Many models that rest: what the service holds of them in memory, and how many threads and open files it has.

`python many.py PID MODELS [SPEC]` for the service at NOREGRET_URL (http://127.0.0.1:8730), which was started with `--rest 1 --most-models MODELS`
after `ulimit -n` of four times as many. SPEC is what a model is made with, such as {"learner": "ogd"}; a default model of decisions if it is left out."""

import http.client
import json
import os
import sys
import time
from pathlib import Path

DEFAULT = '{"feedback": "bandit", "labels": ["a", "b", "c"]}'


def main(pid, count, spec=DEFAULT):
    connection = http.client.HTTPConnection(os.environ.get("NOREGRET_URL", "http://127.0.0.1:8730").split("//")[-1], timeout=600)

    def send(method, path, body=None):
        connection.request(method, f"/v1/models{path}", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
        return json.loads(text)

    def show(models):
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        mebibytes = int(status["VmRSS"].split()[0]) / 1024
        print(f"{models:6,} models  {mebibytes:8.1f} MiB  {int(status['Threads']):6,} threads  {files:6,} files", flush=True)

    show(0)
    for model in range(count):
        send("PUT", f"/many{model}", spec)
        if (model + 1) % (count // 10 or 1) == 0:
            show(model + 1)
    while not all(model["resting"] for model in send("GET", "")["models"]):
        time.sleep(1)
    time.sleep(2)
    show(count)


main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
