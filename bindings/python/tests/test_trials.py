"""Trials of Ray Tune, in this process."""

import functools
import shutil

import numpy as np
import pytest
from conftest import stream

from noregret import Learner

tune = pytest.importorskip("ray.tune", reason="Ray is not installed: pip install 'noregret[ray]'")

from noregret.ray import trainable  # noqa: E402


class Saved:
    """A checkpoint."""

    def __init__(self, folder):
        self.folder = folder

    def as_directory(self):
        return self

    def __enter__(self):
        return self.folder

    def __exit__(self, *_):
        pass


class Stopped(Exception):
    """The trial was interrupted."""


def trial(monkeypatch, tmp_path, reports, *rows, **asked):
    """The metrics of a trial that is interrupted after so many reports, again and again."""
    told, last = [], tmp_path / "last"

    def report(metrics, checkpoint):
        told.append(metrics)
        shutil.rmtree(last, ignore_errors=True)
        shutil.copytree(checkpoint.path, last)
        if len(told) % reports == 0:
            raise Stopped

    monkeypatch.setattr(tune, "with_parameters", functools.partial)
    monkeypatch.setattr(tune, "report", report)
    monkeypatch.setattr(tune, "get_checkpoint", lambda: Saved(last) if last.exists() else None)
    train = trainable(*rows, **asked)
    while True:
        try:
            train({})
        except Stopped:
            continue
        return told, Learner.load(last / "model.safetensors")


@pytest.mark.parametrize("reports", [1, 2, 100])
def test_a_trial_with_missing_labels_goes_on_where_it_was(reports, monkeypatch, tmp_path):
    """Rows without a label are no rounds: rows were learnt twice. If the first rows had none, the trial failed."""
    x, y = stream(200, 3, 3)
    labels = [None if at < 50 or at % 3 == 0 else f"class {label}" for at, label in enumerate(y)]
    told, learner = trial(monkeypatch, tmp_path, reports, x, labels, learner="ogd", report_every=40)
    alone = Learner("ogd", features=3, labels=["class 0", "class 1", "class 2"])
    run = alone.run(x, labels)
    assert learner.rounds == alone.rounds and told[-1]["rounds"] == run.rates["rounds"]
    np.testing.assert_array_equal(learner.scores(x), alone.scores(x))
    assert told[-1]["error_rate"] == pytest.approx(run.error_rate, rel=1e-12) and len(told) == 4


def test_a_trial_forecasts_numbers(monkeypatch, tmp_path):
    x, _ = stream(80, 2, 2)
    told, learner = trial(monkeypatch, tmp_path, 100, x, x[:, 0] * 3, learner="vaw", report_every=40)
    assert told[-1]["rounds"] == 80 and told[-1]["squared_loss"] < 1 and type(learner.predict(x[0])) is float
