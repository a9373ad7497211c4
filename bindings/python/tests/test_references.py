"""References of an independent program: Python is held to what the other fronts are held to."""

import numpy as np
import pytest
from conftest import vector

from noregret import Learner

FOLKLORE = {"norm": "B", "radius": "R", "regularization": "lam", "curvature": "gamma"}
ONS = {"norm": "B", "radius": "R", "rate": "gam", "regularization": "eps", "projection": "project"}


@pytest.mark.parametrize(
    ("name", "learner", "words"),
    [("folklore_T60_d5_K4_safe", "folklore", FOLKLORE), ("ons_unprojected", "ons", ONS)],
)
def test_probabilities_are_those_of_the_reference(name, learner, words):
    reference = vector(name)
    given, data, expected = reference["params"], reference["data"], reference["expected"]
    values = {word: given[letter] for word, letter in words.items()}
    made = Learner(learner, features=given["d"], classes=given["K"], **values)
    run = made.run(np.array(data["x"]), np.array(data["y"]), probabilities=True)
    np.testing.assert_allclose(run.probabilities, expected["probs"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run.losses, expected["loss"], rtol=1e-9, atol=1e-9)
