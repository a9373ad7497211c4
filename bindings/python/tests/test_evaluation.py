"""Off-policy evaluation: the numbers of the command line, and those of Open Bandit Pipeline."""

import datetime
import decimal
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT, stream
from program import program

from noregret import Bandit, Learner, compare_policies, evaluate, evaluate_arrays

OBP = ROOT / "testdata" / "off_policy"


def check_cases(text, tmp_path):
    """Arrays, and a log of the same rounds, give the values of Open Bandit Pipeline."""
    for case in json.loads(text)["cases"]:
        arrays = [case[name] for name in ("played", "reward", "probability", "evaluation")]
        lines = [
            {"id": at, "label": str(played), "reward": reward, "probability": p, "evaluation": policy, "estimates": q}
            for at, (played, reward, p, policy, q) in enumerate(zip(*arrays, case["estimates"], strict=True))
        ]
        path = tmp_path / "log.ndjson"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        found = evaluate_arrays(*arrays, estimates=case["estimates"], clip=case["clip"])
        of_log = evaluate(path, clip=case["clip"])
        assert found.rounds == of_log.rounds == len(lines)
        for name, value in case["values"].items():
            assert found.estimates[name].value == pytest.approx(value, abs=1e-9), name
            assert of_log.estimates[name].value == pytest.approx(value, abs=1e-9), name


def test_estimates_are_those_of_open_bandit_pipeline(tmp_path):
    check_cases((OBP / "obp_reference.json").read_text(), tmp_path)


def test_fresh_estimates_are_those_of_open_bandit_pipeline(tmp_path):
    python = os.environ.get("NOREGRET_OBP_PYTHON", sys.executable)
    done = subprocess.run([python, OBP / "obp_reference.py", "91"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{python} has no obp; NOREGRET_OBP_PYTHON can name one that has")
    check_cases(done.stdout, tmp_path)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log in which a few decisions were never answered, and the rows behind it."""
    path = tmp_path_factory.mktemp("log") / "log.ndjson"
    x, y = stream(600, 3, 3)
    bandit = Bandit("banditron", features=3, labels=["a", "b", "c"], exploration=0.4, seed=2)
    with bandit.log(path):
        for at, (row, label) in enumerate(zip(x, y, strict=True)):
            decision = bandit.decide(row)
            if at % 50:
                bandit.feedback(decision.id, decision.label == "abc"[label])
    return path, x, y, bandit


@pytest.mark.parametrize(
    ("policy", "keywords", "options"),
    [
        ("uniform", {}, ""),
        ("constant:b", {"clip": 2.0, "confidence": 0.9}, "--clip 2 --confidence 0.9"),
        ("logged", {"missing": "wrong"}, "--missing wrong"),
        ("greedy", {"reward_learner": "ogd"}, "--reward-learner ogd"),
        ("greedy", {"reward_learner": "none", "on_bad_row": 3}, "--reward-learner none --on-bad-row 3"),
    ],
)
def test_the_command_line_says_the_same(log, policy, keywords, options):
    path = log[0]
    theirs = program("evaluate", path, "--policy", policy, *options.split(), "--json")[-1]
    assert_same(evaluate(path, policy, **keywords), theirs)


@pytest.mark.parametrize("greedy", [False, True])
def test_learners_are_policies(log, tmp_path, greedy):
    path, x, y, bandit = log
    learner = Learner("ogd", features=3, labels=["a", "b", "c"], radius=1.0)
    learner.update(x, np.array(["a", "b", "c"])[y])
    for policy in (bandit, learner):
        policy.save(tmp_path / "model")
        options = ["--greedy"] if greedy else []
        theirs = program("evaluate", path, "--model", tmp_path / "model", *options, "--json")[-1]
        assert_same(evaluate(path, policy, greedy=greedy), theirs)
    found = evaluate(path, learner)
    truth = (learner.predict(x) == np.array(["a", "b", "c"])[y]).mean()
    for name in ("ips", "dr"):
        assert abs(found.estimates[name].value - truth) < 4 * found.estimates[name].standard_error


def assert_same(ours, theirs):
    for one in theirs.pop("estimates"):
        estimate = ours.estimates[one["estimator"]]
        assert estimate.value == one["value"] and estimate.standard_error == one.get("standard_error")
        for interval in ("normal", "sequence"):
            ours_of = getattr(estimate, interval)
            assert (None if ours_of is None else list(ours_of)) == one.get(interval)
    for name in {"type", "policy", "confidence"}:
        theirs.pop(name)
    if "model_error" in theirs:
        theirs["model_error"] = tuple(theirs["model_error"])
    assert {name: getattr(ours, name) for name in theirs} == theirs
    assert ours.missing == 12 and "12 of 600 decisions were never answered" in ours.warnings[-1]


def test_suspicious_logs_are_told():
    rng = np.random.default_rng(0)
    logged = np.tile([0.7, 0.2, 0.1, 0.0], (2000, 1))
    labels = rng.choice(3, 2000, p=[0.7, 0.2, 0.1])
    uniform = np.full((2000, 4), 0.25)
    honest = evaluate_arrays(labels, labels == 1, logged, uniform)
    assert honest.uncovered == 0.25 and len(honest.warnings) == 1
    assert "25.00 % of the policy's probability is on labels that the log could not have played" in honest.warnings[0]
    wrong = evaluate_arrays(rng.integers(0, 3, 2000), labels == 1, logged, logged)
    assert "they were not drawn with the logged probabilities" in wrong.warnings[0]
    constant = np.tile([0.0, 0.0, 1.0, 0.0], (2000, 1))
    clipped = evaluate_arrays(labels, labels == 1, logged, constant, clip=2.0)
    assert clipped.clipped == (labels == 2).sum() and clipped.largest_weight == 2.0
    assert repr(clipped).startswith("Evaluation(ips=")


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"labels": [0, 2]}, ValueError, "round 1: the label is 2: must be from 0 to 1"),
        ({"labels": [0, 0.5]}, ValueError, r"labels\[1\] = 0.5: must be a whole number from 0"),
        ({"labels": ["a", "b"]}, TypeError, "labels has .a.; whole numbers from 0 were needed"),
        ({"rewards": [1, np.nan]}, ValueError, "round 1: the reward is NaN"),
        ({"rewards": [1]}, ValueError, "rewards: 1 numbers for 2 rounds and 2 labels; 2 were needed"),
        ({"probabilities": [0.5, 0.0]}, ValueError, r"round 1: the label was played with probability 0: must be in \(0, 1\]"),
        ({"policy": [0, 1]}, ValueError, r"policy has 1 axis; the shape \(rounds, labels\) was needed: .* np.eye\(K\)\[policy\] for K labels"),
        ({"policy": [[0.5, 0.5], [0.5, 0.6]]}, ValueError, 'round 1: the probabilities of "policy" sum to 1.1, not to 1'),
        ({"clip": -1.0}, ValueError, "clip = -1: must be a finite number > 0"),
        ({"confidence": 1.0}, ValueError, "confidence = 1: must be between 0 and 1"),
        ({"labels": [], "rewards": [], "probabilities": [], "policy": np.empty((0, 2))}, ValueError, "no rounds"),
    ],
)
def test_bad_rounds_are_refused(change, error, sentence):
    good = {"labels": [0, 1], "rewards": [1, 0], "probabilities": [0.25, 0.5], "policy": [[0.5, 0.5], [0.75, 0.25]]}
    with pytest.raises(error, match=sentence):
        evaluate_arrays(**{**good, **change})


def test_bad_wishes_are_refused(log, tmp_path):
    path = log[0]
    for policy, keywords, sentence in [
        ("first", {}, 'the policy "first" is none of uniform, logged, greedy, best, constant:LABEL, learner:NAME and alone:NAME'),
        ("constant:d", {}, 'log.ndjson: the log has no label "d"; there are a, b, c'),
        (None, {}, 'log.ndjson:2: the decision has no "evaluation"; name a policy or a model'),
        ("uniform", {"greedy": True}, "greedy = true: must be false for the policy uniform, which is no learner"),
        ("uniform", {"missing": "right"}, "missing = right: must be skip or wrong"),
        ("uniform", {"reward_learner": "folklor"}, "did you mean 'folklore'"),
        ("uniform", {"reward_learner": "perceptron"}, "reward learner = perceptron"),
        ("uniform", {"format": "libsvm"}, "is libsvm, which cannot contain decisions"),
        ("uniform", {"format": "csv"}, "has no column \"label\""),
        ("uniform", {"on_bad_row": "maybe"}, "on_bad_row: \"maybe\" is none of fail, skip and a number"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            evaluate(path, policy, **keywords)
    with pytest.raises(FileNotFoundError, match=r"^\[Errno 2\] No such file or directory: '.*missing'$"):
        evaluate(tmp_path / "missing", "uniform")
    with pytest.raises(ValueError, match="forecasts numbers and does not play labels"):
        evaluate(path, Learner("vaw", features=3))
    with pytest.raises(TypeError):
        evaluate(path, 3)


def test_several_policies_and_a_foreign_log(tmp_path):
    rng = np.random.default_rng(1)
    lines = ["hour,chosen,prob,click"]
    for _ in range(4000):
        hour, chosen = rng.integers(0, 24), rng.integers(0, 2)
        good = (hour < 12) == (chosen == 0)
        lines.append(f"{hour},{'ab'[chosen]},0.5,{int(rng.random() < (0.8 if good else 0.2))}")
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    columns = {"decision": "chosen", "probability": "prob", "reward": "click"}
    found = compare_policies(path, {"a": "constant:a", "b": "constant:b", "chance": "uniform"}, **columns)
    assert list(found.evaluations) == ["a", "b", "chance"] and list(found.differences) == ["b", "chance"]
    alone = evaluate(path, "constant:b", **columns)
    assert found.evaluations["b"] == alone and alone.rounds == 4000
    difference = found.differences["b"]
    assert difference.normal[0] < 0.1 and abs(difference.value) < 0.1 and difference.rounds == 4000
    assert difference.verdict.startswith(("undecided", "better by", "worse by")) and "b: " in repr(found)
    assert difference.verdict in found._repr_html_() and "snips" in found._repr_html_()
    with pytest.raises(ValueError, match="there are no policies"):
        compare_policies(path, {})


def test_labels_on_offer_in_the_log_of_another_program(tmp_path):
    path = tmp_path / "log.csv"
    rounds = [("a", 1, "a b"), ("c", 0, "b c"), ("b", 0, "a b")] * 50
    lines = [f"{at % 7},{label},0.5,{click},{shown}" for at, (label, click, shown) in enumerate(rounds)]
    path.write_text("\n".join(["age,chosen,prob,click,shown", *lines]))
    columns = {"decision": "chosen", "probability": "prob", "reward": "click"}
    found = evaluate(path, "uniform", reward_learner="none", offered="shown", **columns)
    assert found.estimates["ips"].value == pytest.approx(1 / 3) and found.mean_weight == 1.0
    # Without the column, uniform play is among three labels.
    assert evaluate(path, "uniform", reward_learner="none", **columns).mean_weight == pytest.approx(2 / 3)


def test_what_a_log_cannot_cover_is_undecided(tmp_path):
    line = '{{"id": {0}, "label": "a", "p": {{"a": 1, "b": 0}}, "correct": {1}}}\n'
    (tmp_path / "log").write_text("".join(line.format(t, "true" if t % 2 else "false") for t in range(400)))
    found = compare_policies(tmp_path / "log", {"as it was": "logged", "by chance": "uniform", "never": "constant:b"})
    low, high = found.differences["by chance"].normal
    assert -0.4 < low < -0.25 and 0.25 < high < 0.4
    assert found.differences["by chance"].verdict.startswith("undecided: about 95 % between -")
    assert found.differences["never"].verdict == "undecided: the log plays too few of the labels that the policies choose"
    assert [one.thin for one in found.evaluations.values()] == [False, False, True]


def test_distributions_of_three_axes_are_those_of_open_bandit_pipeline():
    policy = np.array([[0.5, 0.5], [0.75, 0.25]])
    good = {"labels": [0, 1], "rewards": [1, 0], "probabilities": [0.25, 0.5]}
    value = evaluate_arrays(**good, policy=policy, estimates=policy).estimates["dr"].value
    assert evaluate_arrays(**good, policy=policy[:, :, None], estimates=policy[:, :, None]).estimates["dr"].value == value
    two = np.stack([policy, 1 - policy], axis=2)
    assert evaluate_arrays(**good, policy=two, estimates=two, position=[0, 0]).estimates["dr"].value == value
    mixed = np.array([policy[0], 1 - policy[1]])
    found = evaluate_arrays(**good, policy=two, position=[0, 1]).estimates["ips"].value
    assert found == evaluate_arrays(**good, policy=mixed).estimates["ips"].value
    for change, sentence in (
        ({}, "policy has 2 positions; position, that of each played label, was needed"),
        ({"position": [0, 2]}, r"position\[1\] = 2: must be from 0 to 1"),
        ({"position": [0]}, "position has 1 rounds; policy has 2"),
    ):
        with pytest.raises(ValueError, match=sentence):
            evaluate_arrays(**good, policy=two, **change)


def test_policies_that_learn(tmp_path):
    path = tmp_path / "log.ndjson"
    bandit = Bandit("banditron", features=1, classes=2, exploration=1.0)
    with bandit.log(path):
        for at in range(2000):
            decision = bandit.decide([at % 2 - 0.5])
            bandit.feedback(decision.id, decision.label == at % 2)
    found = compare_policies(path, {"best": "best", "alone": "alone:squarecb", "after": "learner:squarecb"})
    assert found.evaluations["best"].best_label in ("0", "1")
    assert found.evaluations["best"].learnt is None
    learnt = [found.evaluations[name].learnt for name in ("alone", "after")]
    for name in ("alone", "after"):
        assert found.differences[name].more_from in (0, 128, 256)
    assert compare_policies(path, {"best": "best", "chance": "uniform"}).differences["chance"].more_from is None
    assert 800 < learnt[0].rounds < 1200
    assert learnt[1].rounds == 2000
    for one in learnt:
        assert one.stages[0].learnt == (0, 127)
        assert one.stages[-1].reward > 0.8


def test_rows_in_memory_are_evaluated_as_those_of_a_file(tmp_path):
    # They were refused.
    rng = np.random.default_rng(0)
    rows = [
        {"age": int(rng.integers(60)), "hue": "rgb"[at % 3], "label": "ab"[at % 2], "probability": 0.5, "reward": int(rng.integers(2))}
        for at in range(300)
    ]
    service = [
        {"_label_cost": -(at % 2), "_label_probability": 0.5, "_label_Action": 1 + at % 2, "_labelIndex": at % 2, "a": [1 + at % 2, 2 - at % 2],
         "p": [0.5, 0.5], "c": {"User": {"h": at % 3}, "_multi": [{"i": {"id": "art"}}, {"i": {"id": "sport"}}]}}
        for at in range(40)
    ]
    for lines, named in ((rows, {"decision": "label"}), (service, {})):
        path = tmp_path / "log.ndjson"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert evaluate(lines, "uniform", **named) == evaluate(path, "uniform", **named)
    unanswered = [row | {"reward": float("nan") if at == 7 else np.float64(row["reward"])} for at, row in enumerate(rows)]
    assert evaluate(unanswered, "uniform", decision="label").rounds == 299
    with pytest.raises(ValueError, match=r'^row 1: the label "a" was played with probability 2: must be in'):
        evaluate([rows[1], rows[0] | {"probability": 2.0}], "uniform", decision="label")
    skipped = evaluate([rows[1], rows[0] | {"probability": 2.0}], "uniform", decision="label", on_bad_row="skip")
    assert skipped.bad_rows == 1 and skipped.first_bad_row.startswith('row 1: the label "a" was played')
    with pytest.raises(TypeError, match=r"log\[0\] is a int; a dictionary was needed, a row of the log"):
        evaluate([1], "uniform")
    with pytest.raises(TypeError, match="the path of a file, a list of dictionaries or a table was needed"):
        evaluate(3, "uniform")


def test_a_table_is_a_log():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": range(100), "label": ["a", "b"] * 50, "probability": 0.5, "reward": [1, 0, 1, 1] * 25})
    found = evaluate(frame, "constant:a", decision="label")
    assert found.rounds == 100 and found.estimates["ips"].value == pytest.approx(1.0)
    # A table of Arrow was refused, and so were rows with decimal numbers and durations.
    pyarrow = pytest.importorskip("pyarrow")
    assert evaluate(pyarrow.Table.from_pandas(frame), "constant:a", decision="label") == found
    took = [datetime.timedelta(minutes=3), np.timedelta64(3, "m"), pandas.Timedelta("3min")]
    rows = [row | {"cost": decimal.Decimal("0.5"), "took": took[at % 3], "at": np.datetime64("2026-03-27T10:00")} for at, row in enumerate(frame.to_dict("records"))]
    seen = evaluate(rows, "learner:squarecb", decision="label")
    same = [row | {"cost": 0.5, "took": 180.0, "at": "2026-03-27T10:00"} for row in frame.to_dict("records")]
    assert seen == evaluate(same, "learner:squarecb", decision="label")


def test_the_range_of_rewards_and_what_columns_are(tmp_path):
    # These could be said on the command line only.
    rng = np.random.default_rng(0)
    right, played = rng.integers(2, size=400), rng.integers(2, size=400)
    rows = [f"{'xy'[r]},{'ab'[p]},0.5,{10 * (r == p)}" for r, p in zip(right, played, strict=True)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["side,label,probability,reward", *rows]))
    seen, stated = evaluate(path, "uniform"), evaluate(path, "uniform", rewards=(0, 15))
    assert any("no reward is" in warning for warning in seen.warnings)
    assert not any("no reward is" in warning for warning in stated.warnings)
    assert 15 * stated.estimates["ips"].value == pytest.approx(seen.estimates["ips"].value)
    clipped = evaluate(path, "uniform", rewards="0..5:clip")
    assert clipped.estimates["ips"].value == pytest.approx(seen.estimates["ips"].value / 10)
    said = f"{sum(right == played)} of 400 rewards outside of 0..5, the farthest 10, count as the nearest end"
    assert [warning for warning in clipped.warnings if said in warning] != [], clipped.warnings
    with pytest.raises(ValueError, match="0..5:clip as the range counts it as the nearest end"):
        evaluate(path, "uniform", rewards=(0, 5))
    worth = [evaluate(path, "learner:squarecb", rewards=(0, 15), drop=drop).estimates["ips"].value for drop in ([], ["side"])]
    assert worth[0] > worth[1] + 0.1, worth
    with pytest.raises(ValueError, match="sude"):
        evaluate(path, "uniform", drop=["sude"])
