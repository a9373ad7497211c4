"""Learns the labelled rows of a Flink stream, with a learner for every key, and puts forecasts in its place.

The learners are keyed state, which Flink saves in its checkpoints. After a failure a source that Flink does not rewind gives rows again
that a saved learner has learnt: so the number of the last row is kept beside the learner, and rows up to it are not learnt again.
"""

from noregret import Learner
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Learn(KeyedProcessFunction):
    """Predicts a row, and then learns it."""

    def open(self, context):
        self.learner = context.get_state(ValueStateDescriptor("learner", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, item, context):
        key, number, row, label = item
        learner, last = self.learner.value() or (Learner("folklore", features=len(row), labels=["no", "yes"]), -1)
        forecast = learner.predict(row)
        if number > last:
            learner.learn_one(row, label)
            self.learner.update((learner, number))
        yield key, number, forecast, learner.rounds


def forecasts(rows):
    """Keys with numbered rows and their labels come in; keys, numbers, forecasts and the count of rows learnt go out."""
    kinds = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING(), Types.LONG()])
    return rows.key_by(lambda item: item[0]).process(Learn(), output_type=kinds)
