"""The engines: processes, Dask and Spark give the same shards and the same keyed learners."""

import os
import signal
import sys
import threading

import numpy as np
import pytest
from conftest import stream
from test_keyed import alone, keyed_rows, make, same_learners

from noregret.cluster import LocalEngine, fit
from noregret.cluster._fit import split

ENGINE = LocalEngine(jobs=1)


class Spark:
    """What `SparkEngine` needs of a session. As Spark does, it gives up all calls when one raises."""

    def __init__(self, calls=None):
        self.calls, self.sparkContext, self.broadcast = calls, self, lambda value: value

    def parallelize(self, calls, parts):
        return Spark(calls)

    def map(self, function):
        return Spark([function(call) for call in self.calls])

    def collect(self):
        return self.calls


def test_a_failed_run_does_not_end_the_others_of_spark():
    from noregret.cluster.spark import SparkEngine

    engine = SparkEngine(Spark())
    done = dict(engine.completed(engine.map(divmod, [(7, 2), (7, 0), (9, 2)])))
    assert done[0] == (3, 1) and isinstance(done[1], ZeroDivisionError) and done[2] == (4, 1)
    assert [engine.get(one) for one in engine.map(divmod, [(7, 2)], outputs=2)[0]] == [3, 1]


def engine_works(engine, folder):
    """The four functions, through what is built on them."""
    x, y = stream(120, 4, 3)
    shared = engine.broadcast(np.arange(5))
    assert [int(engine.get(one)) for one in engine.map(np.sum, [(shared,), (shared,)])] == [10, 10]
    handles = [engine.broadcast(np.array([float(at)])) for at in range(5)]
    assert float(engine.get(engine.reduce(np.add, handles))[0]) == 10.0
    here = fit(split(x, y, 3), engine=ENGINE)
    there = fit([[engine.broadcast(block) for block in shard] for shard in split(x, y, 3)], engine=engine)
    np.testing.assert_array_equal(here.learner.statistics(), there.learner.statistics())
    assert here.held_out == there.held_out
    names, rows, labels = keyed_rows(rows=30)
    keyed = make(folder, actors=2, partitions=2, engine=engine)
    keyed.learn(names, rows, labels)
    same_learners(keyed, alone(names, rows, labels), rows)
    keyed.close()


def test_joblib(tmp_path):
    engine_works(LocalEngine(jobs=2), tmp_path)


def test_dask(tmp_path):
    distributed = pytest.importorskip("distributed")
    from noregret.cluster.dask import DaskEngine

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        engine_works(DaskEngine(client), tmp_path)


class Counter:
    """An object with a method that fails."""

    def __init__(self, most):
        if most < 0:
            raise ValueError(f"most = {most}")
        self.most = most

    def count(self, to):
        if to > self.most:
            raise RuntimeError(f"{to} is above {self.most}")
        return list(range(to))


def test_dask_loses_workers_and_nothing_else(tmp_path):
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    from noregret.cluster.dask import DaskEngine

    x, y = stream(2000, 12, 3)
    here = fit(split(x, y, 6), engine=ENGINE, period=100)
    names, rows, labels = keyed_rows(rows=90)
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):

        def lose():
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        engine = DaskEngine(client)
        blocks = [[engine.broadcast(block) for block in shard] for shard in split(x, y, 6)]
        timer = threading.Timer(0.5, lose)
        timer.start()
        there = fit(blocks, engine=engine, period=100)
        timer.join()
        np.testing.assert_array_equal(here.learner.statistics(), there.learner.statistics())
        assert here.held_out == there.held_out and here.rates == there.rates
        keyed = make(tmp_path, actors=2, partitions=2, engine=engine)
        for at in range(0, 90, 30):
            keyed.learn(names[at : at + 30], rows[at : at + 30], labels[at : at + 30])
            lose()
        same_learners(keyed, alone(names, rows, labels), rows)
        keyed.close()
        (counter,) = engine.actors(Counter, [(3,)])
        assert engine.get(counter.call("count", 2)) == [0, 1]
        with pytest.raises(RuntimeError, match="4 is above 3"):
            engine.get(counter.call("count", 4))
        (wrong,) = engine.actors(Counter, [(-1,)])
        with pytest.raises(ValueError, match="most = -1"):
            engine.get(wrong.call("count", 2))


def test_spark(tmp_path, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    # Its workers are else whatever is called python3.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    from noregret.cluster.spark import SparkEngine

    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    try:
        engine_works(SparkEngine(session), tmp_path)
    finally:
        session.stop()
