"""Off-policy evaluation of logged decisions."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import _arrays, _core, _tables
from ._bandit import Bandit
from ._learner import Learner


class Estimate(NamedTuple):
    """An estimate of a policy's mean reward."""

    value: float
    """The estimate."""
    standard_error: float | None
    """Standard error of the value; None for `dm`, whose error is not that of a mean."""
    normal: tuple[float, float] | None
    """The normal interval, which is approximate; None for `dm`, and if too few rewards were observed for it."""
    sequence: tuple[float, float] | None
    """The confidence sequence: it holds for any number of rounds, at every time, and also if the logging policy learnt;
    only for `ips` and `dr`."""


class Stage(NamedTuple):
    """The estimated reward of a policy that has learnt so many rounds."""

    learnt: tuple[int, int]
    """The rounds that it had learnt, at the start and at the end."""
    reward: float
    """The estimate."""
    standard_error: float
    """Standard error of the estimate."""


class Learnt(NamedTuple):
    """What a policy that learns has earned meanwhile."""

    rounds: int
    """The rounds that it has learnt."""
    stages: list[Stage]
    """Its reward after 0 to 127 learnt rounds, 128 to 255, 256 to 511 and so on."""
    exploration: tuple[float, float]
    """What exploring has cost in a decision: the estimated reward of its best label minus its own, and the standard error."""


@dataclass(frozen=True)
class Evaluation:
    """The result of an off-policy evaluation."""

    estimates: dict[str, Estimate]
    """`ips` (inverse propensity), `snips` (self-normalised) and, where rewards are estimated, `dm` (direct method) and `dr`
    (doubly robust)."""
    rounds: int
    """Rounds that were evaluated."""
    decisions: int
    """Decisions in the log."""
    missing: int
    """Decisions without feedback."""
    not_offered: int
    """Rounds omitted because none of the policy's labels was on offer."""
    learnt_meanwhile: str | None
    """The name of the logging learner, if it learnt during the log: rounds are then not independent, as the intervals
    assume."""
    labels: int
    """Labels that can be played."""
    logged_reward: float
    """The mean reward of the logging policy."""
    logged_reward_standard_error: float
    """Standard error of the mean reward."""
    effective_sample_size: float
    """The number of rounds played by the policy itself that would be as informative."""
    mean_weight: float
    """The mean importance weight: 1 in expectation, if the logging policy plays every label of the policy."""
    mean_weight_standard_error: float
    """Standard error of the mean weight."""
    largest_weight: float
    """The largest importance weight."""
    model_error: tuple[float, float] | None
    """The mean of the estimated rewards of the played labels minus these rewards, with its standard error; None without
    estimates."""
    reward_model: str | None
    """The model of rewards that has forecast the log best so far; None if the log has the estimates, or there are none."""
    clipped: int
    """Number of rounds whose weight was clipped."""
    uncovered: float | None
    """The share of the policy's probability on labels that could not be played; None if unknown."""
    thin: bool
    """Whether the log plays the policy's labels so rarely that the normal intervals cannot be relied on."""
    bad_rows: int
    """Number of skipped lines of the log."""
    first_bad_row: str | None
    """The error of the first of them."""
    best_label: str | None
    """The label of the policy `best`."""
    learnt: Learnt | None
    """What a policy that learns has earned meanwhile."""
    warnings: list[str]
    """Warnings about the log or the weights, in sentences; read them before the estimates."""

    def __repr__(self) -> str:
        values = ", ".join(
            f"{name}={one.value:.6g}" + ("" if one.standard_error is None else f"+-{one.standard_error:.2g}")
            for name, one in self.estimates.items()
        )
        return f"Evaluation({values}, rounds={self.rounds}, warnings={len(self.warnings)})"

    def _repr_html_(self) -> str:
        tiles = [
            [name, f"{one.value:.6g}", "" if one.standard_error is None else f"± {one.standard_error:.2g}"]
            for name, one in self.estimates.items()
        ]
        tiles.append(["logged policy", f"{self.logged_reward:.6g}", f"± {self.logged_reward_standard_error:.2g}"])
        rows = [
            [name, f"{one.value:.6g}", *(_interval(i) for i in (one.sequence, one.normal))]
            for name, one in self.estimates.items()
        ]
        header = ["estimator", "reward", "interval", "normal (approximate)"]
        parts: list[dict[str, Any]] = [{"tiles": tiles}, {"table": {"header": header, "rows": rows}}]
        parts += [{"paragraph": warning} for warning in self.warnings]
        return _core.page("What the policy would have earned", f"{self.rounds} rounds", json.dumps(parts), "{}", True)


class Difference(NamedTuple):
    """The difference between the rewards of two policies, estimated on the same rounds."""

    estimator: str
    """`dr` if rewards were estimated, else `ips`."""
    rounds: int
    """Rounds to which both policies apply."""
    value: float
    """The mean difference; positive if the policy earns more than the first."""
    standard_error: float
    """Standard error of the value."""
    normal: tuple[float, float]
    """The normal (asymptotic) interval, widened by what the log cannot cover of the policies."""
    verdict: str
    """The verdict in words: better, worse, or undecided."""
    more_from: int | None = None
    """For a policy that learns, the rounds that it had learnt from which on it earned more than the first policy in every stage of
    its `learnt`; None if it did not in the last one."""


@dataclass(frozen=True)
class Comparison:
    """Several policies on one log."""

    evaluations: dict[str, Evaluation]
    """The evaluation of each policy, by name."""
    differences: dict[str, Difference]
    """The difference of each other policy to the first, by name."""

    def __repr__(self) -> str:
        return f"Comparison({', '.join(f'{name}: {one.verdict}' for name, one in self.differences.items())})"

    def _repr_html_(self) -> str:
        estimators = list(dict.fromkeys(name for found in self.evaluations.values() for name in found.estimates))
        rows = []
        for name, found in self.evaluations.items():
            rewards = [f"{found.estimates[one].value:.6g}" if one in found.estimates else "-" for one in estimators]
            rows.append([name, *rewards, self.differences[name].verdict if name in self.differences else "the first"])
        header = ["policy", *estimators, "difference to the first"]
        rounds = next(iter(self.evaluations.values())).rounds
        parts = [{"table": {"header": header, "rows": rows}}]
        return _core.page("What the policies would have earned", f"{rounds} rounds", json.dumps(parts), "{}", True)


def evaluate(
    log: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | Any,
    policy: Bandit | Learner | str | None = None,
    *,
    greedy: bool = False,
    clip: float | None = None,
    confidence: float = 0.95,
    missing: str = "skip",
    reward_learner: str | None = None,
    format: str | None = None,
    on_bad_row: str | int = "fail",
    most_waiting: int = 1_000_000,
    decision: str | None = None,
    probability: str | None = None,
    reward: str | None = None,
    offered: str | None = None,
    costs: tuple[float, float] | str | None = None,
    rewards: tuple[float, float] | str | None = None,
    text: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    time: Sequence[str] = (),
    drop: Sequence[str] = (),
    not_missing: Sequence[Any] = (),
) -> Evaluation:
    """Estimates the reward of `policy` from a decision log, with the same numbers as `noregret evaluate`.

    Parameters
    ----------
    log
        A file of `Bandit.log` or `noregret run --log`, of another program (see docs/how-to/bandit-feedback.md for the required keys), or
        Vowpal Wabbit text with `action:cost:probability`. It is read twice. Or the rows of a log in memory, as NDJSON has them: a list
        of dictionaries, also of Vowpal Wabbit's JSON and of its decision service, or a table; what is missing (None, NaN) is left out.
    policy
        A learner or a bandit; `uniform`, `logged`, `greedy` (the logging policy without exploration), `constant:LABEL`, `best` (the
        label that has earned most), `learner:NAME` (a learner that learns from every round of the log) or `alone:NAME` (only from
        those that it might have played itself); None for the distribution in each line's `evaluation`.
    greedy
        Whether a learner always plays the label with its best score.
    clip
        Importance weights are clipped at this value, which reduces variance and adds bias.
    confidence
        Confidence of the intervals, in (0, 1).
    missing
        Treatment of decisions without feedback: `skip`, or `wrong`.
    reward_learner
        The two-class learner that estimates rewards for `dm` and `dr` progressively, beside means of labels, from which it
        takes over as far as it forecasts better; or `none`. None: `folklore`, or `folklore-diag` for more than 64 features.
        `estimates` in the log take precedence.
    format
        `ndjson`, `parquet`, `vw`, `csv` or `arff`. None: recognised.
    on_bad_row
        `fail`, `skip`, or the number of invalid lines to skip.
    most_waiting
        Largest number of decisions without feedback; beyond it the oldest count as never answered.
    decision, probability, reward
        Column names of the played label, its probability and its reward in a log of another program: CSV,
        NDJSON, Parquet or ARFF.
        None: `label`, `probability` and `reward`.
    offered
        The column of the labels that were on offer in such a log: lists, or names separated by spaces. None: all labels
        were on offer.
    costs
        The least and the largest cost, if the column of the reward in such a log has costs: they become rewards from 1,
        for the least, to 0; or a text, as of `rewards`. None: rewards from 0 to 1.
    rewards
        The least and the largest reward that may come in such a log, such as `(0, 15)`: these become 0 and 1, estimates are shares
        of this range, and confidence sequences hold whatever comes. With the text `"0..15:clip"` a reward outside counts as the
        nearest end: estimates are then those of the clipped rewards, and a warning says how many were clipped. None: rewards as
        they are, and if some are beyond 0 to 1, a warning says which range was seen.
    text, categorical, numeric, time, drop
        The columns of such a log that are read so, or left out, as in `Bandit`. A time of day, which says when a decision was
        written, is left out unless `time` names it.
    not_missing
        Labels in such a log that are no missing ones, although words such as NA usually mean that.

    Raises
    ------
    OSError
        If the log cannot be read.
    ValueError
        For an invalid line, with its number, and for a policy that cannot be evaluated on the log.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import noregret
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.ndjson"
    >>> bandit = noregret.Bandit("banditron", features=1, classes=2, exploration=0.5)
    >>> with bandit.log(path):
    ...     for at in range(2000):
    ...         decision = bandit.decide([at % 2 - 0.5])
    ...         bandit.feedback(decision.id, decision.label == at % 2)
    >>> found = noregret.evaluate(path, "constant:0")
    >>> abs(found.estimates["dr"].value - 0.5) < 0.05, found.warnings
    (True, [])
    """
    found = compare_policies(
        log, {"": policy}, greedy=greedy, clip=clip, confidence=confidence, missing=missing, reward_learner=reward_learner,
        format=format, on_bad_row=on_bad_row, most_waiting=most_waiting, decision=decision, probability=probability, reward=reward,
        offered=offered, costs=costs, rewards=rewards, text=text, categorical=categorical, numeric=numeric, time=time, drop=drop,
        not_missing=not_missing,
    )
    return found.evaluations[""]


def compare_policies(
    log: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | Any,
    policies: Mapping[str, Bandit | Learner | str | None],
    *,
    greedy: bool = False,
    clip: float | None = None,
    confidence: float = 0.95,
    missing: str = "skip",
    reward_learner: str | None = None,
    format: str | None = None,
    on_bad_row: str | int = "fail",
    most_waiting: int = 1_000_000,
    decision: str | None = None,
    probability: str | None = None,
    reward: str | None = None,
    offered: str | None = None,
    costs: tuple[float, float] | str | None = None,
    rewards: tuple[float, float] | str | None = None,
    text: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    time: Sequence[str] = (),
    drop: Sequence[str] = (),
    not_missing: Sequence[Any] = (),
) -> Comparison:
    """Estimates the rewards of several policies from a decision log, as `noregret evaluate` does.

    Parameters
    ----------
    policies
        The policies by name, each as in `evaluate`; all are compared with the first.

    The other parameters and the exceptions are those of `evaluate`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import noregret
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.ndjson"
    >>> bandit = noregret.Bandit("banditron", features=1, classes=2, exploration=0.5)
    >>> with bandit.log(path):
    ...     for at in range(2000):
    ...         decision = bandit.decide([at % 2 - 0.5])
    ...         bandit.feedback(decision.id, decision.label == at % 2)
    >>> found = noregret.compare_policies(path, {"first": "constant:0", "as it was": "logged"})
    >>> found.differences["as it was"].verdict[:9], found.evaluations["first"].rounds
    ('better by', 2000)
    """
    if not isinstance(policies, Mapping):
        raise TypeError(f"policies is {policies!r}; a dictionary of names and policies was needed")
    if not policies:
        raise ValueError("there are no policies; one is needed at least")
    for policy in policies.values():
        if not isinstance(policy, Bandit | Learner | str | None):
            raise TypeError(f"policy is {policy!r}; a Bandit, a Learner, a text such as 'uniform', or None was needed (evaluate_arrays takes probabilities)")
    if missing not in ("skip", "wrong"):
        raise ValueError(f"missing = {missing}: must be skip or wrong")
    told = _tables.reading(text=text, categorical=categorical, numeric=numeric, time=time, drop=drop)
    with _as_file(log) as path:
        found = json.loads(
            _core.evaluate_log(
                path,
                [policy._core if isinstance(policy, Bandit | Learner) else policy for policy in policies.values()],
                greedy=greedy,
                clip=clip,
                confidence=confidence,
                missing_is_wrong=missing == "wrong",
                reward_learner=reward_learner,
                format=format,
                on_bad_row=str(on_bad_row),
                most_waiting=most_waiting,
                columns=(decision, probability, reward, offered),
                costs=costs,
                rewards=rewards,
                roles=[told[role] for role in _tables.ROLES],
                not_missing=_tables.words("not_missing", not_missing),
                rows=path is not log,
            )
        )
    names = list(policies)
    differences = {
        name: Difference(
            one["estimator"], one["rounds"], one["value"], one["standard_error"], tuple(one["normal"]), one["verdict"], one.get("more_from")
        )
        for name, one in zip(names[1:], found["differences"], strict=True)
    }
    return Comparison(dict(zip(names, map(_evaluation, found["evaluations"]), strict=True)), differences)


def evaluate_arrays(
    labels: Any,
    rewards: Any,
    probabilities: Any,
    policy: Any,
    *,
    estimates: Any = None,
    position: Any = None,
    clip: float | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Estimates the reward of a policy from logged rounds in arrays. The estimates are those of Open Bandit Pipeline.

    Parameters
    ----------
    labels
        The played labels, from 0, shape (rounds,).
    rewards
        Their rewards, shape (rounds,).
    probabilities
        The probabilities in (0, 1] of the played labels, shape (rounds,); or the whole distributions, shape (rounds,
        labels), which allow more checks: see `Evaluation.warnings`.
    policy
        The distributions of the policy to evaluate, shape (rounds, labels), or (rounds, labels, positions) as Open Bandit
        Pipeline's `action_dist`.
    estimates
        Estimated rewards of all labels, in the shape of `policy`, for `dm` and `dr`. An estimate for a round must not depend
        on that round's own reward.
    position
        The position, from 0, at which each label was played, shape (rounds,), if there are several.
    clip, confidence
        As in `evaluate`.

    Raises
    ------
    ValueError
        For shapes that do not match, and for an invalid round, with its number from 0.
    TypeError
        For anything but real numbers.

    Examples
    --------
    >>> import noregret
    >>> policy = [[0.5, 0.5], [0.75, 0.25]]
    >>> found = noregret.evaluate_arrays([0, 1], [1, 0], [0.25, 0.5], policy, estimates=[[0.6, 0.2], [0.6, 0.2]])
    >>> {name: round(estimate.value, 12) for name, estimate in found.estimates.items()}
    {'ips': 1.0, 'snips': 0.8, 'dm': 0.45, 'dr': 0.8}
    """
    _tables.check_index(labels, of="labels", rewards=rewards, probabilities=probabilities, policy=policy, estimates=estimates, position=position)
    p = _array(probabilities, "probabilities", (1, 2))
    places = None if position is None else _labels(position, "position")
    return _evaluation(
        json.loads(_core.evaluate_arrays(
            _labels(labels),
            _array(rewards, "rewards", (1,)),
            p,
            _played_at(places, policy, "policy"),
            None if estimates is None else _played_at(places, estimates, "estimates"),
            clip,
            confidence,
        ))
    )


@contextlib.contextmanager
def _as_file(log: Any) -> Iterator[str | os.PathLike[str]]:
    """The path of a log; rows in memory are written to a file that is removed afterwards."""
    if isinstance(log, str | os.PathLike):
        yield log
        return
    rows = log.to_dict("records") if hasattr(log, "iloc") and hasattr(log, "columns") else log
    rows = rows.to_dicts() if hasattr(rows, "to_dicts") else rows.to_pylist() if hasattr(rows, "to_pylist") else rows
    if not isinstance(rows, Sequence) or isinstance(rows, bytes):
        raise TypeError(f"log is a {type(log).__name__}; the path of a file, a list of dictionaries or a table was needed (evaluate_arrays takes arrays)")
    other = next((at for at, row in enumerate(rows) if not isinstance(row, Mapping)), None)
    if other is not None:
        raise TypeError(f"log[{other}] is a {type(rows[other]).__name__}; a dictionary was needed, a row of the log")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.ndjson")
        with open(path, "w", encoding="utf-8") as file:
            for row in rows:
                given = {name: value for name, value in row.items() if not _arrays.is_missing(value)}
                file.write(json.dumps(given, default=_plain) + "\n")
        yield path


def _plain(value: Any) -> Any:
    """A value of numpy, a decimal number, a time or a duration as JSON has it."""
    if isinstance(value, np.datetime64):
        return _tables.time_text(value)
    if isinstance(value, np.timedelta64):
        value = value.astype("m8[us]").item()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"a row of the log has {value!r}; texts, numbers, truth values, lists and dictionaries were needed")


def _interval(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"{interval[0]:.4g} to {interval[1]:.4g}"


def _array(x: Any, name: str, axes: tuple[int, ...]) -> Any:
    array = np.ascontiguousarray(_arrays.numbers(x, name), dtype=np.float64)
    if array.ndim not in axes:
        raise ValueError(f"{name} has {array.ndim} axes; {' or '.join(map(str, axes))} needed")
    return array


def _played_at(places: Any, x: Any, name: str) -> Any:
    """Numbers of shape (rounds, labels): of several positions, those of the position at which each label was played."""
    if np.ndim(x) != 3:
        if places is not None and places.any():
            raise ValueError(f"{name} has one position, and position has others: the shape (rounds, labels, positions) was needed")
        if np.ndim(x) == 1 and name == "policy":
            raise ValueError("policy has 1 axis; the shape (rounds, labels) was needed: if it has the label of each round, np.eye(K)[policy] for K labels")
        return _array(x, name, (2,))
    array = _array(x, name, (3,))
    positions = array.shape[2]
    if places is None:
        if positions != 1:
            raise ValueError(f"{name} has {positions} positions; position, that of each played label, was needed")
        places = np.zeros(len(array), dtype=np.int64)
    if len(places) != len(array):
        raise ValueError(f"position has {len(places)} rounds; {name} has {len(array)}")
    wrong = np.flatnonzero((places < 0) | (places >= positions))
    if wrong.size:
        raise ValueError(f"position[{wrong[0]}] = {places[wrong[0]]}: must be from 0 to {positions - 1}")
    return np.ascontiguousarray(array[np.arange(len(array)), :, places])


def _labels(labels: Any, name: str = "labels") -> Any:
    text = next((label for label in labels if isinstance(label, str)), None) if np.ndim(labels) == 1 else None
    if text is not None:
        raise TypeError(f"{name} has {text!r}; whole numbers from 0 were needed, the places of the policy's columns")
    array = _array(labels, name, (1,))
    wrong = np.flatnonzero(array != np.rint(array))
    if wrong.size:
        raise ValueError(f"{name}[{wrong[0]}] = {array[wrong[0]]}: must be a whole number from 0")
    return array.astype(np.int64)


def _evaluation(found: dict[str, Any]) -> Evaluation:
    estimates = {
        one["estimator"]: Estimate(
            one["value"],
            one.get("standard_error"),
            tuple(one["normal"]) if "normal" in one else None,
            tuple(one["sequence"]) if "sequence" in one else None,
        )
        for one in found.pop("estimates")
    }
    if "model_error" in found:
        found["model_error"] = tuple(found["model_error"])
    if "learnt" in found:
        learnt = found["learnt"]
        stages = [Stage((one["from"], one["to"]), one["reward"], one["standard_error"]) for one in learnt["stages"]]
        found["learnt"] = Learnt(learnt["rounds"], stages, tuple(learnt["exploration"]))
    absent = {"best_label": None, "learnt": None, "uncovered": None, "first_bad_row": None, "learnt_meanwhile": None, "thin": False, "model_error": None,
        "reward_model": None}
    return Evaluation(estimates=estimates, **{**absent, **found})
