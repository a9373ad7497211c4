"""Learns the rows of a partition of a Kafka topic through a live pipe to `noregret run`, and sends a forecast of every row to a second topic.

    python kafka_pipe.py localhost:9092 tickets models label [PARTITION]

A row is an object of JSON with its label. The pipe answers each row before it learns it. After ROWS rows, or when none has come for a while,
the model is saved under the offset of the next row: `models/00000000000000001200.model` has learnt the first 1200. The position is beside
the model, not in a consumer group: the next start goes on from the newest model, so that a row is learnt exactly once.
Forecasts of rows that were not saved are sent again, with the row's offset as their key. A model is not saved before the broker has them.
If the topic no longer has the next row, the program ends: the rows between are lost, and it is for you to say where to go on (rename the
newest model to that offset).
"""

import os
import subprocess
import sys
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

ROWS, PAUSE = 10_000, 5.0
NOREGRET = os.environ.get("NOREGRET", "noregret")


def learn(broker, topic, folder, label, partition=0, rounds=None, options=()):
    """Learns round after round; `rounds` limits them."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    asked = {"bootstrap.servers": broker, "group.id": "noregret", "enable.auto.commit": False}
    consumer = Consumer(asked | {"auto.offset.reset": "error"})  # Its default would pass over rows that it does not find.
    producer = Producer({"bootstrap.servers": broker})
    while rounds is None or rounds > 0:
        models = sorted(folder.glob("*.model"))
        offset = int(models[-1].stem) if models else OFFSET_BEGINNING
        consumer.assign([TopicPartition(topic, int(partition), offset)])
        first = received(consumer, -1 if rounds is None else PAUSE)  # -1: until a message comes
        if first is not None:
            told = ["--load", models[-1]] if models else ["--label", label, *options]
            session(consumer, producer, topic, first, folder, told)
        rounds = None if rounds is None else rounds - 1
    consumer.close()


def received(consumer, seconds):
    """The next message; None if none comes in time."""
    message = consumer.poll(seconds)
    if message is not None and message.error():
        raise RuntimeError(message.error())
    return message


def session(consumer, producer, topic, message, folder, told):
    """Pipes messages into one run, and saves its model under the offset of the message after the last."""
    scratch = folder / "unfinished"
    command = [NOREGRET, "run", "-", "--format", "ndjson", "--predictions", "-", "--save", scratch, "--on-bad-row", "skip", *told]
    lost = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as run:
        header = None
        rows = 0
        while message is not None:
            # One line for each message, whatever it is: the pipe answers line by line, and blank ones not at all.
            text = (message.value() or b"").decode(errors="replace")
            line = text.replace("\r", " ").replace("\n", " ").strip() or "null"
            run.stdin.write(line + "\n")
            header = header or run.stdout.readline()
            forecast = run.stdout.readline().strip()
            told = {"key": str(message.offset()), "value": forecast}
            producer.produce(f"{topic}-forecasts", **told, on_delivery=lambda error, _: error and lost.append(error))
            after, rows = message.offset() + 1, rows + 1
            message = received(consumer, PAUSE) if rows < ROWS else None
        run.stdin.close()
    if run.returncode != 0:
        raise RuntimeError(f"noregret ended with {run.returncode}")
    producer.flush()
    if lost:
        raise RuntimeError(f"{len(lost)} forecasts were not delivered, the first because of {lost[0]}; the next start sends them again")
    scratch.rename(folder / f"{after:020}.model")


if __name__ == "__main__":
    learn(*sys.argv[1:])
