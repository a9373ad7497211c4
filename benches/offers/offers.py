"""Labels on offer with features of their own, beside `vw --cb_explore_adf`: the same rounds, in the same order, for both.

    python benches/offers/offers.py DATA --program target/dist/noregret --seeds 5 > results/labels-on-offer.md

DATA is the folder of the public data sets (`noregret data fetch pendigits letter`); needs vowpalwabbit, as benches/rivals/requirements.txt
has it. noregret runs with nothing set, and over `conditional-logit`. Vowpal Wabbit runs with every setting of a grid for the first seeds, and the best ones for all
seeds: the one of the lowest loss is chosen after the fact.
"""

import argparse
import gzip
import itertools
import json
import pathlib
import random
import subprocess
import tempfile

import vowpalwabbit

#: Labels on offer in a round of the public data sets, the right one among them.
CHOICES = 5
ROWS = 6000


def rows(path, name):
    """The rows of a LIBSVM file, each number scaled to [0, 1] by the range in the first 500 rows."""
    found = []
    with gzip.open(path / f"{name}.libsvm.gz", "rt") as file:
        for line in itertools.islice(file, ROWS + 500):
            label, *cells = line.split()
            found.append((label, {f"f{key}": float(value) for key, value in (cell.split(":") for cell in cells)}))
    names = sorted({key for _, x in found for key in x})
    seen = [x for _, x in found[:500]]
    low = {key: min(x.get(key, 0.0) for x in seen) for key in names}
    wide = {key: (max(x.get(key, 0.0) for x in seen) - low[key]) or 1.0 for key in names}
    return [(label, {key: round((x.get(key, 0.0) - low[key]) / wide[key], 4) for key in names}) for label, x in found]


def named(path, name, seed):
    """A multiclass data set whose labels are described by their names, some of them on offer."""
    drawn = random.Random(seed)
    table = rows(path, name)
    labels = sorted({label for label, _ in table})
    for label, x in table[500:]:
        offered = [label, *drawn.sample([other for other in labels if other != label], CHOICES - 1)]
        drawn.shuffle(offered)
        yield x, [(f"class-{one}", {}) for one in offered], [float(one != label) for one in offered]


def prototypes(path, name, seed):
    """A multiclass data set whose labels are new in every round: each is described by a row of its class among the first 500."""
    drawn = random.Random(seed)
    table = rows(path, name)
    examples = {}
    for label, x in table[:500]:
        examples.setdefault(label, []).append(x)
    for at, (label, x) in enumerate(table[500:]):
        if label not in examples:
            continue
        offered = [label, *drawn.sample([other for other in sorted(examples) if other != label], CHOICES - 1)]
        drawn.shuffle(offered)
        shown = [(f"item-{at}-{place}", drawn.choice(examples[one])) for place, one in enumerate(offered)]
        yield x, shown, [float(one != label) for one in offered]


TOPICS = ["politics", "sports", "music", "food", "finance", "health"]
USERS, TIMES, DEVICES = ["tom", "anna", "kim", "lee"], ["morning", "noon", "evening"], ["phone", "desk"]


def recommender(_path, _name, seed):
    """Articles arrive, and leave after about 150 rounds; what a visitor likes depends on the time of the day."""
    drawn = random.Random(seed)
    likes = {who: drawn.sample(TOPICS, 2) for who in itertools.product(USERS, TIMES)}
    shelf, made = [], 0
    for _ in range(ROWS):
        while len(shelf) < 6 or (len(shelf) < 10 and drawn.random() < 0.05):
            shelf.append((f"article-{made}", drawn.choice(TOPICS), drawn.random() < 0.5, drawn.uniform(0.7, 1.0)))
            made += 1
        if drawn.random() < 0.04:
            shelf.pop(0)
        user, time, device = drawn.choice(USERS), drawn.choice(TIMES), drawn.choice(DEVICES)
        first, second = likes[user, time]
        costs, shown = [], []
        for name, topic, long, quality in shelf:
            chance = {first: 0.8, second: 0.4}.get(topic, 0.05) * quality * (0.6 if long and device == "phone" else 1.0)
            costs.append(float(drawn.random() >= chance))
            shown.append((name, {f"topic={topic}": 1.0, f"long={long}": 1.0}))
        yield {f"user={user}": 1.0, f"time={time}": 1.0, f"device={device}": 1.0}, shown, costs


PAIRS, TRIPLES = "-q CA", "--interactions CA --interactions CCA"

#: How a stream is made, of which data, and the products of features that Vowpal Wabbit tries: of the round's features (C) and the label's (A).
STREAMS = {
    "pendigits, labels by name": (named, "pendigits", [PAIRS]),
    "letter, labels by name": (named, "letter.scale", [PAIRS]),
    "pendigits, new labels by an example": (prototypes, "pendigits", [PAIRS]),
    "recommender": (recommender, "", [PAIRS, TRIPLES]),
}


def described(features):
    return " ".join(f"{key}:{value:g}" for key, value in features.items())


LOGIT = ["--learner", "offers", "--set", "width=512", "--set", "oracle=conditional-logit"]
#: The settings of noregret, by the heads of their columns.
OURS = {
    "noregret": [],
    "`oracle=conditional-logit`": LOGIT,
    "the same, `schedule=certificate`": [*LOGIT, "--set", "schedule=certificate"],
}


def with_noregret(program, stream, seed, settings):
    """The mean cost of what was played, from a file in which every action has its cost: only the cost of the one played is revealed."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "rounds.vw"
        with file.open("w") as out:
            for context, labels, costs in stream:
                out.write(f"shared |C {described(context)}\n")
                for at, ((name, own), cost) in enumerate(zip(labels, costs)):
                    out.write(f"{at}:{cost:g} '{name} |A {described(own)}\n")
                out.write("\n")
        command = [program, "run", str(file), "--feedback", "bandit", "--seed", str(seed), "--json", *settings]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(answer.splitlines()[-1])["error_rate"]


def with_vowpal_wabbit(setting, stream, seed):
    """The same, by its own probabilities; the name of a label is a feature."""
    learner = vowpalwabbit.Workspace(f"--cb_explore_adf --quiet {setting}")
    drawn, lost, played = random.Random(seed + 1000), 0.0, 0
    for context, labels, costs in stream:
        lines = [f"shared |C {described(context)}"]
        lines += [f"|A id={name} {described(own)}" for name, own in labels]
        p = learner.predict(lines)
        at = drawn.choices(range(len(p)), p)[0]
        lost, played = lost + costs[at], played + 1
        lines[at + 1] = f"0:{costs[at]}:{p[at]} {lines[at + 1]}"
        learner.learn(lines)
    learner.finish()
    return lost / played


def grid(products):
    """Learning rates, estimators and kinds of exploration."""
    kinds = ["--epsilon 0", "--epsilon 0.02", "--epsilon 0.1", "--bag 5", "--softmax --lambda 10", "--first 200"]
    regress = ["--squarecb --gamma_scale 10", "--squarecb --gamma_scale 100", "--regcbopt --mellowness 0.01", "--cover 4"]
    for product, rate in itertools.product(products, (0.1, 0.5, 2)):
        for kind, explore in itertools.product(("mtr", "dr"), kinds):
            yield f"{product} --cb_type {kind} -l {rate} {explore}"
        for explore in regress:
            yield f"{product} --cb_type mtr -l {rate} {explore}"


def mean_and_spread(values):
    return f"{sum(values) / len(values):.4f} ({min(values):.4f} to {max(values):.4f})"


PAGE = """# Labels on offer with features of their own, beside `vw --cb_explore_adf`

Written by `python benches/offers/offers.py DATA --program target/dist/noregret --seeds {seeds}`, which has the streams and
the grid. Mean cost of the labels played, exploration included, over {seeds} seeds, with the lowest and the highest; a seed
determines what is on offer and what is drawn. Both programs see the same rounds and the same features, and only the cost
of the label that was played is revealed.

noregret {noregret}: `run FILE.vw --feedback bandit` with nothing set; then with
`{logit}`, FOLKLORE over the columns of a label, with its exploration learnt as well;
and with the exploration that has a theorem. vowpalwabbit {vw}: the best of 48 settings on each
stream (96 on the recommender), chosen after the fact: all of them with the first seed, the best {best} with all seeds.

- By name: a public multiclass data set, five of its labels on offer in every round, the right one among them (cost 0,
  the others 1).
- New labels by an example: labels have a new name in every round, and are described by the numbers of a row of their
  class among the first 500 rows, which are not played. So nothing can be learnt about a label but from its features.
- Recommender: six to ten articles with a topic and a length, which arrive, and leave after about 150 rounds; the cost is
  1 minus a click. Vowpal Wabbit also tries the products of two of the round's features and one of the label's; noregret
  makes those of categories by itself.

| stream | rounds | by chance | {heads} | `vw --cb_explore_adf`, best of grid | its default with `-q CA` | setting of the best |
|---|---:|---:|{rules}---:|---:|---|"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--best", type=int, default=4, help="how many settings of the grid run with all seeds")
    parser.add_argument("--streams", default=";".join(STREAMS))
    given = parser.parse_args()
    version = subprocess.run([given.program, "--version"], capture_output=True, text=True).stdout.split()[-1]
    print(PAGE.format(seeds=given.seeds, best=given.best, noregret=version, vw=vowpalwabbit.__version__,
                      logit=" ".join(LOGIT), heads=" | ".join(OURS), rules="---:|" * len(OURS)), flush=True)
    for title in given.streams.split(";"):
        make, name, products = STREAMS[title]
        settings = list(grid(products))
        streams = [list(make(given.data, name, seed)) for seed in range(given.seeds)]
        chance = sum(sum(costs) / len(costs) for _, _, costs in streams[0]) / len(streams[0])
        ours = [[with_noregret(given.program, stream, seed, ours) for seed, stream in enumerate(streams)] for ours in OURS.values()]
        first = sorted((with_vowpal_wabbit(setting, streams[0], 0), setting) for setting in settings)
        best = []
        for _, setting in first[: given.best]:
            best.append(([with_vowpal_wabbit(setting, stream, seed) for seed, stream in enumerate(streams)], setting))
        theirs, setting = min(best, key=lambda one: sum(one[0]))
        plain = [with_vowpal_wabbit(PAIRS, stream, seed) for seed, stream in enumerate(streams)]
        print(f"| {title} | {len(streams[0]):,} | {chance:.4f} | {' | '.join(map(mean_and_spread, ours))} | {mean_and_spread(theirs)} | "
              f"{mean_and_spread(plain)} | `{setting}` |", flush=True)


if __name__ == "__main__":
    main()
