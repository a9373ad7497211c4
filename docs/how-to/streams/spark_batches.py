"""Learns the micro-batches of Spark Structured Streaming, with a learner for every key, each row exactly once.

    python spark_batches.py ROWS_FOLDER STATE_FOLDER

Spark gives a batch again, under its number, if it does not know whether the function has ended. The store of `KeyedLearners` knows the
numbers that it has learnt: such a batch is answered from the store. Rows of a batch are brought into one order, since a repeated batch
has the same rows and perhaps another order.
"""

import sys

from noregret.cluster import KeyedLearners
from pyspark.sql import SparkSession


def learner_of(keyed, columns):
    """The function for `foreachBatch`. Rows have a key, a number that orders them, the columns, and a label."""

    def learn(batch, number):
        rows = batch.orderBy("number").collect()
        if rows:
            x = [[row[name] for name in columns] for row in rows]
            # Spark counts from 0, batches from 1.
            keyed.learn([row["key"] for row in rows], x, [row["label"] for row in rows], batch=number + 1, source="spark")

    return learn


def start(session, rows, state, keyed, columns):
    """Starts the query on a folder of NDJSON files. Its checkpoints are in `state`."""
    schema = "key STRING, number LONG, label STRING, " + ", ".join(f"{name} DOUBLE" for name in columns)
    stream = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(rows)
    query = stream.writeStream.foreachBatch(learner_of(keyed, columns))
    return query.option("checkpointLocation", f"{state}/checkpoints").trigger(availableNow=True).start()


if __name__ == "__main__":
    rows, state = sys.argv[1:]
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    with KeyedLearners(f"{state}/learners", "folklore", features=2, labels=["no", "yes"]) as keyed:
        start(session, rows, state, keyed, ["a", "b"]).awaitTermination()
