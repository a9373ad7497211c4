"""Off-policy estimates by Open Bandit Pipeline, the reference of `crates/stream/tests/off_policy.rs`.

    python obp_reference.py > obp_reference.json

Needs obp 0.5.7 (with --no-deps --ignore-requires-python on newer Pythons), numpy, pandas, scikit-learn. obp imports
torch and plotting for parts that are not used here; where they are missing, empty modules stand in for them.
"""

import importlib.util
import json
import sys
import types

import numpy as np
import scipy.stats  # noqa: F401  before the stand-ins: it looks for torch
import sklearn.ensemble  # noqa: F401
import sklearn.linear_model  # noqa: F401


class StandIn(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


for name in ["torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils", "torch.utils.data",
             "pyieoe", "pyieoe.evaluator", "seaborn", "matplotlib", "matplotlib.pyplot"]:
    parent, _, child = name.rpartition(".")
    if isinstance(sys.modules.get(parent), StandIn) or (not parent and importlib.util.find_spec(name) is None):
        module = StandIn(name)
        module.__path__ = []
        sys.modules[name] = module
        if parent:
            setattr(sys.modules[parent], child, module)

from obp.ope import (  # noqa: E402
    DirectMethod,
    DoublyRobust,
    InverseProbabilityWeighting,
    SelfNormalizedInverseProbabilityWeighting,
)


def case(seed, rounds, labels, clip, binary):
    rng = np.random.default_rng(seed)
    logging = rng.dirichlet(np.ones(labels), rounds) * 0.9 + 0.1 / labels
    evaluation = rng.dirichlet(0.5 * np.ones(labels), rounds)
    truth = rng.uniform(size=(rounds, labels))
    estimates = np.clip(truth + 0.2 * rng.normal(size=truth.shape), 0.0, 1.0)
    played = np.array([rng.choice(labels, p=p / p.sum()) for p in logging])
    at = np.arange(rounds)
    reward = (rng.uniform(size=rounds) < truth[at, played]).astype(float)
    if not binary:
        reward += rng.normal(size=rounds)
    probability = logging[at, played]
    common = dict(reward=reward, action=played, action_dist=evaluation[:, :, None])
    model = dict(estimated_rewards_by_reg_model=estimates[:, :, None])
    weights = {} if clip is None else dict(lambda_=clip)
    values = {
        "ips": InverseProbabilityWeighting(**weights).estimate_policy_value(pscore=probability, **common),
        "dm": DirectMethod().estimate_policy_value(action_dist=evaluation[:, :, None], **model),
        "dr": DoublyRobust(**weights).estimate_policy_value(pscore=probability, **common, **model),
    }
    if clip is None:
        # obp's self-normalised estimator does not clip.
        values["snips"] = SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(
            pscore=probability, **common)
    return {
        "clip": clip, "played": played.tolist(), "reward": reward.tolist(), "probability": probability.tolist(),
        "evaluation": evaluation.tolist(), "estimates": estimates.tolist(),
        "values": {name: float(value) for name, value in values.items()},
    }


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
cases = [case(seed, 60, 3, None, True), case(seed + 1, 60, 4, 2.0, True), case(seed + 2, 40, 2, None, False)]
json.dump({"cases": cases}, sys.stdout)
print()
