"""A simulated news site, for the service and for Vowpal Wabbit: the same visitors, articles and clicks for both.

`python news.py --seeds 8` compares them on 2,000 events each (NOREGRET_URL is a running service): the mean chance of a click of the articles
that were shown. `--grid` tries all settings of Vowpal Wabbit, and not only those that were best.
"""

import argparse
import http.client
import itertools
import json
import os
import random

TOPICS = ["politics", "sports", "music", "food", "finance", "health"]
VISITORS, TIMES, DEVICES = ["tom", "anna", "kim", "lee"], ["morning", "noon", "evening"], ["phone", "desk"]
#: So many clicks are under way before one is heard of.
LATE = 10


def events(rounds, seed):
    """Yields what is known of a visitor, the articles, the chance of a click on each, and what decides play and click.

    What a visitor likes depends on the time of the day; articles have a topic, a length and a quality that is not shown; they
    arrive, and leave after about 150 visits."""
    drawn = random.Random(seed)
    likes = {who: drawn.sample(TOPICS, 2) for who in itertools.product(VISITORS, TIMES)}
    shelf, made = [], 0
    for _ in range(rounds):
        while len(shelf) < 6 or (len(shelf) < 10 and drawn.random() < 0.05):
            shown = {"topic": drawn.choice(TOPICS), "long": drawn.random() < 0.5}
            shelf.append((f"article-{made}", shown, drawn.uniform(0.7, 1.0)))
            made += 1
        if drawn.random() < 0.04:
            shelf.pop(0)
        context = {"user": drawn.choice(VISITORS), "time": drawn.choice(TIMES), "device": drawn.choice(DEVICES)}
        first, second = likes[context["user"], context["time"]]
        chances = []
        for _, shown, quality in shelf:
            chance = {first: 0.8, second: 0.4}.get(shown["topic"], 0.05) * quality
            chances.append(chance * 0.6 if shown["long"] and context["device"] == "phone" else chance)
        yield context, [(name, shown) for name, shown, _ in shelf], chances, drawn.random(), drawn.random()


def with_noregret(rounds, seed, url, loop):
    """What a loop of the service earns, asked in Personalizer's protocol."""
    connection = http.client.HTTPConnection(url.split("//")[-1], timeout=60)

    def post(path, body):
        kind = {"content-type": "application/json"}
        connection.request("POST", f"/loops/{loop}/personalizer/v1.0/{path}", json.dumps(body), kind)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
        return json.loads(text) if text else None

    order, late, earned = random.Random(seed + 1000), [], 0.0
    for context, articles, chances, _, click in events(rounds, seed):
        actions = [{"id": name, "features": [shown]} for name, shown in articles]
        ranked = post("rank", {"contextFeatures": [context], "actions": actions})
        at = [name for name, _ in articles].index(ranked["rewardActionId"])
        earned += chances[at]
        late.append((ranked["eventId"], float(click < chances[at])))
        if len(late) > LATE:
            event, value = late.pop(order.randrange(LATE))
            post(f"events/{event}/reward", {"value": value})
    return earned / rounds


def with_vowpal_wabbit(rounds, seed, arguments):
    """What Vowpal Wabbit earns, the learner behind Personalizer, in the same process."""
    import vowpalwabbit

    learner = vowpalwabbit.Workspace(f"--cb_explore_adf --quiet {arguments}")
    order, late, earned = random.Random(seed + 1000), [], 0.0
    for context, articles, chances, draw, click in events(rounds, seed):
        shared = "shared |C " + " ".join(f"{name}={value}" for name, value in context.items())
        lines = [f"|A topic={shown['topic']} long={shown['long']} id={name}" for name, shown in articles]
        p = learner.predict([shared, *lines])
        at, left = 0, draw * sum(p)
        while at + 1 < len(p) and left > p[at]:
            left -= p[at]
            at += 1
        earned += chances[at]
        cost = -float(click < chances[at])
        lines[at] = f"0:{cost}:{p[at]} {lines[at]}"
        late.append([shared, *lines])
        if len(late) > LATE:
            learner.learn(late.pop(order.randrange(LATE)))
    return earned / rounds


#: What was best of the grid over eight seeds, and its neighbours.
BEST = [
    f"--interactions CA --interactions CCA --cb_type mtr -l {rate} --squarecb --gamma_scale {scale}"
    for rate in (0.5, 1.0)
    for scale in (10, 100)
] + ["--interactions CA --interactions CCA --cb_type mtr -l 2 --epsilon 0"]


def grid():
    """Interactions, estimators, learning rates and kinds of exploration."""
    explored = ["--epsilon 0", "--epsilon 0.05", "--epsilon 0.1", "--epsilon 0.2", "--squarecb --gamma_scale 10"]
    explored += ["--squarecb --gamma_scale 100", "--bag 5", "--softmax --lambda 10", "--cover 4"]
    for products in ("-q CA", "--interactions CA --interactions CCA"):
        for kind, rate, explore in itertools.product(("mtr", "dr"), (0.1, 0.5, 2), explored):
            # Both of these regress, and know no other estimator.
            if kind == "mtr" or not ("squarecb" in explore or "cover" in explore):
                yield f"{products} --cb_type {kind} -l {rate} {explore}"


def compare(rounds, seeds, url, settings):
    """Mean reward of the service, and of every setting of Vowpal Wabbit, the best first."""
    ours = [with_noregret(rounds, seed, url, f"news-{os.getpid()}-{seed}") for seed in range(seeds)]
    theirs = {one: sum(with_vowpal_wabbit(rounds, seed, one) for seed in range(seeds)) / seeds for one in settings}
    return sum(ours) / seeds, sorted(((mean, one) for one, mean in theirs.items()), reverse=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--grid", action="store_true")
    given = parser.parse_args()
    url = os.environ.get("NOREGRET_URL", "http://127.0.0.1:8730")
    ours, theirs = compare(given.rounds, given.seeds, url, list(grid()) if given.grid else BEST)
    known = [chances for seed in range(given.seeds) for _, _, chances, _, _ in events(given.rounds, seed)]
    print(f"{sum(map(max, known)) / len(known):.4f} whoever knows all chances")
    print(f"{ours:.4f} noregret")
    for mean, setting in theirs:
        print(f"{mean:.4f} vw --cb_explore_adf {setting}")
    print(f"{sum(sum(one) / len(one) for one in known) / len(known):.4f} any article, by chance")
