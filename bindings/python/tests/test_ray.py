"""Ray: what is built on it keeps its promises when a machine of the cluster is lost in the middle of the work.

A cluster of two machines with one core each, on this one. Where Ray is not installed these tests are skipped, and said to be.
"""

import os
import threading
import time

import numpy as np
import pytest
from conftest import stream
from program import program
from test_keyed import alone, same_learners

os.environ.setdefault("RAY_worker_niceness", "0")
ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'noregret[ray]'")
pytest.importorskip("ray.data")

from ray.cluster_utils import Cluster  # noqa: E402

from noregret import Bandit, Learner  # noqa: E402
from noregret.cluster import LocalEngine  # noqa: E402
from noregret.cluster import fit as fit_on  # noqa: E402
from noregret.cluster import sweep as sweep_on  # noqa: E402
from noregret.cluster._fit import split  # noqa: E402
from noregret.cluster._shard import add  # noqa: E402
from noregret.ray import KeyedLearners, RayEngine, deployment, fit, sweep, trainable, whole_log  # noqa: E402

HERE = LocalEngine(jobs=1)


@pytest.fixture
def cluster():
    """Two machines; the second may be lost."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, logging_level="error", log_to_driver=False)
    cluster.wait_for_nodes()
    yield cluster, second
    ray.shutdown()
    cluster.shutdown()


def lose(cluster, node):
    """The machine is gone at once; another one takes its place."""
    cluster.remove_node(node, allow_graceful=False)
    cluster.add_node(num_cpus=1)


def occupy(node):
    """An actor that takes the core of a machine, so that others have to start elsewhere. It ends with its handle."""

    class Holder:
        def holds(self):
            return True

    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.node_id, soft=False)
    actor = ray.remote(num_cpus=1, scheduling_strategy=here)(Holder).remote()
    ray.get(actor.holds.remote())
    return actor


def soon(cluster, node, seconds):
    """The machine is gone after so many seconds, and none takes its place: Ray adds machines in the main thread alone."""
    timer = threading.Timer(seconds, cluster.remove_node, (node,), {"allow_graceful": False})
    timer.start()
    return timer


def test_cells_of_csv_are_read_as_they_are_written(cluster, tmp_path):
    rows = [f"{at % 7},{['01', '1', 'x'][at % 3]},{['01', '1', '2', ''][at % 4]}" for at in range(80)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,c,label", *rows]) + "\n")
    learner = fit(str(tmp_path / "rows.csv"), "folklore", shards=2, label="label").learner
    assert sorted(learner.labels) == ["01", "1", "2"]
    assert {"c=01", "c=1", "c=x"} <= set(learner.columns)
    (tmp_path / "numbers.csv").write_text("\n".join(["a,y", *(f"{at},{2 * at}" for at in range(40))]) + "\n")
    assert fit(str(tmp_path / "numbers.csv"), "vaw").learner.predict({"a": 3.0}) == pytest.approx(6, abs=1)
    (tmp_path / "NUMBERS.CSV").write_text((tmp_path / "numbers.csv").read_text())
    assert fit(str(tmp_path / "NUMBERS.CSV"), "vaw").learner.predict({"a": 3.0}) == pytest.approx(6, abs=1)
    (tmp_path / "numbers.tsv").write_text((tmp_path / "numbers.csv").read_text().replace(",", "\t"))
    assert fit(str(tmp_path / "numbers.tsv"), "vaw").learner.predict({"a": 3.0}) == pytest.approx(6, abs=1)
    with pytest.raises(ValueError, match=r"numbers.csv is CSV, and rows.parquet is Parquet; files of one format were needed"):
        fit([str(tmp_path / "numbers.csv"), "rows.parquet"], "vaw")
    with pytest.raises(ValueError, match=r"rows.ndjson ends in .ndjson; Parquet, CSV or TSV was needed, or a ray.data.Dataset"):
        fit("rows.ndjson", "vaw")


def test_learners_that_do_not_add_up_are_refused():
    for name in ("auto", "ogd"):
        with pytest.raises(ValueError, match=f"{name} cannot be merged: what it learns does not add up"):
            fit_on([[stream(40, 4, 3)]], name, engine=HERE)


def test_a_sweep_loses_no_run(cluster):
    cluster, second = cluster
    x, y = stream(400, 4, 3)
    told = []

    def progress(done, total):
        told.append((done, total))
        if done == 2:
            lose(cluster, second)

    grid = {"ogd.rate": [0.1, 0.3, 1.0, 3.0]}
    swept = sweep((x, y), ["folklore", "ogd"], grid, options=["--label", "y"], progress=progress)
    here = sweep_on((x, y), ["folklore", "ogd"], grid, options=["--label", "y"], engine=HERE)
    assert swept.failures == [] and told[-1] == (5, 5)
    assert swept.settings == here.settings


@pytest.mark.parametrize("period", [None, 40])
def test_shards_end_with_the_same_bits(cluster, period):
    cluster, second = cluster
    x, y = stream(4000, 6, 3)
    timer = soon(cluster, second, 0.5)
    there = fit((x, y), "folklore", 4, period=period)
    timer.join()
    here = fit_on(split(x, y, 4), "folklore", engine=HERE, period=period)
    np.testing.assert_array_equal(there.learner.statistics(), here.learner.statistics())
    assert there.rates == here.rates


def test_members_of_auto_survive_a_kill(cluster):
    class Killing(RayEngine):
        """Kills a worker again and again, in the middle of its work."""

        kills = 0

        def actors(self, kind, calls):
            self.made = super().actors(kind, calls)
            return self.made

        def kill(self):
            ray.kill(self.made[self.kills % 2].handle, no_restart=False)
            self.kills += 1

    x, y = stream(3000, 6, 3)
    whole = Learner("auto", features=6, labels=[0, 1, 2], scale="standard", intercept=True)
    run = whole.run(x, y)
    killing, timers = Killing(cores=0.5), []

    def told(what):
        if what.endswith("learnt"):
            timers.append(threading.Timer(0.1, killing.kill))
            timers[-1].start()

    there = fit_on(split(x, y, 2), "auto", engine=killing, how="members", held_out=0, progress=told)
    for timer in timers:
        timer.join()
    assert killing.kills >= 3
    assert bytes(there.learner._core.to_bytes()) == bytes(whole._core.to_bytes())
    assert there.rates["log_loss"] == pytest.approx(run.log_loss, rel=1e-12)


def test_members_of_auto_survive_a_lost_machine(cluster):
    cluster, second = cluster
    x, y = stream(3000, 6, 3)
    timer = soon(cluster, second, 5.0)
    there = fit((x, y), "auto", 2, how="members", cores=0.5)
    timer.join()
    here = fit_on(split(x, y, 2), "auto", engine=HERE, how="members")
    assert bytes(there.learner._core.to_bytes()) == bytes(here.learner._core.to_bytes())
    assert there.rates == here.rates and there.held_out == here.held_out


def test_data_sets_keep_their_order(cluster, tmp_path):
    pandas = pytest.importorskip("pandas")
    x, y = stream(300, 3, 3)
    table = pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    table.to_parquet(tmp_path / "rows.parquet")
    table.to_csv(tmp_path / "rows.csv", index=False)
    here = fit_on(split(x, y, 3), "folklore", engine=HERE)
    for source in (str(tmp_path / "rows.parquet"), str(tmp_path / "rows.csv"), ray.data.from_pandas(table)):
        there = fit(source, "folklore", 3)
        # Blocks of other lengths are rounded otherwise, which decides between classes whose scores are equal: so not the errors.
        assert there.rates["log_loss"] == pytest.approx(here.rates["log_loss"], rel=1e-9)
        np.testing.assert_allclose(there.learner.scores(x), here.learner.scores(x), rtol=1e-6, atol=1e-6)


def test_a_data_set_that_was_made_before_keeps_its_order(cluster, tmp_path):
    """Its blocks are ready in another order: the first one last."""
    polars = pytest.importorskip("polars")
    x, y = stream(300, 3, 3)
    table = polars.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})

    def late(block):
        until = time.monotonic() + 60
        while block["a"][0] == x[0, 0] and len(list(tmp_path.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        (tmp_path / str(block["a"][0])).touch()
        return block

    parts = ray.data.from_arrow([table[:100].to_arrow(), table[100:200].to_arrow(), table[200:].to_arrow()])
    learnt = [fit(data, "folklore", 1, held_out=0, cores=0.5).rates["log_loss"] for data in (parts.map_batches(late, batch_size=None), table)]
    here = fit_on(split(x, y, 1), "folklore", engine=HERE, held_out=0)
    assert learnt == pytest.approx([here.rates["log_loss"]] * 2, rel=1e-9)


def test_columns_of_categories_are_categories_in_trials():
    pandas = pytest.importorskip("pandas")
    from noregret._tables import table
    from noregret.ray._tune import described

    frame = pandas.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 2]}).astype({"b": "category", "c": "category"})
    assert described(table(frame), {"scale": "unit"}) == {"scale": "unit", "categorical": ["b", "c"]}
    assert described(table(frame), {"categorical": ["a"], "drop": ["c"]}) == {"categorical": ["a", "b"], "drop": ["c"]}


def test_keyed_learners_lose_nothing_that_was_answered(cluster, tmp_path):
    cluster, second = cluster
    x, y = stream(600, 3, 2, seed=5)
    names = [f"sensor {at % 23}" for at in range(600)]
    labels = [("no", "yes")[label] for label in y]
    keyed = KeyedLearners(
        tmp_path, "folklore", features=3, labels=["no", "yes"], actors=2, in_memory=4, partitions=4, cores=0.5
    )
    for at in range(0, 600, 50):
        if at == 200:
            lose(cluster, second)
        part = slice(at, at + 50)
        assert len(keyed.learn(names[part], x[part], labels[part]).played) == 50
    same_learners(keyed, alone(names, x, labels), x)
    keyed.close()


def test_late_labels_are_learnt_once_when_actors_are_killed(cluster, tmp_path):
    x, y = stream(300, 3, 2, seed=5)
    names, ids = [f"sensor {at % 7}" for at in range(300)], list(range(300))
    labels = [("no", "yes")[label] for label in y]
    keyed = KeyedLearners(tmp_path, "folklore", features=3, labels=["no", "yes"], actors=2, in_memory=2, partitions=4, cores=0.5)
    for at in range(0, 360, 30):
        part, due = slice(at, at + 30), slice(max(at - 60, 0), max(at - 30, 0))
        timer = threading.Timer(0.02, ray.kill, (keyed._actors[at // 30 % 2].handle,), {"no_restart": False})
        timer.start()
        keyed.predict(names[part], x[part], ids=ids[part])
        assert None not in keyed.label(names[due], ids[due], labels[due]).played
        timer.join()
    assert keyed.counts()["waiting"] == 0
    same_learners(keyed, alone(names, x, labels), x)
    keyed.close()


def test_a_served_bandit_goes_on_from_its_log(cluster, tmp_path):
    from ray import serve

    cluster, second = cluster
    x, y = stream(60, 3, 3)
    facts = {"features": 3, "labels": ["a", "b", "c"], "exploration": 0.2, "seed": 1}
    occupied = occupy(cluster.head_node)
    serve.start(http_options={"location": "NoServer"})
    try:
        handle = serve.run(deployment(log=tmp_path / "decisions.ndjson", learner="soba", cores=0.1, **facts))
        bandit = Bandit("soba", **facts)
        names = bandit.labels
        for at, (row, label) in enumerate(zip(x, y, strict=True)):
            if at == 30:
                # The replica's machine is gone, and with it every request that it could still answer; Serve starts another
                # replica on the machine that takes its place.
                lose(cluster, second)
            said = answer(lambda row=row: handle.decide.remote(row.tolist()).result(timeout_s=20))
            mine = bandit.decide(row)
            played = mine.label if isinstance(mine.label, str) else names[mine.label]
            assert (said["label"], said["probability"]) == (played, mine.probability)
            handle.feedback.remote(said["id"], played == names[label]).result()
            bandit.feedback(mine.id, played == names[label])
        assert handle.rounds.remote().result() == bandit.rounds == 60
    finally:
        serve.shutdown()
        del occupied
    # Decision logs like any other: of the first replica, and of the second, which went on from the model beside its log.
    first, second = tmp_path / "decisions.0.ndjson", tmp_path / "decisions.1.ndjson"
    assert Bandit.replay(second, second.with_suffix(".model")).rounds == 60
    for log, options in ((first, []), (second, ["--load", str(second.with_suffix(".model"))])):
        assert program("replay", log, "--json", *options)[0]["answered"] == 30
        estimated = program("evaluate", log, "--policy", "uniform", "--reward-learner", "none", "--json")
        assert estimated[-1]["decisions"] == 30
    # And one log of all of it.
    whole_log(tmp_path / "decisions.ndjson", tmp_path / "all.ndjson")
    assert program("replay", tmp_path / "all.ndjson", "--json")[0]["answered"] == 60
    assert program("evaluate", tmp_path / "all.ndjson", "--policy", "uniform", "--reward-learner", "none", "--json")[-1]["decisions"] == 60


def test_replicas_have_many_requests_at_a_time(tmp_path):
    """Ray's own limit is 5: more clients would wait for its proxy, and shared bandits would decide by handfuls."""
    log = tmp_path / "decisions.ndjson"
    shared = deployment(log=log, replicas=2)._bound_deployment
    (decider,) = shared.init_args
    alone = [one._bound_deployment for one in (deployment(model=tmp_path / "model"), deployment(log=log), decider)]
    assert [one.max_ongoing_requests for one in (shared, *alone)] == [100] * 4


def test_replicas_of_a_bandit_have_one_log(cluster, tmp_path):
    from ray import serve

    x, y = stream(60, 3, 3)
    facts = {"features": 3, "labels": ["a", "b", "c"], "exploration": 0.2, "seed": 1}
    serve.start(http_options={"location": "NoServer"})
    try:
        handle = serve.run(deployment(log=tmp_path / "decisions.ndjson", replicas=2, cores=0.1, **facts))
        # All at once, so that both replicas decide.
        asked = [handle.decide.remote(row.tolist()) for row in x]
        said = [one.result(timeout_s=60) for one in asked]
        for one, label in zip(said, y, strict=True):
            handle.feedback.remote(one["id"], one["label"] == facts["labels"][label]).result(timeout_s=60)
        assert sorted(int(one["id"]) for one in said) == list(range(60)) and handle.rounds.remote().result() == 60
    finally:
        serve.shutdown()
    whole_log(tmp_path / "decisions.ndjson", tmp_path / "all.ndjson")
    replayed = program("replay", tmp_path / "all.ndjson", "--json")[0]
    right = sum(one["label"] == facts["labels"][label] for one, label in zip(said, y, strict=True))
    assert (replayed["decisions"], replayed["answered"], replayed["right"]) == (60, 60, right)


def answer(call):
    """A call that is repeated while its replica is being started again."""
    until = time.monotonic() + 120
    while True:
        try:
            return call()
        except Exception:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def test_a_trainable_reports_and_resumes(cluster, tmp_path):
    from ray import tune

    x, y = stream(400, 3, 3)
    names = [str(label) for label in y]
    tuner = tune.Tuner(
        trainable(x, names, report_every=100),
        param_space={"learner": "ogd", "rate": tune.grid_search([0.1, 1.0])},
        run_config=tune.RunConfig(storage_path=str(tmp_path), verbose=0),
    )
    results = tuner.fit()
    assert not results.errors and len(results) == 2
    for one in results:
        alone = Learner("ogd", features=3, labels=sorted(set(names)), rate=one.config["rate"]).run(x, names).rates
        assert one.metrics["rounds"] == 400
        assert one.metrics["error_rate"] == pytest.approx(alone["error_rate"], rel=1e-12)


def test_tasks_add_up_in_place(cluster):
    engine = RayEngine()
    parts = engine.map(np.full, [(1000, float(at)) for at in range(5)])
    np.testing.assert_array_equal(engine.get(engine.reduce(add, parts)), np.full(1000, 10.0))


def test_actors_without_a_place_say_so(cluster):
    class Held:
        def value(self):
            return 7

    engine = RayEngine(cores=1, patience=4)
    two = engine.actors(Held, [(), ()])
    assert [engine.get(one.call("value")) for one in two] == [7, 7]
    with pytest.raises(RuntimeError, match="1 of 1 actors found no place in 4 seconds: they need 1 cores each, and the cluster has 2"):
        engine.actors(Held, [()])
    engine.stop(two)


def test_tasks_without_a_machine_say_so(cluster):
    engine = RayEngine(cores=1.5, patience=1)
    with pytest.raises(RuntimeError, match="a task reserves 1.5 cores, and the largest machine of the cluster has 1; ask for fewer cores"):
        engine.map(np.full, [(2, 1.0), (2, 2.0)])
    fitting = RayEngine(cores=1, patience=1)
    assert [fitting.get(one).tolist() for one in fitting.map(np.full, [(2, 1.0), (2, 2.0)])] == [[1, 1], [2, 2]]


def asking(app, path, body, root=""):
    """The response of an application to a request, to be awaited."""
    import json

    from starlette.requests import Request

    async def receive():
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    scope = {"type": "http", "method": "POST", "path": root + path, "root_path": root, "headers": [], "query_string": b""}
    return app(Request(scope, receive))


def answered(app, path, body, root=""):
    """The status and the answer of an application to a request."""
    import asyncio
    import json

    response = asyncio.run(asking(app, path, body, root))
    return response.status_code, json.loads(response.body)


@pytest.mark.parametrize("root", ["", "/shop"])
def test_served_models_take_lists_and_know_their_routes(tmp_path, root):
    from noregret.ray._serve import Decider, Predictor

    x, y = stream(50, 3, 3)
    learner = Learner("folklore", features=3, labels=["a", "b", "c"])
    learner.update(x, np.array(["a", "b", "c"])[y])
    learner.save(tmp_path / "model.safetensors")
    app = Predictor(str(tmp_path / "model.safetensors"))
    for path in ("/predict", "/", ""):
        status, one = answered(app, path, {"x": x[0].tolist()}, root)
        assert status == 200 and one["label"] == learner.predict(x[0])
    for one, row in zip(answered(app, "/predict", {"x": x[:4].tolist()}, root)[1], x[:4], strict=True):
        alone = app.predict(row)
        assert one["label"] == alone["label"] and one["p"] == pytest.approx(alone["p"], rel=1e-9)
    assert answered(app, "/predictt", {"x": x[0].tolist()}, root) == (404, {"title": "/predictt is unknown; known are /predict"})
    assert answered(app, "/predict", {"y": 1}, root)[0] == 400
    bandit = Decider(str(tmp_path / "log.ndjson"), "soba", {"features": 3, "labels": ["a", "b"], "seed": 1})
    status, two = answered(bandit, "/decide", {"x": x[:2].tolist()}, root)
    assert status == 200 and [one["label"] in ("a", "b") for one in two] == [True, True]
    assert answered(bandit, "/feedback", {"id": two[1]["id"], "correct": True}, root)[0] == 200 and bandit.rounds() == 1
    assert answered(bandit, "/predict", {"x": [0, 0, 0]}, root)[0] == 404


def test_served_models_forecast_numbers(tmp_path):
    from noregret.ray._serve import Predictor

    learner = Learner("vaw", features=2)
    learner.update([[1.0, 2.0], [2.0, 1.0]] * 20, [5.0, 4.0] * 20)
    learner.save(tmp_path / "model.safetensors")
    app = Predictor(str(tmp_path / "model.safetensors"))
    for x in ([1.0, 2.0], [[1.0, 2.0], [2.0, 1.0]]):
        found = learner.predict(x)
        told = {"label": found} if x[0] == 1.0 else [{"label": one} for one in found.tolist()]
        assert answered(app, "/predict", {"x": x}) == (200, told)


def test_a_served_bandit_takes_labels_on_offer_rewards_and_costs(tmp_path):
    from noregret.ray._serve import Decider

    options = {"features": 2, "labels": ["a", "b", "c"], "seed": 1, "costs": (0, 10)}
    bandit, alone = Decider(str(tmp_path / "log.ndjson"), "squarecb", options), Bandit("squarecb", **options)
    for at, told in enumerate([{"reward": 0.25}, {"cost": 7}, {"correct": True}]):
        body = {"x": [1.0, at], "labels": ["c", "b"]}
        status, said = answered(bandit, "/decide", body)
        mine = alone.decide(body["x"], body["labels"])
        assert status == 200 and (said["label"], said["probability"]) == (mine.label, mine.probability)
        assert answered(bandit, "/feedback", {"id": said["id"], **told}) == (200, {"id": said["id"]})
        alone.feedback(mine.id, **told)
    np.testing.assert_array_equal(bandit._bandit.scores([1.0, 1.0]), alone.scores([1.0, 1.0]))
    assert answered(bandit, "/decide", {"x": [[1.0, 0.0]], "labels": ["b"]})[1][0]["label"] == "b"
    for wrong in ({}, {"reward": 2}, {"cost": 11}, {"reward": 1, "correct": True}, {"correct": 1}, {"reward": "1"}):
        status, said = answered(bandit, "/feedback", {"id": "3", **wrong})
        assert status == 400, (wrong, said)
    assert answered(bandit, "/decide", {"x": [1.0, 0.0], "labels": ["d"]})[0] == 400 and bandit.rounds() == 3


def test_a_log_belongs_to_one_replica_and_one_bandit(tmp_path, monkeypatch):
    from noregret.ray import _serve

    monkeypatch.setattr(_serve, "PATIENCE", 0.3)
    x, _ = stream(40, 3, 2)
    told = str(tmp_path / "shop.log.ndjson"), "soba", {"features": 3, "labels": ["a", "b"], "seed": 1, "exploration": 0.2}
    first = _serve.Decider(*told)
    waiting = [first.decide(row.tolist())["id"] for row in x[:20]]
    with pytest.raises(RuntimeError, match="is open already, by another replica or process; a log belongs to one"):
        _serve.Decider(*told)
    del first
    # What else is in the folder is no part of the log.
    (tmp_path / "shop.log.old.ndjson").write_text("")
    for path, learner, options in ((told[0], "soba-diag", told[2]), (told[0], "soba", told[2] | {"labels": ["a", "c"]})):
        with pytest.raises(ValueError, match="learner = soba-diag: .* was made with soba; another|labels = a, c: .* was made with a, b; other"):
            _serve.Decider(path, learner, options)
    second = _serve.Decider(*told)
    for id in waiting:
        second.feedback(id, True)
    assert second.rounds() == 20
    # A request is decided as a whole, or not at all.
    status, told_why = answered(second, "/decide", {"x": [x[20].tolist(), [1.0, 2.0]]})
    assert status == 400 and "x has 2 numbers" in told_why["title"] and second._bandit.waiting == []
    assert answered(second, "/decide", {"x": x[20:22].tolist()})[0] == 200 and len(second._bandit.waiting) == 2


class Handle:
    """What a replica has of the process with the bandit: it answers a call when the event loop has had a turn."""

    def __init__(self, bandit):
        self.bandit, self.calls = bandit, []

    def __getattr__(self, method):
        from types import SimpleNamespace

        async def call(*arguments):
            import asyncio

            self.calls.append(arguments)
            await asyncio.sleep(0)
            return getattr(self.bandit, method)(*arguments)

        return SimpleNamespace(remote=call)


def test_a_replica_asks_for_all_that_waits_in_one_call(tmp_path):
    import asyncio
    import json

    from noregret.ray._serve import Decider, Front

    x, _ = stream(20, 3, 2)
    bandit = Decider(str(tmp_path / "shop.ndjson"), "soba", {"features": 3, "labels": ["a", "b"], "seed": 1})
    handle = Handle(bandit)
    front = Front(handle)
    bodies = [{"x": row.tolist()} for row in x] + [{"x": [1.0]}, {}]

    async def all_at_once():
        return await asyncio.gather(*(asking(front, "/decide", body) for body in bodies))

    responses = asyncio.run(all_at_once())
    assert [one.status_code for one in responses] == [200] * 20 + [400] * 2 and len(handle.calls) <= 2
    assert [json.loads(one.body)["id"] for one in responses[:20]] == [str(at) for at in range(20)]
    # Routes, refusals and answers are those of the bandit itself.
    for path, body in (("/feedback", {"id": "9", "correct": 1}), ("/feedback", {"id": "99", "correct": True}), ("/other", {}), ("/", [])):
        assert answered(front, path, body) == answered(bandit, path, body)
    assert answered(front, "/feedback", {"id": "3", "correct": True}) == (200, {"id": "3"}) and bandit.rounds() == 1

    # Where the process with the bandit is gone, whoever waits hears of it, and the next ones are answered.
    handle.bandit = None
    with pytest.raises(AttributeError):
        answered(front, "/decide", bodies[0])
    handle.bandit = bandit
    assert answered(front, "/decide", bodies[0])[0] == 200


def test_a_request_that_fails_is_no_other_ones_failure(tmp_path, monkeypatch):
    import asyncio
    import json

    from noregret.ray._serve import Decider, Front

    bandit = Decider(str(tmp_path / "shop.ndjson"), "soba", {"features": 2, "labels": ["a", "b"], "seed": 1, "exploration": 0.3})
    decide = Bandit.decide

    def failing(self, x, labels=None):
        if x == [7.0, 7.0]:
            raise ZeroDivisionError("nobody has foreseen this")
        return decide(self, x, labels)

    monkeypatch.setattr(Bandit, "decide", failing)
    unforeseen = {"title": "the request failed by an error of the program, ZeroDivisionError: nobody has foreseen this"}
    asked = [("decide", {"x": x}) for x in ([1.0, 0.0], [7.0, 7.0], [10**400, 0], [0.0, 1.0])]
    asked += [("feedback", {"id": "0", "correct": True}), ("feedback", {"id": "9", "correct": True})]
    answers = bandit.answers(asked)
    assert [status for status, _ in answers] == [200, 500, 400, 200, 200, 404]
    assert answers[1][1] == unforeseen and answers[3][1]["id"] == "1" and bandit.rounds() == 1
    assert answers[2][1] == {"title": "x: column 0 has the value inf; a finite number was needed"}
    assert answers[5][1] == {"title": "no decision 9 is pending: it was never made, has its feedback already, or was forgotten"}

    # Through a replica, too, which answers in one call what came together.
    handle = Handle(bandit)
    front = Front(handle)

    async def all_at_once():
        return await asyncio.gather(*(asking(front, "/decide", {"x": x}) for x in ([1.0, 0.0], [7.0, 7.0], [0.0, 1.0])))

    responses = asyncio.run(all_at_once())
    assert [one.status_code for one in responses] == [200, 500, 200] and json.loads(responses[1].body) == unforeseen


def test_all_starts_of_a_bandit_are_one_log(tmp_path):
    from noregret.ray import _serve

    x, _ = stream(90, 3, 2)
    facts = {"features": 3, "labels": ["a", "b"], "seed": 1, "exploration": 0.2}
    log, alone = tmp_path / "shop.ndjson", Bandit("soba", most_waiting=5, **facts)
    with pytest.raises(FileNotFoundError, match=r"there is no log of a served bandit; shop.0.ndjson was needed"):
        whole_log(log, tmp_path / "none.ndjson")
    for start in range(3):
        # Before its first decision a start has learnt nothing, and leaves nothing.
        _serve.Decider(str(log), "soba", facts | {"most_waiting": 5})
        bandit = _serve.Decider(str(log), "soba", facts | {"most_waiting": 5})
        for row in x[30 * start : 30 * start + 30]:
            said, mine = bandit.decide(row.tolist()), alone.decide(row)
            assert (said["id"], said["label"], said["probability"]) == (str(mine.id), mine.label, mine.probability)
            if mine.id % 3:
                bandit.feedback(said["id"], mine.id % 2 == 0)
                alone.feedback(mine.id, mine.id % 2 == 0)
        assert bandit._bandit.waiting == alone.waiting and len(alone.waiting) <= 5
        del bandit
    # The last line of a killed process was not answered.
    last = sorted(tmp_path.glob("shop.*.ndjson"))[-1]
    with open(last, "ab") as lines:
        lines.write(b'{"id":"90","x":[1.0')
    whole_log(log, tmp_path / "all.ndjson")
    again = Bandit.replay(tmp_path / "all.ndjson", most_waiting=5)
    np.testing.assert_array_equal(again.scores(x), alone.scores(x))
    assert (again.rounds, again.waiting) == (alone.rounds, alone.waiting)
    with pytest.raises(FileExistsError):
        whole_log(log, tmp_path / "all.ndjson")
    sorted(tmp_path.glob("shop.*.ndjson"))[1].unlink()
    with pytest.raises(FileNotFoundError, match=r"shop.1.ndjson is missing: later files go on from it"):
        whole_log(log, tmp_path / "fewer.ndjson")
    with pytest.raises(ValueError, match=r"a name that ends in .ndjson was needed"):
        _serve.Decider(str(tmp_path / "shop.ndjson.gz"), "soba", facts)
