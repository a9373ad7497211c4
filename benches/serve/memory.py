"""A thousand decisions a second, of which a tenth are never answered: what the service holds in memory, every minute.

`python memory.py PID MINUTES` for the service at NOREGRET_URL (http://127.0.0.1:8730). Lines go in batches of a hundred, each of which
is durable before it is answered."""

import random
import sys
import time

from service import resident, row, send

BATCH, EVERY, LATE = 100, 0.1, 20


def main(pid, minutes):
    service = {"wait_seconds": 60, "default_reward": 0, "retain_days": 0.002}
    spec = {"feedback": "bandit", "learner": "squarecb", "labels": list("abcdefghij"), "params": {"features": 50}, "service": service}
    send("PUT", "/memory", spec)
    drawn, late, begun, decided, behind = random.Random(1), [], time.monotonic(), 0, 0.0
    shown = 0
    while (now := time.monotonic() - begun) < 60 * minutes:
        if now >= shown:
            print(f"{now:6.0f} s  {decided:9,} decisions  {resident(pid):7.1f} MiB  {behind:.1f} s behind", flush=True)
            shown += 60
        answers = send("POST", "/memory/decide", [row(drawn, 50) for _ in range(BATCH)])
        decided += BATCH
        late.append([answer["id"] for at, answer in enumerate(answers) if at % 10])
        if len(late) > LATE:
            send("POST", "/memory/feedback", [{"id": id, "correct": drawn.random() < 0.3} for id in late.pop(0)])
        behind = time.monotonic() - begun - decided / BATCH * EVERY
        if behind < 0:
            time.sleep(-behind)


main(int(sys.argv[1]), float(sys.argv[2]))
