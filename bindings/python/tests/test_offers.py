"""`noregret.Bandit` with labels on offer, with or without features of their own, and with costs."""

import json

import numpy as np
import pytest
from program import program

import noregret
from noregret import Bandit, Learner

TOPICS = ["sport", "art", "news", "music"]


def articles(t):
    return {t // 20 + at: {"topic": TOPICS[(t // 20 + at) % 4], "words": [3, 1.5]} for at in range(3)}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", ["auto", "squarecb", "fastcb", "soba", "confidit"])
def test_only_labels_on_offer_are_played(name, tmp_path):
    bandit = Bandit(name, features=2, labels=["red", "green", "blue"], radius=1.0, seed=3)
    offers = [["blue", "red"], None, ["green", "red"], ["green"], np.array(["blue", "green"])]
    with bandit.log(tmp_path / "log"):
        for t in range(60):
            x, offered = [t % 2, 0.5], offers[t % 5]
            p = bandit.predict_proba(x, offered)
            assert len(p) == (3 if offered is None else len(offered)) and p.sum() == pytest.approx(1)
            decision = bandit.decide(x, offered)
            names = bandit.labels if offered is None else list(offered)
            assert decision.label in names and decision.probability == pytest.approx(p[names.index(decision.label)])
            bandit.feedback(decision.id, decision.label == ["red", "green"][t % 2])
    again = Bandit.replay(tmp_path / "log")
    np.testing.assert_array_equal(again.scores([1.0, 0.5]), bandit.scores([1.0, 0.5]))
    np.testing.assert_array_equal(again.predict_proba([1.0, 0.5], ["red"]), [1.0])
    found = noregret.evaluate(tmp_path / "log", "logged")
    assert found.estimates["ips"].value == pytest.approx(found.logged_reward)
    assert noregret.evaluate(tmp_path / "log", bandit).estimates["ips"].value > 0


def test_numbers_are_labels():
    bandit = Bandit("squarecb", features=1, classes=4)
    assert {bandit.decide([1.0], [3, np.int64(1)]).label for _ in range(50)} == {1, 3}
    floored = Bandit("squarecb", features=1, classes=4, exploration_floor=0.2)
    p = floored.predict_proba([1.0], [3, 0])
    assert p.min() >= 0.2 and p.sum() == pytest.approx(1)


def test_labels_that_cannot_be_played_are_refused():
    bandit = Bandit("squarecb", features=1, labels=["a", "b", "c"])
    for labels, error, sentence in [
        ([], ValueError, "no label is on offer"),
        (["a", "z"], ValueError, 'the label "z" is none of the bandit\'s'),
        (["a", "a"], ValueError, 'the label "a" is on offer twice'),
        ("a", TypeError, "a list of labels was needed"),
        ([None], TypeError, "a text or a number was needed"),
        ({"a": {"price": 3}}, TypeError, "the bandit has fixed labels"),
    ]:
        with pytest.raises(error, match=sentence):
            bandit.decide([1.0], labels)
    with pytest.raises(ValueError, match="newtron cannot play some of its labels only"):
        Bandit("newtron", features=1, classes=3, radius=1.0).decide([1.0], [0, 1])
    assert bandit.waiting == [] and bandit.rounds == 0


def test_labels_with_features_come_and_go(tmp_path):
    bandit = Bandit("offers", width=512, classes=6, seed=1)
    assert (bandit.name, bandit.classes, bandit.features) == ("offers", 6, 6 * 512)
    late = 0
    with bandit.log(tmp_path / "log"):
        for t in range(400):
            likes, news = TOPICS[t % 2], articles(t)
            p = bandit.predict_proba({"user": {"likes": likes}}, news)
            decision = bandit.decide({"user": {"likes": likes}}, news)
            # Labels are called as they were.
            assert isinstance(decision.label, int) and decision.probability == pytest.approx(p[list(news).index(decision.label)])
            right = news[decision.label]["topic"] == likes
            late += right and t >= 200
            bandit.feedback(decision.id, reward=0.8 * right)
            if t == 300:
                bandit.save(tmp_path / "model")
    possible = sum(any(one["topic"] == TOPICS[t % 2] for one in articles(t).values()) for t in range(200, 400))
    assert late > 0.75 * possible, (late, possible)
    again = Bandit.replay(tmp_path / "log")
    look = ({"user": {"likes": "art"}}, articles(7))
    np.testing.assert_array_equal(again.scores(*look), bandit.scores(*look))
    assert Bandit.load(tmp_path / "model").decide(*look).label in articles(7)
    assert noregret.evaluate(tmp_path / "log", "uniform").estimates["ips"].value < noregret.evaluate(tmp_path / "log", "logged").logged_reward
    # A label without features, and one that nobody has seen.
    assert bandit.decide({}, ["never", "seen"]).label in ("never", "seen")


def test_features_alone_are_called_by_their_places():
    bandit, by_name = (Bandit("offers", width=256, classes=4, seed=2) for _ in range(2))
    for t in range(200):
        offered = [{"topic": TOPICS[(t + at) % 3], "size": [at, None]} for at in range(3)]
        decision = bandit.decide({"likes": TOPICS[0], "age": float("nan")}, offered)
        assert decision.label in (0, 1, 2)
        bandit.feedback(decision.id, reward=float(offered[decision.label]["topic"] == TOPICS[0]))
    assert [bandit.predict({"likes": TOPICS[0]}, [{"topic": TOPICS[1]}, {"topic": TOPICS[0]}]) for _ in range(3)] == [1] * 3
    # Rounds of another policy, and the name of the best label.
    news = {"a": {"topic": "art"}, "b": {"topic": "music"}}
    played = ["a", "b"] * 50
    by_name.learn([{}] * 100, played, [float(name == "b") for name in played], [0.5] * 100, [news] * 100)
    assert by_name.rounds == 100 and by_name.predict({}, news) == "b"
    with pytest.raises(ValueError, match="the label 'c' was played in round 0 although it was not on offer"):
        by_name.learn([{}], ["c"], [1.0], [0.5], [news])
    with pytest.raises(TypeError, match="offered: the labels on offer in each round must be given"):
        by_name.learn([{}], ["a"], [1.0], [0.5])


def test_rounds_that_cannot_be_played_are_refused():
    bandit = Bandit("offers", width=64, classes=3)
    many = {name: {} for name in "abcd"}
    for x, labels, error, sentence in [
        ({}, None, TypeError, "the labels on offer must be given"),
        ({}, {}, ValueError, "0 labels are on offer; from 1 to classes = 3"),
        ({}, many, ValueError, "4 labels are on offer"),
        ({}, {1: {}, "1": {}}, ValueError, 'the label "1" is on offer twice'),
        (3, ["a"], TypeError, "x is 3; a dictionary of features"),
        ({"v": float("inf")}, ["a"], ValueError, "feature 'v' is inf"),
        ({"v": object()}, ["a"], TypeError, "feature 'v' is <object"),
        ({}, {"a": {"price": 1e200}}, ValueError, "feature 'price' is 1e[+]200"),
        ({}, {"a": 3}, TypeError, r"labels\['a'\] is 3"),
    ]:
        with pytest.raises(error, match=sentence):
            bandit.decide(x, labels)
    assert bandit.waiting == []
    with pytest.raises(TypeError, match="knows labels by their features"):
        bandit.run([[1.0]], [0])
    for wrong in ({"labels": ["a", "b"]}, {"scale": "unit"}, {"intercept": True}):
        with pytest.raises(TypeError, match="have no meaning"):
            Bandit("offers", **wrong)
    with pytest.raises(ValueError, match="width = 0"):
        Bandit("offers", width=0)


def test_costs_are_rewards_in_their_range(tmp_path):
    ours = {"features": 1, "classes": 3, "seed": 2}
    costly, earning = Bandit("squarecb", costs=(0, 10), **ours), Bandit("squarecb", **ours)
    assert (costly.costs, earning.costs) == ((0.0, 10.0), (0.0, 1.0))
    with costly.log(tmp_path / "log"):
        for t in range(50):
            decision, same = costly.decide([t % 3]), earning.decide([t % 3])
            assert decision == same
            cost = [0, 2.5, 10][(decision.label + t) % 3]
            costly.feedback(decision.id, cost=cost)
            earning.feedback(same.id, reward=1 - cost / 10)
    np.testing.assert_array_equal(costly.scores([1.0]), earning.scores([1.0]))
    costly.save(tmp_path / "model")
    for again in (Bandit.load(tmp_path / "model"), Bandit.replay(tmp_path / "log"), costly.copy()):
        assert again.costs == (0.0, 10.0)
    assert Bandit("squarecb", costs="-1..2.5", **ours).costs == (-1.0, 2.5)
    decision = costly.decide([0.0])
    with pytest.raises(ValueError, match="the cost is 10.5; a number from 0 to 10 was needed"):
        costly.feedback(decision.id, cost=10.5)
    with pytest.raises(TypeError, match="cost = True: must be a number from 0 to 10"):
        costly.feedback(decision.id, cost=True)
    with pytest.raises(TypeError, match="either correct"):
        costly.feedback(decision.id, reward=1, cost=1)
    assert costly.waiting == [decision.id]
    clipping = Bandit("squarecb", costs="0..10:clip", **ours)
    for cost, end in [(822, 10), (-1, 0)]:
        capped = clipping.copy()
        for bandit, paid in [(clipping, cost), (capped, end)]:
            bandit.feedback(bandit.decide([1.0]).id, cost=paid)
        np.testing.assert_array_equal(clipping.scores([1.0]), capped.scores([1.0]))
    assert (clipping.clipped_costs, costly.clipped_costs) == (2, 0)
    clipping.save(tmp_path / "clipping")
    again = Bandit.load(tmp_path / "clipping")
    again.feedback(again.decide([1.0]).id, cost=11)
    assert again.clipped_costs == 1
    for wrong, error in [((3, 3), ValueError), ("0..10:cap", ValueError), ("a..b", ValueError), ("3", ValueError), (7, TypeError), ((1, 2, 3), TypeError)]:
        with pytest.raises(error, match="costs"):
            Bandit("squarecb", costs=wrong, **ours)


def test_rewards_of_a_log_may_be_clipped():
    x, played = np.arange(12.0)[:, None], np.array(["a", "b"] * 6)
    revenue = np.array([0, 5, 99, 2] * 3)
    capped, clipped = (Bandit("squarecb", features=1, labels=["a", "b"]) for _ in range(2))
    capped.learn(x, played, np.minimum(revenue, 5), np.full(12, 0.5), between=(0, 5))
    with pytest.warns(UserWarning, match="^3 of 12 rewards outside of 0..5, the farthest 99, count as the nearest end"):
        clipped.learn(x, played, revenue, np.full(12, 0.5), between="0..5:clip")
    np.testing.assert_array_equal(capped.scores(x), clipped.scores(x))
    with pytest.raises(ValueError, match=r"^rewards\[2\]: the reward is 99; a number from 0 to 5 was needed"):
        clipped.learn(x, played, revenue, np.full(12, 0.5), between="0..5")
    assert clipped.rounds == 12


def test_as_the_command_line(tmp_path):
    """The same rounds, labels on offer and costs: the command line's log and Python's have the same decisions, to the bit."""
    rounds, path = [], tmp_path / "rounds.ndjson"
    for t in range(80):
        likes = TOPICS[t % 4]
        labels = {f"a{t // 9 + at}": {"topic": TOPICS[(t // 9 + at) % 4], "size": at} for at in range(4)}
        right = next(name for name, own in labels.items() if own["topic"] == likes)
        rounds.append({"x": {"likes": likes, "user": {"age": t % 5}}, "labels": labels, "y": right})
    path.write_text("".join(json.dumps(one) + "\n" for one in rounds))
    words = ["run", path, "--feedback", "bandit", "--set", "width=256", "--seed", "7", "--costs", "0..10"]
    program(*words, "--log", tmp_path / "theirs", text=True)
    bandit = Bandit("offers", width=256, classes=4, seed=7, costs="0..10")
    with bandit.log(tmp_path / "ours"):
        for one in rounds:
            decision = bandit.decide(one["x"], one["labels"])
            bandit.feedback(decision.id, cost=0 if decision.label == one["y"] else 10)
    theirs = [line for line in lines(tmp_path / "theirs") if "x" in line]
    ours = [line for line in lines(tmp_path / "ours") if "x" in line]
    assert len(ours) == len(theirs) == 80
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine["x"], mine["label"], mine["p"]) == (other["x"], other["label"], other["p"])


def test_labels_of_every_type_are_on_offer(tmp_path):
    import datetime

    for labels in (["a", "b"], [10, 20], [False, True], [0.5, 1.5], [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]):
        bandit = Bandit("squarecb", features=1, labels=labels)
        bandit.save(tmp_path / "model")
        for each in (bandit, Bandit.load(tmp_path / "model")):
            for label in labels:
                assert each.decide([1.0], [label]).label == label == each.predict([1.0], [label])
                assert type(each.decide([1.0], [label]).label) is type(label)
        chosen = Bandit("offers", width=64).decide({"user": 1}, {label: {"size": 1} for label in labels})
        assert chosen.label in labels and type(chosen.label) is type(labels[0])
    with pytest.raises(ValueError, match="labels has 1 and '1'; every label needs a name of its own"):
        Bandit("squarecb", features=1, labels=[1, "1"])


def test_learners_that_cannot_choose_name_those_that_can():
    """The list is the registry's."""
    able = []
    for entry in noregret.catalogue():
        if entry["feedback"] in ("bandit", "either") and not entry["blocks"]:
            bandit = Bandit(entry["name"], features=1, labels=["a", "b"], radius=1.0)
            try:
                bandit.decide([1.0], ["a"])
                able.append(entry["name"])
            except ValueError as error:
                sentence = str(error)
                assert sentence.startswith(f"{entry['name']} cannot play some of its labels only; ")
    named = sentence.split("; ")[1].removesuffix(" can").split(", ")
    assert set(able) <= set(named) and set(named) - set(able) <= {"offers"} and "relative-gaps" in named


def test_a_round_is_explained_by_its_own_features():
    bandit = Bandit("offers", width=256, seed=1)
    for t in range(400):
        decision = bandit.decide({"hour": t % 24}, [{"topic": "sport"}, {"topic": "art"}])
        bandit.feedback(decision.id, reward=float(decision.label == 0))
    x, labels = {"hour": 9}, {"a": {"topic": "sport"}, "b": {"topic": "art", "words": 3}}
    found = bandit.explain(x, labels)
    assert set(found.columns) == {"hour", "topic=sport", "topic=art", "words"} and found.labels == ["a", "b"]
    assert found.columns[0].startswith("topic=") and found.contributions.shape == (4, 2) and found.rows == 1
    np.testing.assert_allclose(found.scores, bandit.scores(x, labels), rtol=0, atol=1e-9)
    assert bandit.waiting == [] and bandit.rounds == 400
    fixed = Bandit("squarecb", labels=["a", "b", "c"], features=2)
    found = fixed.explain([1.0, 2.0], ["c", "a"])
    assert found.labels == ["c", "a"] and len(found.columns) == 2
    np.testing.assert_allclose(found.scores, fixed.scores([1.0, 2.0], ["c", "a"]), rtol=0, atol=1e-9)


def test_labels_on_offer_of_other_shapes():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"price": [1.0, 2.0]}, index=["p", "q"])
    assert Bandit("offers", width=64).decide(pandas.Series({"hour": 9, "hue": "red"}), frame).label in ("p", "q")
    bandit, same = Bandit("offers", width=64), Bandit("offers", width=64)
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert bandit.predict_proba(rows[0], rows).tolist() == same.predict_proba(rows[0].tolist(), rows.tolist()).tolist()


def test_labels_are_described_to_conditional_logit():
    bandit = Bandit("offers", width=32, classes=3, oracle="conditional-logit", schedule="certificate", radius=4.0)
    assert bandit.params["oracle"] == "conditional-logit" and bandit.params["oracle__radius"] == 4.0
    rng = np.random.default_rng(0)
    for _ in range(300):
        labels = {name: {"price": float(price)} for name, price in zip("abc", rng.random(3), strict=True)}
        decision = bandit.decide({}, labels)
        bandit.feedback(decision.id, decision.label == min(labels, key=lambda name: labels[name]["price"]))
    assert bandit.rounds == 300
    with pytest.raises(ValueError, match="schedule = certificate: must be 'learnt', since the oracle auto has no certificate"):
        Bandit("offers", width=32, classes=3, schedule="certificate")


def test_the_radius_of_conditional_logit_is_one_of_blocks():
    rows = np.tile([[1.0, 0.0, 0.0, 1.0, 0.6, 0.8]], (40, 1))
    learner = Learner("conditional-logit", classes=3, features=6, radius=1.0)
    learner.update(rows, np.arange(40) % 3)
    assert learner.params["radius"] == 1.0 and 0 < learner.certificate() < 200


def test_a_run_of_labels_with_features_names_the_way_out():
    with pytest.raises(TypeError, match="knows labels by their features: decide and feedback play its rounds, and learn learns logged ones"):
        Bandit("offers").run([[1.0]], ["a"])
