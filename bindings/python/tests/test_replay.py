"""Decision logs: what is written is replayed to the bit, here and on the command line."""

import contextlib
import datetime
import json
import os

import numpy as np
import pytest
from conftest import classes_of, entries, stream
from program import program

from noregret import Bandit

each = pytest.mark.parametrize("entry", entries("bandit", "either"), ids=lambda entry: entry["name"])
ENDINGS = ["ndjson", "ndjson.gz", "zst", "parquet"]


def state(path):
    """All of a model file but what waits, and what it says of the run: tensors as bytes, texts."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    texts = header.pop("__metadata__")
    tensors = {
        name: (about["dtype"], about["shape"], data[8 + length :][slice(*about["data_offsets"])])
        for name, about in header.items()
        if name != "waiting"
    }
    return tensors, {name: texts[name] for name in ["algorithm", "params", "problem", "labels", "encoding", "schema"]}


def bandit(entry, **facts):
    return Bandit(entry["name"], features=3, classes=classes_of(entry), seed=3, scale="standard", intercept=True, **facts)


def play(bandit, x, y, late=()):
    """Plays rows; feedback comes at once for two of three, for the others out of order, and never for every seventh."""
    late = list(late)
    for at, (row, label) in enumerate(zip(x, y, strict=True)):
        decision = bandit.decide(row)
        if at % 3 == 2:
            late.append((decision.id, decision.label == label))
        elif at % 7:
            bandit.feedback(decision.id, decision.label == label)
        if at % 9 == 8:
            bandit.feedback(*late.pop(len(late) // 2))
    return late


@each
def test_a_replay_is_the_bandit_that_wrote_the_log(entry, tmp_path):
    x, y = stream(150, 3, classes_of(entry))
    x[::5, 1] = 0.0
    ours = bandit(entry)
    ending = ENDINGS[len(entry["name"]) % len(ENDINGS)]
    log = tmp_path / f"log.{ending}"
    with ours.log(log):
        late = play(ours, x[:120], y[:120])
    again = Bandit.replay(log)
    assert again.waiting == ours.waiting and again.rounds == ours.rounds > 60
    for name, each_one in (("ours", ours), ("again", again)):
        each_one.save(tmp_path / name)
    summary = program("replay", log, "--save", tmp_path / "theirs", "--json")[-1]
    assert summary["waiting"] == len(ours.waiting) and summary["rounds"] == ours.rounds
    assert state(tmp_path / "ours") == state(tmp_path / "again") == state(tmp_path / "theirs")
    for each_one in (ours, again):
        play(each_one, x[120:], y[120:], late)
        each_one.save(tmp_path / f"after {each_one is ours}")
    assert state(tmp_path / "after True") == state(tmp_path / "after False")


@pytest.mark.parametrize("options", ["--delay geometric:9", "--exploration-floor 0.05", "--scale standard --delay 11"])
@pytest.mark.parametrize("ending", ["ndjson", "parquet"])
def test_a_log_of_the_command_line_is_replayed(options, ending, tmp_path):
    x, y = stream(300, 3, 3)
    with open(tmp_path / "rows.ndjson", "w") as out:
        for row, label in zip(x.tolist(), y.tolist(), strict=True):
            named = {f"f{at}": value for at, value in enumerate(row)} | {"colour": ["red", "green"][label % 2]}
            out.write(json.dumps({"x": named, "y": f"class {label}"}) + "\n")
    log = tmp_path / f"log.{ending}"
    words = ["--label", "y", "--quiet", "--learner", "soba", "--set", "exploration=0.2", *options.split()]
    program("run", tmp_path / "rows.ndjson", *words, "--log", log, "--save", tmp_path / "run")
    again = Bandit.replay(log)
    again.save(tmp_path / "again")
    assert again.rounds == 300 and state(tmp_path / "again") == state(tmp_path / "run")
    p = again.predict_proba(np.zeros(5))
    assert "floor" not in options or p.min() >= 0.05
    decision = again.decide(np.zeros(5))
    assert decision.id == 301 and decision.probability == p[again.labels.index(decision.label)]


def test_a_log_goes_on_from_a_model(tmp_path):
    x, y = stream(100, 3, 3)
    ours = bandit({"name": "soba", "classes": "any"}, exploration=0.3)
    late = play(ours, x[:40], y[:40])
    ours.save(tmp_path / "before")
    with ours.log(tmp_path / "log.ndjson"):
        play(ours, x[40:], y[40:], late)
    ours.save(tmp_path / "after")
    with pytest.raises(ValueError, match="log.ndjson: the log continues from a saved model with digest"):
        Bandit.replay(tmp_path / "log.ndjson")
    with pytest.raises(ValueError, match="the log continues from a model with digest"):
        Bandit.replay(tmp_path / "log.ndjson", tmp_path / "after")
    again = Bandit.replay(tmp_path / "log.ndjson", tmp_path / "before")
    again.save(tmp_path / "again")
    program("replay", tmp_path / "log.ndjson", "--load", tmp_path / "before", "--save", tmp_path / "theirs", "--json")
    assert state(tmp_path / "after") == state(tmp_path / "again") == state(tmp_path / "theirs")
    with ours.log(tmp_path / "empty.ndjson.gz"):
        pass
    third = Bandit.replay(tmp_path / "empty.ndjson.gz", tmp_path / "after")
    assert again.waiting == third.waiting == ours.waiting
    assert again.decide(x[0]) == third.decide(x[0]) == ours.decide(x[0])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_log_is_opened_before_the_first_row_says_that_columns_have_names(ending, tmp_path):
    log = tmp_path / f"log.{ending}"
    ours = Bandit("auto", labels=["u", "v"], features=4)
    rows = [{"hour": 20.0 + t % 5, "device": ["phone", "desk"][t % 2]} for t in range(30)]
    with ours.log(log):
        for row in rows:
            decision = ours.decide(row)
            ours.feedback(decision.id, reward=0.9 if decision.label == "u" else 0.2)
    again = Bandit.replay(log)
    assert again.columns == ours.columns == ["hour", "device=phone", "device=desk"]
    np.testing.assert_array_equal(again.predict_proba(rows[-1]), ours.predict_proba(rows[-1]))
    fresh = Bandit("auto", labels=["u", "v"], features=4)
    with fresh.log(tmp_path / f"empty.{ending}"):
        pass
    assert Bandit.replay(tmp_path / f"empty.{ending}").rounds == 0


def test_lines_are_there_at_once_and_nothing_is_overwritten(tmp_path):
    log = tmp_path / "log.ndjson"
    ours = Bandit("soba", features=2, classes=3, exploration=0.1, most_waiting=2)
    writing = ours.log(log)
    assert repr(writing) == f"DecisionLog({str(log)!r}, open)"
    ids = [ours.decide([1.0, at]).id for at in range(3)]
    ours.forget(ids[1])
    with pytest.raises(KeyError):
        ours.feedback(ids[0], True)
    assert Bandit.replay(log).waiting == ours.waiting == [ids[2]]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line.get("id") for line in lines] == [None, "0", "1", "0", "2", "1"]
    with pytest.raises(ValueError, match="decisions are written to .*log.ndjson already; close that log first"):
        ours.log(tmp_path / "other.ndjson")
    assert not (tmp_path / "other.ndjson").exists()
    with pytest.raises(ValueError, match="a simulation is none: run a copy, or close the log first"):
        ours.run([[1.0, 0.0]], [0])
    ours.copy().run([[1.0, 0.0]], [0])
    writing.close()
    writing.close()
    ours.decide([1.0, 0.0])
    assert len(log.read_text().splitlines()) == 6 and "closed" in repr(writing)
    with pytest.raises(FileExistsError, match="logs are never overwritten"):
        ours.log(log)
    with pytest.raises(FileNotFoundError):
        ours.log(tmp_path / "nowhere" / "log.ndjson")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not divide themselves here")
@pytest.mark.parametrize("ending", ["ndjson", "ndjson.gz"])
@pytest.mark.parametrize("rounds", [0, 3])
def test_a_forked_process_does_not_write_among_the_lines_of_its_parent(ending, rounds, tmp_path):
    # Both wrote decisions of the same ids into the one file, which was no log any more.
    ours = Bandit("squarecb", labels=["a", "b"], features=1, oracle="pooled", seed=1)
    log = ours.log(tmp_path / f"log.{ending}")

    def decide(bandit):
        bandit.feedback(bandit.decide([0.5]).id, reward=0.5)

    for _ in range(rounds):
        decide(ours)
    child = os.fork()
    if child == 0:
        done = 1
        with contextlib.suppress(BaseException):
            try:
                decide(ours)
            except OSError as refused:
                log.close()
                with ours.log(tmp_path / "other.ndjson"):
                    decide(ours)
                done = 0 if "is written by the process that opened it" in str(refused) else 2
            del ours, log
        os._exit(done)
    _, ended = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended) == 0
    for _ in range(3):
        decide(ours)
    log.close()
    assert Bandit.replay(tmp_path / f"log.{ending}").rounds == rounds + 3


def test_the_floor_of_a_replayed_log_is_kept(tmp_path):
    ours = Bandit("soba", features=1, classes=2)
    with ours.log(tmp_path / "log.ndjson"):
        pass
    header = json.loads((tmp_path / "log.ndjson").read_text())
    header["floor"] = 0.2
    (tmp_path / "floor.ndjson").write_text(json.dumps(header) + "\n")
    again = Bandit.replay(tmp_path / "floor.ndjson")
    again.save(tmp_path / "model")
    for each_one in (again, again.copy(), Bandit.load(tmp_path / "model")):
        assert each_one.predict_proba([1.0]).min() >= 0.2 and each_one.decide([1.0]).probability >= 0.2


TYPES = [[True, False, "x"], [5, 6, 7], ["5", "6", "07"], [0.5, 1.5, 2.5], [datetime.date(2026, 1, day) for day in (1, 2, 3)]]


@pytest.mark.parametrize("labels", TYPES)
def test_labels_come_back_from_a_log_as_they_were_given(labels, tmp_path):
    ours = Bandit("squarecb", features=2, labels=labels, seed=1)
    with ours.log(tmp_path / "log.ndjson"):
        ours.feedback(ours.decide([1.0, 0.0]).id, reward=0.5)
    again = Bandit.replay(tmp_path / "log.ndjson")
    for _ in range(5):
        one, other = ours.decide([1.0, 0.0]).label, again.decide([1.0, 0.0]).label
        assert (one, type(one)) == (other, type(other))


def test_bad_logs_are_refused(tmp_path):
    ours = Bandit("soba", features=2, classes=3, exploration=0.3)
    x, y = stream(30, 2, 3)
    with ours.log(tmp_path / "good.ndjson"):
        play(ours, x, y)
    lines = (tmp_path / "good.ndjson").read_text().splitlines()
    bad = tmp_path / "bad.ndjson"
    for broken, sentence in [
        (lines[1:], "bad.ndjson:1: the log has no header"),
        (lines[:5] + lines[7:], "bad.ndjson:6: .*(lines are missing, changed or out of order|no decision of this id)"),
        (lines[:9] + ["{"], "bad.ndjson:10: is not a line of a decision log"),
        # There are no options here.
        (["1:0.5:0.4 | a:1"], "bad.ndjson:1: .*; another program's log is for `noregret run` and `noregret evaluate`, whose options decision, "),
    ]:
        bad.write_text("\n".join(broken) + "\n")
        with pytest.raises(ValueError, match=sentence):
            Bandit.replay(bad)
    with pytest.raises(FileNotFoundError, match="missing.ndjson"):
        Bandit.replay(tmp_path / "missing.ndjson")
    with pytest.raises(IsADirectoryError):
        Bandit.replay(tmp_path)
    with pytest.raises(ValueError, match="-: must be the path of a file"):
        Bandit.replay("-")
    with pytest.raises(MemoryError, match="the log's learner would take"):
        Bandit.replay(tmp_path / "good.ndjson", memory=0)
    ours.save(tmp_path / "model")
    with pytest.raises(ValueError, match="the log starts with a new learner"):
        Bandit.replay(tmp_path / "good.ndjson", tmp_path / "model")
