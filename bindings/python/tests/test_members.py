"""`auto` with its members on workers: it learns what one process would learn, to the bit."""

import os
import signal

import numpy as np
import pytest
from conftest import stream

from noregret import Learner
from noregret.cluster import LocalEngine, ProcessEngine, _members, fit
from noregret.cluster._fit import split

HERE = LocalEngine(jobs=1)


class Loses(LocalEngine):
    """An engine whose actors are lost after so many calls each: others without memory take their places."""

    def __init__(self, calls):
        super().__init__(jobs=1)
        self.calls, self.lost = calls, 0

    def actors(self, kind, calls):
        engine, made = self, super().actors(kind, calls)

        class Actor:
            def __init__(self, actor):
                self.actor, self.left = actor, engine.calls

            def call(self, method, *args):
                self.left -= 1
                if self.left == 0:
                    engine.lost += 1
                    self.actor = LocalEngine.actors(engine, kind, calls[:1])[0]
                return self.actor.call(method, *args)

        return [Actor(actor) for actor in made]


def rows(count=2600, seed=3):
    """Rows with a change, so that members are dropped and begin anew."""
    x, y = stream(count, 6, 3, seed=seed)
    return x, np.where(np.arange(count) < 1500, y, (y + 1) % 3)


def alone(x, y, **asked):
    learner = Learner("auto", features=x.shape[1], labels=[0, 1, 2], scale="standard", intercept=True, **asked)
    return learner, learner.run(x, y)


@pytest.mark.parametrize("workers", [1, 3])
def test_members_on_workers_learn_as_one_process(workers):
    x, y = rows()
    learner, run = alone(x, y)
    fitted = fit(split(x, y, workers), "auto", engine=HERE, how="members", held_out=0)
    np.testing.assert_array_equal(fitted.learner.predict_proba(x[:50]), learner.predict_proba(x[:50]))
    assert fitted.learner.params == learner.params and fitted.learner.weights == learner.weights
    assert bytes(fitted.learner._core.to_bytes()) == bytes(learner._core.to_bytes())
    assert fitted.rates["log_loss"] == pytest.approx(run.log_loss, rel=1e-12)
    assert fitted.learner.rounds == 2600 and fitted.held_out is None
    # It goes on as any other.
    fitted.learner.update(x[:300], y[:300])
    learner.update(x[:300], y[:300])
    np.testing.assert_array_equal(fitted.learner.predict_proba(x[:50]), learner.predict_proba(x[:50]))


def test_a_worker_that_is_lost_changes_nothing():
    x, y = rows(1800)
    whole = fit(split(x, y, 2), "auto", engine=HERE, how="members")
    losing = Loses(calls=7)
    there = fit(split(x, y, 2), "auto", engine=losing, how="members")
    assert losing.lost == 2
    assert bytes(there.learner._core.to_bytes()) == bytes(whole.learner._core.to_bytes())
    assert there.rates == whole.rates and there.held_out == whole.held_out and there.held_out["rounds"] == 180


class Dies(_members.Worker):
    """A process that is killed in the middle of its work, once, since `path` says that it was."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def play(self, attempt, number, batch):
        if self._next is not None and self._next[1] == 1 and not self.path.exists():
            self.path.write_text("killed")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().play(attempt, number, batch)


def test_a_process_that_is_killed_changes_nothing(tmp_path):
    class Engine(ProcessEngine):
        def actors(self, kind, calls):
            return super().actors(Dies, [(tmp_path / f"{at}",) for at in range(len(calls))])

    x, y = rows(2100)
    there = fit(split(x, y, 2), "auto", engine=Engine(jobs=1), how="members")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]
    here = fit(split(x, y, 2), "auto", engine=HERE, how="members")
    assert bytes(there.learner._core.to_bytes()) == bytes(here.learner._core.to_bytes())


def test_a_worker_that_is_always_lost_is_told():
    class Forgets(_members.Worker):
        def play(self, *_):
            return None

    class Engine(LocalEngine):
        def actors(self, kind, calls):
            return super().actors(Forgets, calls)

    x, y = rows(600)
    with pytest.raises(RuntimeError, match="worker 0 was lost 5 times at the same rows"):
        fit(split(x, y, 2), "auto", engine=Engine(jobs=1), how="members")


def test_tables_and_missing_labels():
    x, y = rows(700)
    table = {"a": x[:, 0], "b": np.array(["u", "v", None], dtype=object)[np.arange(700) % 3], "c": x[:, 1]}
    labels = [None if at % 7 == 0 else f"class {label}" for at, label in enumerate(y)]
    fitted = [fit(split(table, labels, shards), "auto", engine=HERE, how="members", held_out=0) for shards in (1, 3)]
    assert fitted[0].learner.rounds == 600 and "b=u" in fitted[0].learner.columns
    assert bytes(fitted[0].learner._core.to_bytes()) == bytes(fitted[1].learner._core.to_bytes())
    assert fitted[0].learner.predict({"a": 0.1, "b": "v", "c": 0.2}).startswith("class ")


def test_what_has_no_members_is_refused():
    x, y = rows(40)
    with pytest.raises(ValueError, match="folklore has no members to divide among workers; a mixture was needed"):
        fit(split(x, y, 2), "folklore", engine=HERE, how="members")
    with pytest.raises(ValueError, match="period = 10: for shards that merge"):
        fit(split(x, y, 2), "auto", engine=HERE, how="members", period=10)


def test_members_are_divided_by_their_costs():
    assert _members.shares([0.0, 5.0, 1.0, 3.0, 0.0, 2.5], 2) == [[1, 2], [3, 5]]
    assert _members.shares([0.0, 1.0], 2) == [[1], []]


def test_stages_end_where_members_may_change():
    part = (np.zeros((3000, 1)), np.zeros(3000, dtype=np.int64))
    ends = np.cumsum([sum(len(y) for _, y in stage) for stage in _members.stages([part, part])])
    assert ends.tolist() == [256, 512, 1024, 2048, 4096, 6000]


def test_engines_that_keep_no_objects_are_refused():
    """Every worker would be a new one at every call: the run ended with "is its memory too small?"."""
    from noregret.cluster.spark import SparkEngine

    class Forgets(LocalEngine):
        keeps_objects = SparkEngine.keeps_objects

    x, y = rows(600)
    with pytest.raises(ValueError, match="how = 'members': Forgets keeps no objects between two calls, and the members are such; RayEngine"):
        fit(split(x, y, 2), "auto", engine=Forgets(jobs=1), how="members")
