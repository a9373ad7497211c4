"""Off-policy estimates on the public sample of the Open Bandit Dataset, beside the truth.

The sample has a log of uniform play and one of Bernoulli Thompson sampling for each of three campaigns. Each policy is
estimated from the log of the other one, and its own log has the truth. It is part of the package `obp`:

    pip download --no-deps obp==0.4.1 --dest FOLDER
    python benches/open_bandit/open_bandit.py FOLDER/obp-0.4.1-py3-none-any.whl --program target/release/noregret

Prints a table for results/open-bandit.md. Nothing but the standard library is needed.
"""

import argparse
import csv
import io
import json
import pathlib
import random
import subprocess
import tempfile
import zipfile

CAMPAIGNS = ("all", "men", "women")
# Draws from which the probabilities of Thompson sampling are computed.
DRAWS = 20_000


def priors(wheel):
    """The parameters of the Beta distributions of Thompson sampling, by campaign: lists of alpha and beta."""
    found, campaign, name = {}, None, None
    for line in wheel.read("obp/policy/conf/prior_bts.yaml").decode().splitlines():
        text = line.strip()
        if not line.startswith(" "):
            campaign = text.rstrip(":")
        elif text.startswith("- "):
            found[campaign][name].append(float(text[2:]))
        elif text:
            name = text.rstrip(":")
            found.setdefault(campaign, {})[name] = []
    return {campaign: (lists["alpha"], lists["beta"]) for campaign, lists in found.items()}


def thompson(alpha, beta, rng):
    """The probability of every item on each of the three positions."""
    counts = [[0] * len(alpha) for _ in range(3)]
    for _ in range(DRAWS):
        drawn = [rng.betavariate(a, b) for a, b in zip(alpha, beta)]
        for position, item in enumerate(sorted(range(len(drawn)), key=drawn.__getitem__)[: -4 : -1]):
            counts[position][item] += 1
    return [[count / DRAWS for count in row] for row in counts]


def rows(wheel, log, campaign):
    text = wheel.read(f"obp/dataset/obd/{log}/{campaign}/{campaign}.csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


def write_log(path, logged, probabilities, uniform):
    """The log with the distribution of the policy to evaluate, which depends on the position. That of the policy which has
    logged is known if it is `uniform`."""
    with open(path, "w") as out:
        for at, row in enumerate(logged):
            position = int(row["position"]) - 1
            x = {name: value for name, value in row.items() if name.startswith("user_feature")}
            line = {
                "id": at, "label": row["item_id"], "probability": float(row["propensity_score"]),
                "reward": int(row["click"]), "x": {**x, "position": row["position"]},
                "evaluation": {str(item): p for item, p in enumerate(probabilities[position])},
            }
            if uniform:
                line["p"] = dict.fromkeys(line["evaluation"], 1.0 / len(line["evaluation"]))
            out.write(json.dumps(line) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--program", default="noregret")
    arguments = parser.parse_args()
    wheel = zipfile.ZipFile(arguments.wheel)
    beta = priors(wheel)
    print("| policy | campaign | truth | ips | snips | dm | dr | width of dr / ips | interval of dr | truth in it | best reward model |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---|---|---|")
    for policy, log in (("bts", "random"), ("random", "bts")):
        for campaign in CAMPAIGNS:
            own = [int(row["click"]) for row in rows(wheel, policy, campaign)]
            truth = sum(own) / len(own)
            items = len(beta[campaign][0])
            uniform = [[1 / items] * items] * 3
            probabilities = uniform if policy == "random" else thompson(*beta[campaign], random.Random(0))
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "log.ndjson")
                write_log(path, rows(wheel, log, campaign), probabilities, log == "random")
                done = subprocess.run([arguments.program, "evaluate", path, "--json"], check=True, capture_output=True, text=True)
            found = json.loads(done.stdout.splitlines()[0])
            by = {one["estimator"]: one for one in found["estimates"]}
            errors = " | ".join(f"{abs(by[name]['value'] / truth - 1):.2f}" for name in ("ips", "snips", "dm", "dr"))
            width = by["dr"]["standard_error"] / by["ips"]["standard_error"]
            low, high = by["dr"]["sequence"]
            inside = "yes" if low <= truth <= high else "no"
            print(
                f"| {policy} | {campaign} | {truth:.5f} | {errors} | {width:.2f} | [{low:.4f}, {high:.4f}] | {inside} "
                f"| {found['reward_model']} |", flush=True
            )


if __name__ == "__main__":
    main()
