"""The recipes of `docs/how-to/streams.md` are run, and stopped in the middle: every row is learnt once. A recipe whose program or package is absent
is skipped, and said to be."""

import importlib.util
import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import BINARY, ROOT, needs_the_command_line, stream
from program import program
from test_keyed import alone, keyed_rows, make, same_learners

from noregret import Learner

RECIPES = ROOT / "docs" / "how-to" / "streams"


def recipe(name):
    """A script of the page, as a module."""
    spec = importlib.util.spec_from_file_location(name, RECIPES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_recipe_is_on_the_page_and_is_tested():
    page, here = (ROOT / "docs" / "how-to" / "streams.md").read_text(), open(__file__).read()
    for path in RECIPES.glob("*.py"):
        assert f"streams/{path.name}" in page and f'recipe("{path.stem}")' in here, path.name


def named(run):
    return [run.labels[played] for played in run.played]


# Redis


@pytest.fixture
def server(tmp_path):
    """A client of a new Redis server."""
    redis = pytest.importorskip("redis", reason="the package redis is not installed: pip install redis")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed; Debian has a package of this name")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    child = subprocess.Popen([program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", tmp_path], stdout=subprocess.DEVNULL)
    client = redis.Redis(port=port)
    for _ in range(100):
        try:
            client.ping()
            break
        except redis.ConnectionError:
            time.sleep(0.1)
    yield client
    client.close()
    child.terminate()
    child.wait(20)


def test_redis_streams(server, monkeypatch):
    module = recipe("redis_stream")
    module.ROWS = module.BEGIN = 30
    x, y = stream(200, 3, 2)
    labels = [("no", "yes")[label] for label in y]

    def send(low, high):
        for row, label in zip(x[low:high].tolist(), labels[low:high], strict=True):
            server.xadd("rows", {"row": json.dumps(dict(zip("abc", row, strict=True)) | {"label": label})})

    def saved():
        return pickle.loads(server.hget("rows:model", "learner"))

    told = server, "rows", ["no", "yes"], "folklore"
    send(0, 100)
    module.learn(*told)
    assert saved().rounds == 100
    # Killed after it has learnt, before it has written.
    send(100, 150)
    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):

        def killed(_):
            raise KeyboardInterrupt

        context.setattr(module.pickle, "dumps", killed)
        module.learn(*told)
    assert saved().rounds == 100
    # A second program, between the reading of the first and its writing.
    run, seconds = Learner.run, []

    def overtaken(self, *rows):
        if not seconds:
            seconds.append(True)
            module.learn(*told)
            assert saved().rounds == 150
        return run(self, *rows)

    monkeypatch.setattr(Learner, "run", overtaken)
    module.learn(*told)
    monkeypatch.undo()
    send(150, 200)
    module.learn(*told)
    whole = Learner("folklore", labels=["no", "yes"])
    rows = [dict(zip("abc", row, strict=True)) for row in x.tolist()]
    parts = [(at, min(at + 30, high)) for low, high in ((0, 100), (100, 150), (150, 200)) for at in range(low, high, 30)]
    played = [label for low, high in parts for label in named(whole.run(rows[low:high], labels[low:high]))]
    np.testing.assert_array_equal(saved().scores(rows), whole.scores(rows))
    forecasts = server.xrange("rows:forecasts")
    assert [number for number, _ in forecasts] == [number for number, _ in server.xrange("rows")]
    assert [fields[b"label"].decode() for _, fields in forecasts] == played


def test_redis_entries_that_are_no_rows_are_passed_over(server, capsys):
    module = recipe("redis_stream")
    module.BEGIN = 1
    row = {"a": 1.0, "label": "no"}
    rows = [{"row": "{"}, {"other": "1"}, {"row": json.dumps(row)}, {"row": "[1]"}, {"row": json.dumps(row | {"label": "maybe"})}]
    sent = [server.xadd("odd", fields) for fields in rows]
    for _ in range(2):  # The next start is past them, too.
        module.learn(server, "odd", ["no", "yes"], "ogd")
    assert server.hget("odd:model", "position") == sent[-1]
    assert [number for number, _ in server.xrange("odd:forecasts")] == [sent[2]]
    told = capsys.readouterr().err
    assert told.count("is passed over") == 4 and "the label 'maybe' is none of ['no', 'yes']" in told, told
    # A batch without any row.
    last = server.xadd("odd", {"row": "null"})
    module.learn(server, "odd", ["no", "yes"], "ogd")
    assert server.hget("odd:model", "position") == last


def test_redis_waits_for_the_rows_that_decide_what_columns_hold(server, capsys):
    """Of the first text alone, a word, the learner would know no other one."""
    module = recipe("redis_stream")
    module.BEGIN = 6
    texts = ["login", "cannot log in", "where is my invoice", "I have no invoice", "it came too late", "it came broken", "no invoice"]
    for at, text in enumerate(texts):
        server.xadd("tickets", {"row": json.dumps({"text": text, "label": "no"} | ({"place": 1} if at == 6 else {}))})
        module.learn(server, "tickets", ["no", "yes"], "ogd")
        assert server.xlen("tickets:forecasts") == (at + 1 if at >= 5 else 0)
    learner = pickle.loads(server.hget("tickets:model", "learner"))
    assert learner.roles["text"] == "text" and "text~invoice" in learner.columns
    assert 'the column "place" is new' in capsys.readouterr().err


def test_redis_is_read_as_the_page_says(server):
    """Until it is ended, also when nothing comes for longer than the client waits by itself."""
    address = f"redis://127.0.0.1:{server.connection_pool.connection_kwargs['port']}"
    script = [sys.executable, RECIPES / "redis_stream.py", address, "tickets", "access", "billing"]
    with subprocess.Popen(script) as waits:
        for sent, pause in ((1000, 0), (1001, 7)):
            time.sleep(pause)
            while server.xlen("tickets") < sent:
                server.xadd("tickets", {"row": json.dumps({"text": "cannot log in", "priority": 2, "label": "access"})})
            until = time.monotonic() + 60
            while time.monotonic() < until and waits.poll() is None and server.xlen("tickets:forecasts") < sent:
                time.sleep(0.1)
        waits.terminate()
    assert server.xlen("tickets:forecasts") == 1001


# Kafka


@needs_the_command_line
def test_kafka_through_the_live_pipe(tmp_path, monkeypatch):
    kafka = pytest.importorskip("confluent_kafka", reason="the package confluent-kafka is not installed: pip install confluent-kafka")
    module = recipe("kafka_pipe")
    module.NOREGRET, module.ROWS, module.PAUSE = str(BINARY), 40, 3.0
    # librdkafka has a broker for tests, which lives as long as this client.
    producer = kafka.Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1, "log_level": 0})
    (broker,) = producer.list_topics(timeout=20).brokers.values()
    address = f"{broker.host}:{broker.port}"
    x, y = stream(100, 3, 2)
    rows = [dict(zip("abc", row, strict=True)) | {"label": ("no", "yes")[label]} for row, label in zip(x.tolist(), y.tolist(), strict=True)]
    for row in rows:
        producer.produce("rows", json.dumps(row), partition=0)
    for value in (None, "\n", "{", json.dumps(rows[7], indent=2)):  # Deleted, blank, broken, in several lines.
        producer.produce("rows", value, partition=0)
    assert producer.flush(20) == 0
    folder = tmp_path / "models"

    def learn(rounds):
        module.learn(address, "rows", folder, "label", rounds=rounds)

    def seen():
        model = max(folder.glob("*.model"))
        return int(model.stem), program("inspect", model, "--json")[0]["rounds"]

    learn(1)
    assert seen() == (40, 40)
    # Killed before the model is saved.
    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):

        def killed(*_):
            raise KeyboardInterrupt

        context.setattr(module.Path, "rename", killed)
        learn(1)
    assert seen() == (40, 40)
    learn(2)
    assert seen() == (104, 101)
    # Forecasts that are not delivered leave no model.
    with monkeypatch.context() as context, pytest.raises(RuntimeError, match="104 forecasts were not delivered, the first because of lost"):

        class Loses:
            def __init__(self, _):
                pass

            def produce(self, *_, on_delivery, **__):
                on_delivery("lost", None)

            def flush(self):
                pass

        context.setattr(module, "Producer", Loses)
        context.setattr(module, "ROWS", 1000)
        module.learn(address, "rows", tmp_path / "lost", "label", rounds=1)
    assert not list((tmp_path / "lost").glob("*.model"))
    # A row that the topic does not have, such as one that was deleted, is not passed over.
    (tmp_path / "late").mkdir()
    shutil.copy(max(folder.glob("*.model")), tmp_path / "late" / f"{9999:020}.model")
    with pytest.raises(RuntimeError, match="OFFSET|offset"):
        module.learn(address, "rows", tmp_path / "late", "label", rounds=1)
    # Another partition has a folder of its own.
    producer.produce("rows", json.dumps(rows[0]), partition=1)
    assert producer.flush(20) == 0
    module.learn(address, "rows", tmp_path / "other", "label", "1", rounds=1)
    assert [int(model.stem) for model in (tmp_path / "other").glob("*.model")] == [1]
    # The rows of the saved sessions are those of one run.
    lines = "".join(json.dumps(row) + "\n" for row in [*rows, rows[7]])
    (tmp_path / "rows.ndjson").write_text(lines)
    whole = tmp_path / "whole"
    subprocess.run([BINARY, "run", "-", "--format", "ndjson", "--label", "label", "--save", whole], input=lines, text=True, check=True, capture_output=True)
    ours, theirs = (
        subprocess.run([BINARY, "predict", "--confidence", model, tmp_path / "rows.ndjson"], check=True, capture_output=True).stdout
        for model in (max(folder.glob("*.model")), whole)
    )
    assert ours == theirs and ours.count(b"\n") >= 100

    # As the page starts it: until it is ended, with all that comes.
    script = [sys.executable, RECIPES / "kafka_pipe.py", address, "rows", tmp_path / "all", "label"]
    with subprocess.Popen(script, env=os.environ | {"NOREGRET": str(BINARY)}) as waits:
        until = time.monotonic() + 120
        while time.monotonic() < until and waits.poll() is None and not list((tmp_path / "all").glob("*.model")):
            time.sleep(0.2)
        waits.terminate()
    assert [int(model.stem) for model in (tmp_path / "all").glob("*.model")] == [104]


# Bytewax


def test_bytewax_goes_on_from_its_state(tmp_path):
    pytest.importorskip("bytewax", reason="the package bytewax is not installed: pip install bytewax")
    from datetime import timedelta

    from bytewax.recovery import RecoveryConfig, init_db_dir
    from bytewax.testing import TestingSink, TestingSource, run_main

    module = recipe("bytewax_flow")
    names, x, labels = keyed_rows(rows=60)
    items = [(key, (at, x[at].tolist(), labels[at])) for at, key in enumerate(names)]
    for at in (23, 47):
        items.insert(at, TestingSource.ABORT())
    init_db_dir(tmp_path, 1)
    learn, ends, out = module.learn, {}, []

    def kept(state, item):
        state, forecast = learn(state, item)
        ends[names[item[0]]] = state[0]
        return state, forecast

    module.learn = kept
    flow = module.flow(TestingSource(items), TestingSink(out))
    for _ in range(3):  # It is killed twice.
        run_main(flow, epoch_interval=timedelta(0), recovery_config=RecoveryConfig(str(tmp_path)))
    for key, one in alone(names, x, labels).items():
        assert ends[key].rounds == one.rounds
        np.testing.assert_array_equal(ends[key].scores(x), one.scores(x))
    assert {(key, number) for key, (number, _) in out} == {(key, number) for number, key in enumerate(names)}


def test_bytewax_is_started_as_the_page_says(tmp_path):
    pytest.importorskip("bytewax", reason="the package bytewax is not installed: pip install bytewax")
    shutil.copy(RECIPES / "bytewax_flow.py", tmp_path)
    (tmp_path / "recovery").mkdir()
    names, x, labels = keyed_rows(rows=40)
    lines = [
        json.dumps({"key": key, "number": number, "row": x[number].tolist(), "label": labels[number]}) + "\n" for number, key in enumerate(names)
    ]
    subprocess.run([sys.executable, "-m", "bytewax.recovery", "recovery", "1"], cwd=tmp_path, check=True)
    told = []
    for part in (lines[:25], lines[25:]):
        with open(tmp_path / "rows.ndjson", "a") as out:
            out.writelines(part)
        command = [sys.executable, "-m", "bytewax.run", 'bytewax_flow:of_file("rows.ndjson")', "-r", "recovery", "-s", "10", "-b", "0"]
        said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        told += [json.loads(line) for line in said.splitlines()]
    whole, forecasts = {}, {}
    for number, key in enumerate(names):
        one = whole.setdefault(key, Learner("folklore", features=3, labels=["no", "yes"]))
        forecasts[number] = [key, [number, one.predict(x[number])]]
        one.learn_one(x[number], labels[number])
    assert {number: [key, [number, forecast]] for key, (number, forecast) in told} == forecasts


# Spark


def test_spark_gives_a_batch_twice(tmp_path, monkeypatch):
    sql = pytest.importorskip("pyspark.sql", reason="the package pyspark is not installed: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed, which Spark needs")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    module = recipe("spark_batches")
    names, x, labels = keyed_rows(rows=60)
    (tmp_path / "rows").mkdir()

    def write(at):
        rows = [
            {"key": names[row], "number": row, "label": labels[row], **dict(zip("abc", x[row].tolist(), strict=True))} for row in range(at, at + 20)
        ]
        scratch = tmp_path / "scratch"
        scratch.write_text("".join(json.dumps(row) + "\n" for row in rows[::-1]))
        os.rename(scratch, tmp_path / "rows" / f"{at}.json")

    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        with make(tmp_path / "learners") as keyed:

            def run():
                module.start(session, str(tmp_path / "rows"), str(tmp_path), keyed, "abc").awaitTermination()

            write(0)
            run()
            write(20)
            learn, batches = keyed.learn, []

            def dies(*rows, **numbers):
                batches.append(numbers)
                learn(*rows, **numbers)
                raise RuntimeError("killed between the store's commit and Spark's")

            monkeypatch.setattr(keyed, "learn", dies)
            with pytest.raises(Exception, match="killed between"):
                run()
            monkeypatch.undo()
            assert batches == [{"batch": 2, "source": "spark"}]
            write(40)
            run()
            same_learners(keyed, alone(names, x, labels), x)
    finally:
        session.stop()


# Flink


def test_flink_goes_on_from_its_checkpoint(tmp_path):
    stream_of = pytest.importorskip("pyflink.datastream", reason="PyFlink is not installed: pip install apache-flink, in an environment of its own")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed, which Flink needs")
    from pyflink.common import Configuration

    module = recipe("flink_job")
    names, x, labels = keyed_rows(rows=60)
    # Flink's workers find no modules of tests: what they need has to travel with the job.
    whole, broken = module.Learn, str(tmp_path / "broken")

    class Fails(module.KeyedProcessFunction):
        def open(self, context):
            self.whole = whole()
            self.whole.open(context)

        def process_element(self, item, context):
            time.sleep(0.02)
            if item[1] == 40 and not os.path.exists(broken):
                open(broken, "w").close()
                raise RuntimeError("the worker fails")
            yield from self.whole.process_element(item, context)

    settings = {
        "python.executable": sys.executable,
        "python.client.executable": sys.executable,
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "100 ms",
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.dir": f"file://{tmp_path}/checkpoints",
    }
    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name, value)
    environment = stream_of.StreamExecutionEnvironment.get_execution_environment(configuration)
    environment.set_parallelism(1)
    rows = [(key, at, x[at].tolist(), labels[at]) for at, key in enumerate(names)]
    module.Learn = Fails
    out = [tuple(row) for row in module.forecasts(environment.from_collection(rows)).execute_and_collect()]
    assert os.path.exists(broken)
    learners = {}
    for key, row, label in zip(names, x.tolist(), labels, strict=True):
        one = learners.setdefault(key, [Learner("folklore", features=3, labels=["no", "yes"]), None])
        one[1] = one[0].predict(row)
        one[0].learn_one(row, label)
    last = {key: told for key, *told in out}
    assert {key: (forecast, rounds) for key, (_, forecast, rounds) in last.items()} == {key: (told, one.rounds) for key, (one, told) in learners.items()}
