"""What a decision of `auto` and its answer take of a processor, as rounds go by: 14,000 of 50 features and ten labels, each answered.

`python rounds_of_auto.py PID [ROUNDS FEATURES LABELS]` for the service at NOREGRET_URL (http://127.0.0.1:8730). Processor time is that of the
whole service, and other programs that run meanwhile add little to it."""

import os
import random
import sys
from pathlib import Path

from service import row, send

BATCH = 100


def main(pid, rounds=14_000, features=50, labels=10, each=1000):
    def used():
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    labels = "abcdefghij"[:labels]
    spec = {"feedback": "bandit", "learner": "auto", "labels": list(labels), "params": {"features": features}}
    send("PUT", "/auto", spec)
    drawn = random.Random(1)
    for done in range(each, rounds + 1, each):
        decided = answered = 0.0
        for _ in range(each // BATCH):
            rows = [row(drawn, features) for _ in range(BATCH)]
            begun = used()
            taken = send("POST", "/auto/decide", rows)
            decided += used() - begun
            half = len(labels) // 2
            best = [labels[half * (one["x"]["f0"] > 0) + 2 * (one["x"]["f1"] > 0) + (one["x"]["f2"] > 0.5)] for one in rows]
            told = [{"id": one["id"], "correct": one["label"] == label} for one, label in zip(taken, best)]
            begun = used()
            send("POST", "/auto/feedback", told)
            answered += used() - begun
        print(f"{done:6,} rounds: a decision {1000 * decided / each:.2f} ms, an answer {1000 * answered / each:.2f} ms", flush=True)


main(*map(int, sys.argv[1:]))
