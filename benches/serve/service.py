"""The service that is measured, at NOREGRET_URL (http://127.0.0.1:8730), and what its process holds."""

import http.client
import json
import os
from pathlib import Path

CONNECTION = http.client.HTTPConnection(os.environ.get("NOREGRET_URL", "http://127.0.0.1:8730").split("//")[-1], timeout=600)


def send(method, path, body=None):
    """The answer to a request about models; to a list of rows, a list of answers."""
    many = isinstance(body, list)
    sent = "".join(json.dumps(row) + "\n" for row in body) if many else body and json.dumps(body)
    CONNECTION.request(method, f"/v1/models{path}", sent, {"content-type": "application/x-ndjson" if many else "application/json"})
    answer = CONNECTION.getresponse()
    text = answer.read()
    assert answer.status < 300, text
    return [json.loads(line) for line in text.splitlines()] if many else json.loads(text)


def status(pid):
    """What Linux tells of the process, by name."""
    return dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


def resident(pid):
    """The memory of the process, in MiB."""
    return int(status(pid)["VmRSS"].split()[0]) / 1024


def row(drawn, features):
    """A row with so many numbers."""
    return {"x": {f"f{j}": round(drawn.uniform(-1, 1), 3) for j in range(features)}}
