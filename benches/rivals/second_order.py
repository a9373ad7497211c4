"""FOLKLORE as one would write it in NumPy: the dense inverse of the full Kd x Kd matrix, BLAS underneath.

Its predictions equal noregret's up to rounding (`python3 second_order.py` checks this against the command line). It is the
reference for the speed of the blocked engine.
"""

import math

import numpy as np
from scipy.linalg import solve_triangular


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


class Folklore:
    """Algorithm 1 of Agarwal, Kale and Zimmert with the corrected curvature; K classes, d features."""

    def __init__(self, classes, features, norm, radius):
        self.classes, self.features = classes, features
        size = classes * features
        self.curvature = 1 / (2 + 2 * norm * radius + math.log(classes - 1))
        self.inverse = np.eye(size) * (norm / (2 * radius))
        self.gradient = np.zeros(size)

    def round(self, x, y):
        """Predicts, then learns the label; returns the probabilities."""
        K, d = self.classes, self.features
        columns = (self.inverse.reshape(-1, d) @ x).reshape(K * d, K)
        N = np.tensordot(x, columns.reshape(K, d, K), (0, 1))
        z = self.fixed_point(-0.5 * (columns.T @ self.gradient) + 0.25 * np.diag(N), 0.5 * N)
        p = softmax(z)

        # S = diag(p) - pp' = CC'; Woodbury, through the Cholesky factor of I + curvature C'NC.
        C = np.diag(np.sqrt(p)) - np.outer(p, np.sqrt(p))
        L = np.linalg.cholesky(np.eye(K) + self.curvature * (C.T @ N @ C))
        F = math.sqrt(self.curvature) * solve_triangular(L, (columns @ C).T, lower=True)
        self.inverse -= F.T @ F
        step = p - 2 * self.curvature * (p * z - p * (p @ z))
        step[y] -= 1
        self.gradient += np.outer(step, x).ravel()
        return p

    def fixed_point(self, g, A):
        """z = g - A softmax(z), by Newton with step halving."""
        z = g - A @ np.full(self.classes, 1 / self.classes)
        residual = z - g + A @ softmax(z)
        for _ in range(50):
            size = np.abs(residual).max()
            if size <= 1e-13 * (1 + np.abs(z).max()):
                break
            p = softmax(z)
            step = np.linalg.solve(np.eye(self.classes) + A * p - np.outer(A @ p, p), residual)
            rate = 1.0
            while True:
                trial = z - rate * step
                residual = trial - g + A @ softmax(trial)
                if np.abs(residual).max() < size or rate < 1e-4:
                    break
                rate /= 2
            z = trial
        return z


def check():
    """Compares with the command line on the same rows."""
    import json
    import subprocess

    from contestants import NOREGRET

    rng = np.random.default_rng(1)
    rows = [(rng.standard_normal(5) / 3, int(rng.integers(4))) for _ in range(200)]
    text = "\n".join(json.dumps({"x": x.tolist(), "y": y}) for x, y in rows)
    sets = [word for pair in ("classes=4", "features=5", "norm=3", "radius=1") for word in ("--set", pair)]
    out = subprocess.run([NOREGRET, "trace", "--learner", "folklore", *sets], input=text, capture_output=True, text=True, check=True)
    model = Folklore(4, 5, norm=3, radius=1)
    worst = max(
        np.abs(model.round(x, y) - np.array(json.loads(line)["p"])).max()
        for (x, y), line in zip(rows, out.stdout.splitlines(), strict=True)
    )
    assert worst < 1e-9, f"NumPy's FOLKLORE differs from noregret's by {worst}"
    print(f"200 rounds agree to {worst:.1e}")


if __name__ == "__main__":
    check()
