"""Traces of the learners with sketched matrices, from the definitions and plain NumPy.

    python3 testdata/vectors/sketches.py

writes folklore_sketch_*.json, ons_sketch_*.json and soba_sketch_*.json beside this file. Nothing is shared with the Rust code:
the matrix that the sketch stands for is kept whole and shrunk by its own eigenvalues, systems are solved anew in every round,
the fixed point and the multiplier of the projection are found by bisection.
"""

import json
from pathlib import Path

import numpy as np


class Frequent:
    """Frequent directions on the matrix itself: after every 2m-th row the (m+1)-st eigenvalue is subtracted from all."""

    def __init__(self, rank, size):
        self.rank, self.rows, self.matrix, self.discarded = rank, 0, np.zeros((size, size)), 0.0

    def add(self, row):
        self.matrix = self.matrix + np.outer(row, row)
        self.rows += 1

    def shrink(self):
        if self.rows < 2 * self.rank:
            return
        values, vectors = np.linalg.eigh(self.matrix)
        delta = max(values[::-1][self.rank], 0.0) if self.rank < len(values) else 0.0
        kept = values - delta > 1e-12
        self.matrix = (vectors[:, kept] * (values[kept] - delta)) @ vectors[:, kept].T
        self.rows = int(kept.sum())
        self.discarded += delta


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def loss(z, y):
    return float(np.log(np.exp(z - z.max()).sum()) + z.max() - z[y])


def fixed_point(h, a):
    """The z of sum 0 with z = -h/2 - a (softmax(z) - 1/K). For every c there is one z with z + a exp(z) = c - h/2; the c for
    which exp(z) sums to 1 makes it z up to a constant."""

    def parts(c):
        low, high = np.full_like(h, -800.0), np.minimum(np.maximum(c - h / 2, -800.0), 700.0)
        for _ in range(200):
            middle = (low + high) / 2
            above = middle + a * np.exp(middle) > c - h / 2
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return (low + high) / 2

    low, high = -700.0, 700.0
    for _ in range(200):
        c = (low + high) / 2
        low, high = (low, c) if np.exp(parts(c)).sum() > 1 else (c, high)
    z = parts((low + high) / 2)
    return z - z.mean()


def folklore(name, k, d, rounds, rank, least, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rounds, d)) * np.geomspace(1, 0.1, d)
    x /= np.linalg.norm(x, axis=1).max()
    truth = 6 * rng.standard_normal((k, d))
    y = [int((truth @ row + rng.gumbel(size=k)).argmax()) for row in x]
    norm, radius = 3.0, 1.0
    lam = 2 * radius / norm
    gamma = 1 / (2 + 2 * norm * radius + np.log(k - 1))
    sketch, g, slack = Frequent(rank, d), np.zeros((k, d)), 0.0
    logits, probs, losses, certificates = [], [], [], []
    for row, label in zip(x, y):
        inverse = np.linalg.inv(lam * np.eye(d) + sketch.matrix)
        z = fixed_point(g @ inverse @ row, row @ inverse @ row / 2)
        p = softmax(z)
        hessian = np.diag(p) - np.outer(p, p)
        s = np.sort(np.linalg.eigvalsh(hessian))[1] if least else np.trace(hessian) / (k - 1)
        residual = p - np.eye(k)[label]
        slack += residual @ z - gamma * s * z @ z
        g += np.outer(residual - 2 * gamma * s * z, row)
        sketch.add(np.sqrt(gamma * s) * row)
        before = sketch.matrix
        least_point = -0.5 * g @ np.linalg.inv(lam * np.eye(d) + before)
        sketch.shrink()
        lost = before - sketch.matrix
        g += 2 * least_point @ lost
        slack += np.trace(least_point @ lost @ least_point.T)
        inverse = np.linalg.inv(lam * np.eye(d) + sketch.matrix)
        logits.append(z.tolist())
        probs.append(p.tolist())
        losses.append(loss(z, label))
        certificates.append(float(lam * k * norm**2 + slack + np.trace(g @ inverse @ g.T) / 4))
    assert sketch.discarded > 0
    params = {"K": k, "d": d, "B": norm, "R": radius, "lam": lam, "gamma": gamma, "rank": rank,
              "eigenvalue": "least" if least else "mean"}
    write(name, {"params": params, "data": {"x": x.tolist(), "y": y},
                 "expected": {"logits": logits, "probs": probs, "loss": losses, "certificate": certificates},
                 "summary": {"total_loss": sum(losses)}})


def ons(name, k, d, rounds, rank, norm, projection, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rounds, d))
    x /= np.linalg.norm(x, axis=1).max()
    truth = 4 * rng.standard_normal((k, d))
    y = [int((truth @ row + rng.gumbel(size=k)).argmax()) for row in x]
    rate, eps = 0.2, 0.5
    sketch, w, active = Frequent(rank, k * d), np.zeros(k * d), 0
    logits, probs, losses = [], [], []
    for row, label in zip(x, y):
        z = w.reshape(k, d) @ row
        p = softmax(z)
        logits.append(z.tolist())
        probs.append(p.tolist())
        losses.append(loss(z, label))
        g = np.kron(p - np.eye(k)[label], row)
        sketch.add(g)
        a = eps * np.eye(k * d) + sketch.matrix
        w = w - np.linalg.solve(a, g) / rate
        if projection and np.linalg.norm(w) > norm:
            active += 1
            low, high = 0.0, 1e6
            for _ in range(200):
                nu = (low + high) / 2
                inside = np.linalg.norm(np.linalg.solve(a + nu * np.eye(k * d), a @ w)) < norm
                low, high = (low, nu) if inside else (nu, high)
            w = np.linalg.solve(a + high * np.eye(k * d), a @ w)
        sketch.shrink()
    assert sketch.discarded > 0 and (not projection or 5 < active < rounds), (sketch.discarded, active)
    params = {"K": k, "d": d, "B": norm, "R": 1.0, "gam": rate, "eps": eps, "rank": rank, "projection": projection}
    write(name, {"params": params, "data": {"x": x.tolist(), "y": y},
                 "expected": {"logits": logits, "probs": probs, "loss": losses}, "summary": {"total_loss": sum(losses)}})


def soba(name, k, d, rounds, rank, a, gamma, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rounds, d))
    x /= np.linalg.norm(x, axis=1).max()
    u = rng.random(rounds)
    truth = rng.standard_normal((k, d))
    y = [int((truth @ row).argmax()) for row in x]
    sketch, theta, w, margins, quadratics, played_rounds = Frequent(rank, k * d), np.zeros(k * d), np.zeros(k * d), 0.0, 0.0, []
    for t, (row, label) in enumerate(zip(x, y)):
        scores = w.reshape(k, d) @ row
        rate = gamma if gamma is not None else min(1.0, np.sqrt(k * (1 + quadratics) / (t + 1)))
        p = np.full(k, rate / k)
        p[scores.argmax()] += 1 - rate
        played = min(int(np.searchsorted(np.cumsum(p), u[t], side="right")), k - 1)
        updated = False
        if played == label:
            others = np.where(np.arange(k) == label, -np.inf, scores)
            g = np.kron(np.eye(k)[others.argmax()] - np.eye(k)[label], row) / p[label]
            z = np.sqrt(p[label]) * g
            inverse = np.linalg.inv(a * np.eye(k * d) + sketch.matrix)
            m = ((w @ z) ** 2 + 2 * w @ g) / (1 + z @ inverse @ z)
            if margins + m >= 0:
                updated = True
                margins += m
                sketch.add(z)
                theta = theta - g
                matrix = a * np.eye(k * d) + sketch.matrix
                w = np.linalg.solve(matrix, theta)
                quadratics += z @ np.linalg.solve(matrix, z)
                before = sketch.matrix
                sketch.shrink()
                theta = theta - (before - sketch.matrix) @ w
                w = np.linalg.solve(a * np.eye(k * d) + sketch.matrix, theta)
        played_rounds.append({"p": p.tolist(), "played": played, "correct": played == label, "rate": float(rate),
                              "updated": updated, "scores_after": (w.reshape(k, d) @ row).tolist(),
                              "w_norm": float(np.linalg.norm(w)), "sum_m": float(margins), "sum_q": float(quadratics)})
    updates = sum(r["updated"] for r in played_rounds)
    assert sketch.discarded > 0 and updates > 4 * rank, (sketch.discarded, updates)
    write(name, {"params": {"a": a, "gamma": gamma, "rank": rank}, "K": k, "d": d, "x": x.tolist(), "y": y,
                 "u": u.tolist(), "rounds": played_rounds})


def write(name, content):
    Path(__file__).with_name(f"{name}.json").write_text(json.dumps(content) + "\n")


folklore("folklore_sketch_K2", 2, 6, 60, 2, False, 1)
folklore("folklore_sketch_mean", 4, 8, 80, 3, False, 2)
folklore("folklore_sketch_least", 3, 7, 80, 2, True, 3)
ons("ons_sketch_unprojected", 3, 4, 60, 3, 2.0, False, 4)
ons("ons_sketch_projected", 3, 4, 60, 2, 3.0, True, 5)
soba("soba_sketch_gauss", 4, 5, 160, 3, 0.5, 0.4, 6)
soba("soba_sketch_adaptive_gauss", 3, 4, 200, 2, 1.0, None, 7)
