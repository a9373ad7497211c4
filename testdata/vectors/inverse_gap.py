"""Traces of SquareCB and FastCB with one AIOLI for each label, or one for all, from the papers' formulas and plain NumPy.

    python3 testdata/vectors/inverse_gap.py

writes squarecb_gauss.json, squarecb_root_gauss.json, squarecb_joint_gauss.json and fastcb_gauss.json beside this file. Nothing is shared with the Rust code:
matrices are inverted anew in every round, the scalar equation is solved by bisection.
"""

import json
from pathlib import Path

import numpy as np

K, D, ROUNDS, NORM = 4, 3, 150, 6.0


class Aioli:
    """A = lambda I + sum of kappa p q x x', b, and the certificate of the regret; loss of class 1 against class 0."""

    def __init__(self, radius, d):
        self.regularization = 1 / NORM**2
        self.kappa = 1 / (2 * (1 + NORM * radius))
        self.a = self.regularization * np.eye(d)
        self.b = np.zeros(d)
        self.slack = 0.0

    def logit(self, x):
        inverse = np.linalg.inv(self.a)
        m, v = x @ inverse @ self.b, x @ inverse @ x
        low, high = min(0.0, m), max(0.0, m)
        for _ in range(200):
            s = 0.5 * (low + high)
            if s + 0.5 * v * np.tanh(0.5 * s) < m:
                low = s
            else:
                high = s
        return 0.5 * (low + high)

    def learn(self, x, reward):
        s = self.logit(x)
        p = 1 / (1 + np.exp(-s))
        residual = reward * (1 - p) - (1 - reward) * p
        curvature = self.kappa * p * (1 - p)
        self.b += (curvature * s + 0.5 * residual) * x
        self.a += curvature * np.outer(x, x)
        self.slack -= residual * s + curvature * s * s

    def certificate(self):
        own = self.regularization * NORM**2
        return max(own, own + self.slack + self.b @ np.linalg.inv(self.a) @ self.b)


def trace(name, learner, schedule, scale, seed, rewards, joint=False):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROUNDS, D))
    radius = float(np.linalg.norm(x, axis=1).max())
    truth = rng.standard_normal((K, D))
    if joint:
        radius *= 2**0.5
        models = [Aioli(radius, (K + 1) * D)]
    else:
        models = [Aioli(radius, D) for _ in range(K)]

    def model(a):
        return models[0 if joint else a]

    def row(t, a):
        """The features once for all labels and once for label a, with a joint model."""
        return np.concatenate([x[t], np.kron(np.eye(K)[a], x[t])]) if joint else x[t]

    u = rng.random(ROUNDS)
    gamma, lost, rounds = 0.0, 0.0, []
    for t in range(ROUNDS):
        losses = np.array([1 / (1 + np.exp(model(a).logit(row(t, a)))) for a in range(K)])
        regret = sum(one.certificate() for one in models)
        if schedule == "root":
            wanted = np.sqrt(K * (t + 1))
        elif learner == "squarecb":
            wanted = 4 * np.sqrt((K - 1) * (t + 1) / regret)
        else:
            wanted = max(np.sqrt(K * max(lost, 1.0) / (2 * regret)), 2 * K)
        gamma = max(gamma, scale * wanted)
        best = int(losses.argmin())
        gaps = losses - losses[best]
        if learner == "squarecb":
            p = 1 / (K + gamma * gaps)
        else:
            p = losses[best] / (K * losses[best] + gamma * gaps)
        p[best] = 0.0
        p[best] = 1 - p.sum()
        played = int(np.searchsorted(p.cumsum(), u[t], side="right"))
        mean = 1 / (1 + np.exp(-(truth[played] @ x[t])))
        reward = float(round(mean, 3)) if rewards else float(rng.random() < mean)
        model(played).learn(row(t, played), reward)
        lost += 1 - reward
        rounds.append({"p": p.tolist(), "played": played, "reward": reward})
    content = {"K": K, "d": D, "norm": NORM, "radius": radius, "schedule": schedule, "scale": scale,
               "x": x.tolist(), "u": u.tolist(), "rounds": rounds}
    if joint:
        content["models"] = "joint"
    Path(__file__).with_name(f"{name}.json").write_text(json.dumps(content) + "\n")


trace("squarecb_gauss", "squarecb", "certificate", 1.0, 1, rewards=False)
trace("squarecb_root_gauss", "squarecb", "root", 10.0, 2, rewards=True)
trace("squarecb_joint_gauss", "squarecb", "certificate", 1.0, 4, rewards=False, joint=True)
trace("fastcb_gauss", "fastcb", "certificate", 1.0, 3, rewards=False)
