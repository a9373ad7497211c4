"""noregret's off-policy estimates on the public sample of the Open Bandit Dataset, beside Open Bandit Pipeline's own.

The logs, the policies and the truth are those of open_bandit.py. The rival is the package `obp` itself, with the models of rewards and
the settings of its benchmark (benchmark/ope in its repository): logistic regression with C = 1000, and what it calls LightGBM, which is
scikit-learn's histogram gradient boosting (100 rounds of depth 5, rate .01), on the columns that its OpenBanditDataset makes,
cross-fitted in two folds; Switch-DR with its default threshold of 1.

    pip install obp==0.4.1
    pip download --no-deps obp==0.4.1 --dest FOLDER
    python benches/open_bandit/beside_obp.py FOLDER/obp-0.4.1-py3-none-any.whl --program target/release/noregret --logs 100

Prints two tables for results/open-bandit.md: relative errors on the logs as they are, and how often the intervals of noregret hold the truth
in --logs logs that are drawn from each log with replacement.
"""

import argparse
import io
import json
import pathlib
import random
import subprocess
import tempfile
import warnings
import zipfile

import numpy as np
import pandas
from obp.ope import DirectMethod, DoublyRobust, InverseProbabilityWeighting, RegressionModel
from obp.ope import SelfNormalizedInverseProbabilityWeighting, SwitchDoublyRobust
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import LabelEncoder

from open_bandit import CAMPAIGNS, priors, rows, thompson, write_log

MODELS = {
    "logistic regression": lambda: LogisticRegression(max_iter=10_000, C=1000, random_state=12345),
    "gradient boosting": lambda: HistGradientBoostingClassifier(
        max_iter=100, learning_rate=0.01, max_depth=5, min_samples_leaf=10, random_state=12345
    ),
}
WITHOUT_MODEL = [InverseProbabilityWeighting(), SelfNormalizedInverseProbabilityWeighting()]
WITH_MODEL = [DirectMethod(), DoublyRobust(), SwitchDoublyRobust()]


def columns(wheel, log, campaign, logged):
    """The rounds and the items as OBP's OpenBanditDataset describes them."""
    table = pandas.DataFrame(logged)
    users = table[[name for name in table if "user_feature" in name]]
    context = pandas.get_dummies(users, drop_first=True).to_numpy(dtype=float)
    items = pandas.read_csv(io.BytesIO(wheel.read(f"obp/dataset/obd/{log}/{campaign}/item_context.csv")), index_col=0)
    kinds = items.drop(columns="item_feature_0").apply(LabelEncoder().fit_transform)
    return context, pandas.concat([kinds, items["item_feature_0"]], axis=1).to_numpy(dtype=float)


def rival(wheel, log, campaign, logged, probabilities):
    """OBP's estimates, by model and estimator."""
    context, items = columns(wheel, log, campaign, logged)

    def number(name, kind):
        return np.array([kind(row[name]) for row in logged])

    feedback = {
        "action": number("item_id", int), "position": number("position", int) - 1, "reward": number("click", int),
        "pscore": number("propensity_score", float),
    }
    shares = np.repeat(np.array(probabilities).T[None], len(logged), axis=0)
    found = {}
    for one in WITHOUT_MODEL:
        found["", one.estimator_name] = one.estimate_policy_value(action_dist=shares, **feedback)
    for model, make in MODELS.items():
        regression = RegressionModel(n_actions=len(items), len_list=3, action_context=items, base_model=make())
        fitted = regression.fit_predict(context=context, **feedback, n_folds=2, random_state=12345)
        for one in WITH_MODEL:
            found[model, one.estimator_name] = one.estimate_policy_value(
                action_dist=shares, estimated_rewards_by_reg_model=fitted, **feedback
            )
    return found


def ours(program, logged, probabilities, uniform):
    """What `noregret evaluate` says, by estimator."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "log.ndjson")
        write_log(path, logged, probabilities, uniform)
        done = subprocess.run([program, "evaluate", path, "--json"], check=True, capture_output=True, text=True)
    return {one["estimator"]: one for one in json.loads(done.stdout.splitlines()[0])["estimates"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--program", default="noregret")
    parser.add_argument("--logs", type=int, default=100)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    wheel, coverage = zipfile.ZipFile(arguments.wheel), []
    beta = priors(wheel)
    header = ["ips", "snips", "`noregret` dm", "`noregret` dr"]
    header += [f"OBP {name}, {model}" for model in MODELS for name in ("dm", "dr", "switch-dr")]
    print("| policy | campaign | " + " | ".join(header) + " |")
    print("|---|---|" + "---:|" * len(header))
    total = np.zeros(len(header))
    for policy, log in (("bts", "random"), ("random", "bts")):
        for campaign in CAMPAIGNS:
            truth = np.mean([int(row["click"]) for row in rows(wheel, policy, campaign)])
            logged, items = rows(wheel, log, campaign), len(beta[campaign][0])
            uniform = [[1 / items] * items] * 3
            probabilities = uniform if policy == "random" else thompson(*beta[campaign], random.Random(0))
            mine = ours(arguments.program, logged, probabilities, log == "random")
            theirs = rival(wheel, log, campaign, logged, probabilities)
            for name, same in (("ips", "ipw"), ("snips", "snipw")):
                assert abs(mine[name]["value"] - theirs["", same]) < 1e-9, (name, mine[name], theirs)
            values = [mine[name]["value"] for name in ("ips", "snips", "dm", "dr")]
            values += [theirs[model, name] for model in MODELS for name in ("dm", "dr", "switch-dr")]
            errors = np.abs(np.array(values) / truth - 1)
            total += errors / 6
            print(f"| {policy} | {campaign} | " + " | ".join(f"{error:.2f}" for error in errors) + " |", flush=True)
            rng = random.Random(1)
            drawn = [
                ours(arguments.program, rng.choices(logged, k=len(logged)), probabilities, log == "random") for _ in range(arguments.logs)
            ]
            cells = []
            for name, kind in (("ips", "sequence"), ("dr", "sequence"), ("ips", "normal"), ("dr", "normal")):
                intervals = [one[name][kind] for one in drawn if kind in one[name]]
                held = np.mean([low <= truth <= high for low, high in intervals]) if intervals else None
                wide = np.mean([0.5 * (high - low) for low, high in intervals]) if intervals else None
                cells.append("" if held is None else f"{held:.2f} ± {wide:.4f} ({len(intervals)})")
            coverage.append(f"| {policy} | {campaign} | {truth:.5f} | " + " | ".join(cells) + " |")
    print("| mean | | " + " | ".join(f"{error:.2f}" for error in total) + " |")
    if arguments.logs:
        print("\n| policy | campaign | truth | ips | dr | ips normal | dr normal |\n|---|---|---:|---|---|---|---|")
        print("\n".join(coverage))


if __name__ == "__main__":
    main()
