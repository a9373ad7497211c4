"""Logs for programs that read those of Vowpal Wabbit's decision service."""

import gzip
import json

import numpy as np
import pytest

from noregret import Bandit, evaluate, export_dsjson


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_log_is_the_same_decisions_in_dsjson(tmp_path):
    rng = np.random.default_rng(0)
    bandit = Bandit("auto", labels=["small", "large", 3], costs=(0, 10), seed=1)
    with bandit.log(tmp_path / "log"):
        late = []
        for at in range(120):
            some = [None, ["small", "large"]][at % 2]
            decision = bandit.decide({"hour": int(rng.integers(24)), "device": ["phone", "desk"][at % 2]}, some)
            late.append((decision.id, float(rng.integers(11))))
            if len(late) == 3:  # Answers come late, and in another order.
                for id, cost in reversed(late):
                    bandit.feedback(id, cost=cost)
                late = []
        bandit.forget(bandit.decide({"hour": 1, "device": "desk"}).id)
        bandit.decide({"hour": 2, "device": "desk"})
    assert export_dsjson(tmp_path / "log", tmp_path / "log.dsjson") == 120
    ours, theirs = evaluate(tmp_path / "log", "logged"), evaluate(tmp_path / "log.dsjson", "logged", costs=(0, 10))
    assert theirs.rounds == 120 and theirs.logged_reward == pytest.approx(ours.logged_reward)
    ours, theirs = evaluate(tmp_path / "log", "uniform"), evaluate(tmp_path / "log.dsjson", "uniform", costs=(0, 10))
    assert theirs.estimates["ips"].value == pytest.approx(ours.estimates["ips"].value)
    first = rows(tmp_path / "log.dsjson")[0]
    assert first["_labelIndex"] + 1 == first["_label_Action"] == first["a"][0] and sum(first["p"]) == pytest.approx(1)
    assert first["p"][0] == pytest.approx(first["_label_probability"]) and first["o"][0]["v"] == -first["_label_cost"]
    assert {len(row["c"]["_multi"]) for row in rows(tmp_path / "log.dsjson")} == {2, 3}
    (tmp_path / "log.gz").write_bytes(gzip.compress((tmp_path / "log").read_bytes()))
    assert export_dsjson(tmp_path / "log.gz", tmp_path / "again") == 120
    assert rows(tmp_path / "again") == rows(tmp_path / "log.dsjson")


def test_labels_with_features_of_their_own(tmp_path):
    bandit = Bandit("offers", width=64)
    with bandit.log(tmp_path / "log"):
        for at in range(60):
            decision = bandit.decide({"likes": "sports"}, {"a": {"topic": "sports"}, "b": {"topic": "music"}} if at % 2 else {"c": {"topic": "art"}, "d": {}})
            bandit.feedback(decision.id, reward=float(decision.label == "a"))
    assert export_dsjson(tmp_path / "log", tmp_path / "log.dsjson") == 60
    second = json.loads((tmp_path / "log.dsjson").read_text().splitlines()[1])["c"]
    assert list(second["x"].values()) == [1] and [list(action["x"].values()) for action in second["_multi"]] == [[1], [1]]
    ours, theirs = (evaluate(tmp_path / name, "uniform") for name in ("log", "log.dsjson"))
    # Rewards are minus costs there: -(-1) is 1.
    assert theirs.logged_reward == pytest.approx(ours.logged_reward)
    assert theirs.estimates["ips"].value == pytest.approx(ours.estimates["ips"].value)


def test_what_is_no_log_is_refused(tmp_path):
    for text, said in (
        ("{}\n", ":1: is not the header of a decision log of noregret"),
        ("PAR1", ":1: is not JSON; the log must be text"),
        ("", ":1: is not the header"),
        ("[1]\n", ":1: is not a line of a decision log"),
    ):
        (tmp_path / "log").write_text(text)
        with pytest.raises(ValueError, match=said):
            export_dsjson(tmp_path / "log", tmp_path / "new")
        assert not (tmp_path / "new").exists()


def test_the_log_is_not_its_own_export(tmp_path):
    # It was empty afterwards.
    bandit = Bandit("auto", labels=["small", "large"], features=1)
    with bandit.log(tmp_path / "log"):
        bandit.feedback(bandit.decide([0.5]).id, reward=0.3)
    before = (tmp_path / "log").read_bytes()
    (tmp_path / "other").symlink_to(tmp_path / "log")
    for path in ("log", "other"):
        with pytest.raises(ValueError, match="is the log itself, which would be lost"):
            export_dsjson(tmp_path / "log", tmp_path / path)
    assert (tmp_path / "log").read_bytes() == before
