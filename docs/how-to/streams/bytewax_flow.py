"""Learns the labelled rows of a Bytewax flow, with a learner for every key, and puts forecasts in its place.

    mkdir recovery
    python -m bytewax.recovery recovery 1
    python -m bytewax.run 'bytewax_flow:of_file("rows.ndjson")' -r recovery -s 10 -b 0

The learners are the state of the flow's step, which Bytewax saves with its position in the source. After a crash it may give a row again
that a saved learner has learnt: so the number of the last row is kept beside the learner, and rows up to it are not learnt again.
"""

import json

import bytewax.operators as op
from bytewax.connectors.files import FileSource
from bytewax.connectors.stdio import StdOutSink
from bytewax.dataflow import Dataflow
from noregret import Learner


def learn(state, item):
    """Predicts a row, and then learns it. Its number grows from row to row of a key."""
    number, row, label = item
    learner, last = state or (Learner("folklore", features=len(row), labels=["no", "yes"]), -1)
    forecast = learner.predict(row)
    if number > last:
        learner.learn_one(row, label)
        last = number
    return (learner, last), (number, forecast)


def flow(source, sink):
    """Keys with numbered rows and their labels come in, keys with numbered forecasts go out."""
    flow = Dataflow("learners")
    rows = op.input("rows", flow, source)
    op.output("forecasts", op.stateful_map("learn", rows, learn), sink)
    return flow


def of_file(path):
    """Lines such as {"key": "shop 3", "number": 7, "row": [1.0, 0.5], "label": "yes"} come in, forecasts go to standard output."""

    def read(line):
        told = json.loads(line)
        return told["key"], (told["number"], told["row"], told["label"])

    flow = Dataflow("learners")
    rows = op.map("read", op.input("lines", flow, FileSource(path)), read)
    forecasts = op.stateful_map("learn", rows, learn)
    op.output("forecasts", op.map("write", forecasts, json.dumps), StdOutSink())
    return flow
