"""Learns the rows of a partition of a Kafka topic through a live pipe to `noregret run`, and sends a forecast of every row to a second topic.

    python kafka_pipe.py localhost:9092 tickets models label

A row is an object of JSON with its label. The pipe answers each row before it learns it. After ROWS rows, or when none has come for a while,
the model is saved under the offset of the next row: `models/00000000000000001200.model` has learnt the first 1200. The position is beside
the model, not in a consumer group: the next start goes on from the newest model, so that a row is learnt exactly once.
Forecasts of rows that were not saved are sent again, with the row's offset as their key.
"""

import os
import subprocess
import sys
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

ROWS, PAUSE = 10_000, 5.0
NOREGRET = os.environ.get("NOREGRET", "noregret")


def learn(broker, topic, folder, label, rounds=None, options=()):
    """Learns round after round; `rounds` limits them."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    consumer = Consumer({"bootstrap.servers": broker, "group.id": "noregret", "enable.auto.commit": False})
    producer = Producer({"bootstrap.servers": broker})
    while rounds is None or rounds > 0:
        models = sorted(folder.glob("*.model"))
        offset = int(models[-1].stem) if models else 0
        consumer.assign([TopicPartition(topic, 0, offset)])
        first = consumer.poll(-1 if rounds is None else PAUSE)  # -1: until a message comes
        if first is not None:
            told = ["--load", models[-1]] if models else ["--label", label, *options]
            session(consumer, producer, topic, first, folder, told)
        rounds = None if rounds is None else rounds - 1
    consumer.close()


def session(consumer, producer, topic, message, folder, told):
    """Pipes messages into one run, and saves its model under the offset of the message after the last."""
    scratch = folder / "unfinished"
    command = [NOREGRET, "run", "-", "--format", "ndjson", "--predictions", "-", "--save", scratch, "--on-bad-row", "skip", *told]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as run:
        header = None
        rows = 0
        while message is not None:
            if message.error():
                raise RuntimeError(message.error())
            # One line for each message, whatever it is: the pipe answers line by line, and blank ones not at all.
            text = (message.value() or b"").decode(errors="replace")
            line = text.replace("\r", " ").replace("\n", " ").strip() or "null"
            run.stdin.write(line + "\n")
            header = header or run.stdout.readline()
            forecast = run.stdout.readline().strip()
            producer.produce(f"{topic}-forecasts", key=str(message.offset()), value=forecast)
            after, rows = message.offset() + 1, rows + 1
            message = consumer.poll(PAUSE) if rows < ROWS else None
        run.stdin.close()
    if run.returncode != 0:
        raise RuntimeError(f"noregret ended with {run.returncode}")
    producer.flush()
    scratch.rename(folder / f"{after:020}.model")


if __name__ == "__main__":
    learn(*sys.argv[1:])
