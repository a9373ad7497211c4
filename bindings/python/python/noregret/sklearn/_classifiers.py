"""The classifiers, one for each useful learner."""

from __future__ import annotations

from .. import _core
from .._classes import classifier, parameters, publish
from .._kinds import KINDS, Entry
from .._tried import PRACTICAL
from ._base import Classifier
from ._weighted import WeightedClassifier

_SHARED = """\
passes : int, default=1
    How often `fit` learns every row. The learner's guarantee is about one pass.
orders : int, default=None
    Number of learners that `fit` makes, each with its own random order of the rows; their forecasts are averaged, probabilities
    geometrically. None: 1, except for `auto` with at most 500 rows, where all orders together have up to 1000 rows, and
    there are at most 4.
scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"
    How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5
    deviations (but columns of 0 and 1 alone as they are). `auto` is `standard` for dense data of at most 1024 columns, else `maxabs`;
    in tables with texts, times or missing numbers a missing one is then the mean of its column.
fit_intercept : bool, default=True
    Whether a feature that is always 1 is added.
radius : float, default=None
    Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in
    `partial_fit` what `scale` guarantees.
random_state : int, RandomState instance or None, default=0
    Decides the order of rows in `fit` and the learner's own randomness.
n_jobs : int, default=None
    Number of threads for the members of `auto` and for large matrix products: None is 1, -1 all processors. Results are
    bit-equal for all numbers.
text, categorical, numeric, time, drop : list of str, default=None
    Columns of tables that hold free text, categories, numbers, times, or are left out, whatever they look like.
missing, not_missing : list of str, default=None
    Words that count as missing in tables besides NA, NaN, NULL, None, ? and the like, and words that are values.
memory : int, default=8192
    Most memory that the learner's state may take, in MiB.
"""

_WEIGHTS = """\
class_weight : dict or "balanced", default=None
    Weights of the classes, 1 for those that are not in it; "balanced" weighs each by the inverse of how often it comes. They
    multiply `sample_weight`. In `fit` only their proportions count: the weights of all rows add up to what they did before.
    `partial_fit` takes a dictionary as it stands.
"""

_ATTRIBUTES = """\
Attributes
----------
classes_ : array of shape (n_classes,)
n_features_in_ : int
n_rounds_ : int
    Rounds learnt.
params_ : dict
    The learner's parameters in use.
learner_ : noregret.Learner
    The learner underneath, to save, merge or certify.
"""


def made(entry: Entry, reach: float | None) -> type[Classifier]:
    """The classifier of a learner; `reach` is that of `noregret._tried`."""
    notes = []
    if entry["classes"] == "two":
        notes.append("For two classes only.")
    notes.append(
        "A table with texts, categories, times or missing values is read as `noregret run` reads the same CSV file."
    )
    if not entry["weights"]:
        notes.append("It takes no weights: there is neither `sample_weight` nor `class_weight`.")
    if entry["forecast"] != "probabilities":
        ways = _probable(entry)
        notes.append(f"It forecasts labels, not probabilities: there is no `predict_proba`{ways and f' except with {ways}'}.")
    return classifier(
        entry,
        WeightedClassifier if entry["weights"] else Classifier,
        __name__,
        "Classifier",
        shared=_SHARED.replace("\nrandom_state", f"\n{_WEIGHTS}random_state", 1) if entry["weights"] else _SHARED,
        note=" ".join(notes),
        end=_ATTRIBUTES,
        reach=reach,
    )


def _probable(entry: Entry) -> str:
    """The parameter values with which a learner of labels forecasts probabilities."""
    ways = []
    for param in parameters(entry):
        for word in param["words"] if param["kind"] == "words" else []:
            if _core.Learner(entry["name"], 2, 2, {param["name"]: word}, radius=1.0).forecast == "probabilities":
                ways.append(f'`{param["name"]}="{word}"`')
    return " or ".join(filter(None, [", ".join(ways[:-1]), *ways[-1:]]))


__all__ = publish((made(KINDS[name], reach) for name, reach in PRACTICAL.items()), globals())
