"""Learns the labelled rows of a Redis stream, each exactly once, and writes a forecast of every row to a second stream.

    redis-cli xadd tickets '*' row '{"text": "cannot log in", "priority": 2, "label": "access"}'
    python redis_stream.py redis://127.0.0.1:6379 tickets access billing delivery

The model is kept in Redis, with the position in the stream up to which it has learnt. Model, position and forecasts are written in one
transaction: whatever is killed, and when, the next start goes on from the last transaction. A second program on the same stream is no
harm: only the one that wrote last goes on, the other one loads its model. An entry that is no row, or whose label is none of those named,
is passed over, and named on standard error.

What a column holds (words, categories, numbers), and which of them have features, is decided by the rows of the first transaction, for which
the program waits until the stream has BEGIN entries.
"""

import json
import pickle
import sys
import time

import redis
from noregret import Learner

ROWS = 500  # the most rows between two transactions
BEGIN = 1000  # the entries of the first one


def learn(client, stream, labels, name="auto", wait=None):
    """Learns what is in the stream, and what comes in each `wait` milliseconds (0: for ever)."""
    learner, position = load(client, stream, labels, name)
    while position == "0" and client.xlen(stream) < BEGIN:
        if wait is None:
            return
        time.sleep(1)
    while entries := client.xread({stream: position}, count=BEGIN if position == "0" else ROWS, block=wait):
        ((_, entries),) = entries
        good = list(readable(entries, labels))
        told = learner.run([row for _, row, _ in good], [label for _, _, label in good]) if good else None
        for note in told.notes if told else []:
            print(note, file=sys.stderr)
        last = entries[-1][0].decode()
        try:
            with client.pipeline() as transaction:
                transaction.watch(f"{stream}:model")
                if (transaction.hget(f"{stream}:model", "position") or b"0").decode() != position:
                    raise redis.WatchError
                transaction.multi()
                transaction.hset(f"{stream}:model", mapping={"position": last, "learner": pickle.dumps(learner)})
                for (number, _, _), played in zip(good, told.played if told else [], strict=True):
                    transaction.xadd(f"{stream}:forecasts", {"label": told.labels[played]}, id=number)
                transaction.execute()
            position = last
        except redis.WatchError:  # Another program has learnt these rows.
            learner, position = load(client, stream, labels, name)


def readable(entries, labels):
    """The entries that are rows: number, features, and label; without one (None) a row is forecast, and not learnt."""
    for number, fields in entries:
        try:
            row = json.loads(fields[b"row"])
            label = row.pop("label", None)
            if label is not None and label not in labels:
                raise ValueError(f"the label {label!r} is none of {labels}")
        except (AttributeError, KeyError, TypeError, ValueError) as why:
            print(f"entry {number.decode()} is passed over: {why!r}", file=sys.stderr)
        else:
            yield number, row, label


def load(client, stream, labels, name):
    """The learner, and the number of the last row that it has learnt."""
    saved = client.hgetall(f"{stream}:model")
    if not saved:
        return Learner(name, labels=labels), "0"
    return pickle.loads(saved[b"learner"]), saved[b"position"].decode()


if __name__ == "__main__":
    address, stream, *labels = sys.argv[1:]
    # The client gives up after five seconds unless it is told not to.
    learn(redis.from_url(address, socket_timeout=None), stream, labels, wait=0)
