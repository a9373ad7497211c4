"""The classifiers, one for each useful learner that can add classes and features."""

from __future__ import annotations

from .._classes import camel, classifier, publish
from .._kinds import KINDS, Entry
from .._tried import KEEPING, PRACTICAL, STREAMING
from ._base import Classifier, WeightedClassifier

_SHARED = """\
scale : str
    How features are scaled while rows come in: `auto` (`unit` if the first row is a Counter, as `BagOfWords` makes them, else
    `standard`), `none`, `unit` (rows of norm 1), `maxabs`, or `standard`
    (mean 0, deviation 1, within 5 deviations; a feature of zeros and ones is left as it is; a row takes time in
    proportion to all features, so choose another for thousands of features).
intercept : bool
    Whether a feature that is always 1 is added.
radius : float
    Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` guarantees for as
    many features as the first row has; without scaling the square root of their number.
seed : int
    Seed of the learner's own randomness.
missing, not_missing : sequence
    Words (or numbers, such as -999) that count as missing in features and labels, besides NA, NaN, NULL, None, ? and the like for
    labels; and words that are classes like all others.
memory : int
    Most memory that the learner's state may take, in MiB.
"""

_EXAMPLES = """\
Examples
--------
>>> from river import datasets, evaluate, metrics
>>> from noregret.river import NAME
>>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), NAME(), metrics.Accuracy())
>>> metric.get() > 0.7
True
"""


_WEIGHTS = """\
class_weight : dict
    Importance of classes; 1 for those that are not in it.
"""


def made(entry: Entry, reach: float | None) -> type[Classifier]:
    """The classifier of a learner; `reach` is that of `noregret._tried`."""
    notes = []
    if entry["name"] in KEEPING:
        notes.append("It keeps its rows: memory and time grow with the stream.")
    if entry["classes"] == "two":
        notes.append("For two classes only.")
    if entry["forecast"] != "probabilities":
        notes.append(
            "It forecasts labels: `predict_proba_one` has the probabilities with which it plays each, which are no forecasts "
            "of the truth."
        )
    return classifier(
        entry,
        WeightedClassifier if entry["weights"] else Classifier,
        __name__,
        shared=_SHARED.replace("\nmissing", f"\n{_WEIGHTS}missing", 1) if entry["weights"] else _SHARED,
        note=" ".join(notes),
        end=_EXAMPLES.replace("NAME", camel(entry["name"])),
        reach=reach,
    )


__all__ = publish((made(KINDS[name], PRACTICAL[name]) for name in STREAMING), globals())
