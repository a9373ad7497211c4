"""Learners with bandit feedback."""

from __future__ import annotations

import decimal
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _arrays, _core, _offers, _tables, _targets
from ._arrays import Floats
from ._decisions import Decision, DecisionLog, shares
from ._explain import Explanation
from ._kinds import KINDS, check_facts, check_scale, number, number_of_classes, pair, whole
from ._offers import named
from ._rounds import Rounds, apart
from ._run import Run, as_array

_B = TypeVar("_B", bound="Bandit")


class Bandit(Rounds):
    """A learner with bandit feedback, by its name (see `noregret.catalogue`): it plays a label and learns from the feedback
    for it.

    Without `features` it is made by the first rows, with the scaling and the intercept of the command line. If the first call is
    `run` or `learn`, its rows determine columns, labels and the largest norm as in `noregret run --feedback bandit`. If it is
    `decide`, the labels must be given: a list of numbers determines the number of columns, and features by name get
    columns as they come, up to 64 unless `features` says more. A missing number (None, NaN) is the mean of its column so far, if
    columns are standardised (the default for at most 1,024 columns) and their numbers are far from 0, and else 0. Without
    `features`, a feature that says where the number is missing is added; with `features`, give a column that is 1 there.

    Parameters
    ----------
    name, classes, radius, horizon, scale, intercept, sparse, labels, memory, **params
        As in `noregret.Learner`.
    features
        Number of columns of a row, or the most features for rows by name; 0 for rounds without a context.
        None: determined by the first rows. `Bandit("offers")` without it knows labels by features of their own, hashed into
        `width` columns (4096) for each label, numbers scaled unless `scale` is `none`; `classes` (50): most labels on offer.
    seed
        Seed of the played labels and of the learner's randomness.
    text, categorical, numeric, time, drop, missing, not_missing
        As in `noregret.Learner`, for tables.
    most_waiting
        Largest number of decisions without feedback; beyond it the oldest is discarded.
    exploration_floor
        Least probability of every label, from 0 to 1 / classes, by additional uniform draws. With one above 0, any policy can
        be evaluated from the log.
    costs
        What labels may cost: a pair `(least, most)`, or a text such as `"0..10"`, as of `noregret run --costs`. The
        least cost is the reward 1, the largest is 0. With `"0..10:clip"` a cost outside counts as the nearest end.

    Raises
    ------
    TypeError
        For an unknown parameter.
    ValueError
        For an unknown learner, one that needs the label of every row, or an invalid value.
    MemoryError
        If the state would exceed `memory`.

    Examples
    --------
    >>> from noregret import Bandit
    >>> bandit = Bandit("soba", classes=3, features=2, exploration=0.1, seed=1)
    >>> first = bandit.decide([1.0, 0.0])
    >>> second = bandit.decide([0.0, 1.0])
    >>> bandit.feedback(second.id, correct=True)
    >>> bandit.feedback(first.id, correct=first.label == 0)
    >>> bandit.rounds, bandit.waiting
    (2, [])

    Rows by name, with texts, categories and missing values, sized by the data:

    >>> shop = Bandit("auto", labels=["banner", "coupon"], seed=1)
    >>> decision = shop.decide({"hour": 9, "device": "phone", "age": None})
    >>> shop.feedback(decision.id, reward=0.3)
    >>> shop.predict({"hour": 9, "device": "phone"}) in shop.labels
    True

    Labels that come and go, with features of their own and costs from 0 to 10:

    >>> articles = Bandit("offers", width=256, costs=(0, 10))
    >>> news = {"a17": {"topic": "sports"}, "b3": {"topic": "music", "words": 300}}
    >>> decision = articles.decide({"user": {"likes": "music"}}, news)
    >>> articles.feedback(decision.id, cost=2.5)
    >>> decision.label in news, articles.rounds
    (True, 1)
    """

    __slots__ = ()
    _compiled = _core.Bandit

    def __init__(
        self,
        name: str = "auto",
        *,
        features: int | None = None,
        classes: int | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        scale: str | None = None,
        intercept: bool | None = None,
        sparse: bool = False,
        labels: Sequence[Any] | None = None,
        text: Sequence[str] = (),
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        time: Sequence[str] = (),
        drop: Sequence[str] = (),
        missing: Sequence[Any] = (),
        not_missing: Sequence[Any] = (),
        memory: int = 8192,
        most_waiting: int = 1_000_000,
        exploration_floor: float = 0.0,
        costs: tuple[float, float] | str | None = None,
        **params: float | int | str | bool | None,
    ) -> None:
        check_facts(features=features, classes=classes, horizon=horizon, radius=radius, intercept=intercept, sparse=sparse, seed=seed, memory=memory)
        whole(most_waiting=most_waiting)
        number(exploration_floor=exploration_floor)
        self._given = {} if labels is None else named(labels)
        names = None if labels is None else list(self._given)
        self._held = self._index = self._frame = None
        playing: dict[str, Any] = {
            "most_waiting": most_waiting,
            "exploration_floor": exploration_floor,
            "costs": costs if costs is None or isinstance(costs, str) else pair(costs),
        }
        facts: dict[str, Any] = {"radius": radius, "horizon": horizon, "seed": seed, "labels": names, "memory": memory}
        roles = _tables.reading(
            text=text, categorical=categorical, numeric=numeric, time=time, drop=drop, missing=missing, not_missing=not_missing
        )
        if features is None and not KINDS.get(name, {}).get("blocks"):
            # Checks names and parameters before there are rows.
            _core.check(name, params)
            check_scale(scale)
            given = intercept is None or bool(intercept)
            facts |= {"name": name, "classes": classes, "scale": scale, "intercept": given}
            self._asked = {"facts": facts, "params": params, "playing": playing, "roles": roles}
            return
        _tables.without_tables(roles)
        self._asked, block = {}, None
        if features is None:
            if names is not None or scale not in (None, "none", "mixed") or intercept:
                raise TypeError(
                    "labels, intercept and scale, unless it is none or mixed, have no meaning for labels on offer with"
                    " features of their own"
                )
            scale = scale or "mixed"
            width = params["width"] if params.get("width") is not None else _core.OFFERED_WIDTH
            if isinstance(width, bool) or not isinstance(width, (int, np.integer)) or not 0 < width < 1 << 20:
                raise ValueError(f"width = {width!r}: must be a whole number from 1 to {(1 << 20) - 1}")
            classes = _core.OFFERED if classes is None else classes
            block, features = int(width), classes * int(width)
        count, sparse = number_of_classes(name, classes, names), sparse or block is not None
        # Without a context there is the intercept.
        facts |= {"sparse": sparse, "scale": scale or "none", "intercept": bool(intercept) or features == 0}
        self._take(_core.Bandit(name, count, features, params, block=block, **facts, **playing), params)

    @property
    def waiting(self) -> list[int | str]:
        """Ids of the decisions without feedback, the oldest first. They are whole numbers, except for other ids in a
        replayed log."""
        return [int(id) if id.isdecimal() and str(int(id)) == id else id for id in self._core.waiting]

    @property
    def costs(self) -> tuple[float, float]:
        """What labels may cost: from the reward 1 to the reward 0."""
        return self._core.costs

    @property
    def clipped_costs(self) -> int:
        """Number of costs outside of `costs` that counted as the nearest end, where the range clips (`0..120:clip`), since the
        bandit was made or loaded."""
        return self._core.clipped_costs

    def decide(self, x: Any = None, labels: Any = None) -> Decision:
        """Plays a label for the row `x`.

        Parameters
        ----------
        x
            The numbers of the row, shape (features,); or its columns by name: a dictionary (with dictionaries and lists in
            it), or a row of a table; None for a round without a context. For labels on offer with features of their own: the features of the
            round, a dictionary whose members are numbers, texts (categories), lists and dictionaries (columns by path,
            `user.age`), or a list of numbers.
        labels
            The labels on offer: only one of these is played. A list of labels of the bandit; None for all. `Bandit("offers")`
            needs a dictionary of labels and their features, which are like those of `x`, or a list of labels without
            features; labels that were never seen are played at once.

        The decision is pending until `feedback` or `forget` is called with its id. Raises ValueError or TypeError for
        an invalid row, invalid labels, and for some of the labels where the learner can only play all; then no label is
        played. Raises OSError if the decision cannot be logged.
        """
        if self._held is None and hasattr(x, "iloc") and not hasattr(x, "columns"):
            x = _tables.by_index(x)
        elif self._held is None or self._core.block is None:
            x = self._as_row(x, self._held is not None and self._core.named)
            x = _tables.by_name(_tables.one(x if self._held is None else self._of_texts(x)))
        if self._held is None:
            self._start(x, labels)
        given, row = self._round(x, labels, learns=True)
        label, name, probability, id = self._core.decide(row)
        if given is not None:
            return Decision(given[label], probability, id)
        return Decision(self._given.get(str(label), label) if name is None else self._given.get(name, name), probability, id)

    @classmethod
    def merge(cls: type[_B], bandits: Iterable[Bandit], how: str = "sum-all") -> _B:
        """Merges `bandits`, trained on parts of the data, by adding what they have learnt. `soba`, `soba-diag` and
        `soba-sketch` can be merged.

        Parameters
        ----------
        bandits
            Bandits of one kind with equal parameters, without pending decisions; at least one. The generator of
            labels and the exploration floor are those of the first.
        how
            `sum-all` adds the regularisers of all of them, `lambda-once` counts it once.

        Raises ValueError if they do not match, cannot be merged, or have pending decisions.
        """
        parts = cls._parts(bandits)
        bandit = cls._wrap(_core.Bandit.merge([part._core for part in parts], how))._placed(*parts)
        bandit._given = {}
        for part in reversed(parts):
            _targets.check_types(part._given.values(), bandit._given)
            bandit._given.update(part._given)
        return bandit

    def _round(self, x: Any, labels: Any, learns: bool) -> tuple[list[Any] | None, Any]:
        """The labels as given, if they are called by their position, and the round for the compiled part."""
        if self._core.block is None:
            if isinstance(labels, Mapping):
                raise TypeError("the bandit has fixed labels; labels with features of their own need Bandit('offers') without features")
            return None, (self._one(x, learns), self._offered(labels))
        if labels is None:
            raise TypeError("labels: the labels on offer must be given, with their features")
        given, offered = _offers.on_offer(labels)
        return given, (_offers.described(x, "x"), offered)

    def _as_given(self, labels: Any) -> list[Any]:
        """The labels on offer, which the bandit has, as `decide` names them."""
        known = dict(zip(self._core.labels, self._labels_out().tolist(), strict=True))
        return [known[name] for name in self._offered(labels) or ()]

    def _offered(self, labels: Any) -> list[str] | None:
        """The names of the labels on offer, which the bandit has."""
        if labels is None:
            return None
        offered = _targets.known_as(map(_place, _offers.names(labels)) if not self._given else _offers.names(labels), self._given.values())
        names = _targets.names_as(offered, self._given)
        for name in names:
            if name not in self._names():
                known = self._core.labels
                more = f" and {len(known) - 10} more" if len(known) > 10 else ""
                raise ValueError(f'the label "{name}" is none of the bandit\'s; its labels are {", ".join(known[:10])}{more}')
        _targets.check_types(offered, self._given or {name: int(name) for name in names})
        return names

    def feedback(
        self, id: int | str, correct: bool | None = None, *, reward: float | None = None, cost: float | None = None
    ) -> None:
        """Learns from the feedback for decision `id`, which may be late and out of order.

        Parameters
        ----------
        correct
            Whether the label was right: True or False; other types are rejected.
        reward
            Instead of `correct`: a number from 0 (wrong) to 1 (right), for learners that learn from rewards: `auto`,
            `squarecb`, `fastcb`, `relative-gaps` and `offers`.
        cost
            Instead of both: a number in the range `costs` of the bandit, for the same learners.

        Raises TypeError or ValueError for invalid values, KeyError if no decision with this id is pending, OSError if
        the feedback cannot be logged; then nothing is learnt.
        """
        if isinstance(id, Decision):
            raise TypeError("id is a Decision; its id was needed: decision.id")
        if isinstance(id, float | np.floating) and float(id).is_integer():
            id = int(id)  # A column of ids with a missing one is real in pandas.
        if sum(given is not None for given in (correct, reward, cost)) != 1:
            raise TypeError("either correct, True or False, or reward, from 0 to 1, or cost was needed; forget(id) is for decisions that nobody will answer")
        if cost is not None:
            if not _is_number(cost):
                raise TypeError(f"cost = {cost!r}: must be a number from {self.costs[0]:g} to {self.costs[1]:g}")
            return self._core.feedback_cost(str(id), _arrays.real(cost))
        if reward is None:
            if not isinstance(correct, (bool, np.bool_)):
                raise TypeError(f"correct = {correct!r}: must be True or False; for a number from 0 to 1 there is reward=")
            reward = float(correct)
        elif not _is_number(reward):
            raise TypeError(f"reward = {reward!r}: must be a number from 0 to 1; for True and False there is correct=")
        self._core.feedback(str(id), _arrays.real(reward))

    def forget(self, id: int | str) -> None:
        """Discards decision `id`, which will get no feedback. Raises the exceptions of `feedback`."""
        self._core.forget(str(id))

    def log(self, path: str | os.PathLike[str]) -> DecisionLog:
        """Starts a decision log, with all decisions and their feedback in order.

        `Bandit.replay` and `noregret replay` make a bit-equal learner from it; `noregret.evaluate` and
        `noregret evaluate` estimate the rewards of other policies. The log of a bandit with earlier decisions starts
        from its present state: `save` the model, because a replay needs it.

        Parameters
        ----------
        path
            A new file: NDJSON, complete after every call; compressed with the extensions `.gz` and `.zst`, Parquet with
            `.parquet`. Compressed files and Parquet are complete when the log is closed. A process that was forked opens its own.

        Raises
        ------
        FileExistsError
            If the file exists: logs are never overwritten.
        OSError
            If it cannot be written.
        ValueError
            If another log is open.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from noregret import Bandit
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "decisions.ndjson"
        >>> bandit = Bandit("soba", classes=3, features=2, exploration=0.1, seed=1)
        >>> with bandit.log(path):
        ...     for x, y in [([1.0, 0.0], 0), ([0.0, 1.0], 2)] * 20:
        ...         decision = bandit.decide(x)
        ...         bandit.feedback(decision.id, decision.label == y)
        >>> again = Bandit.replay(path)
        >>> again.rounds, bool((again.scores([1.0, 0.0]) == bandit.scores([1.0, 0.0])).all())
        (40, True)
        """
        if self._held is None:
            self._start({}, None)
        self._tell(self._given)
        self._core.begin_log(path)
        return DecisionLog(self._core, os.fspath(path))

    @classmethod
    def replay(
        cls: type[_B],
        log: str | os.PathLike[str],
        model: str | os.PathLike[str] | None = None,
        *,
        most_waiting: int = 1_000_000,
        memory: int = 8192,
    ) -> _B:
        """Makes the bandit of a decision log, bit-equal to the one that wrote it and to that of `noregret replay`.

        Every decision is compared with that of the learner in the same state, so that missing, changed or reordered
        lines are detected. Decisions without feedback stay pending, and the generator of labels continues.

        Parameters
        ----------
        log
            A log of `Bandit.log` or `noregret run --log`: lines of JSON, compressed or not, or Parquet. From a log of another program
            (Vowpal Wabbit's text or dsjson, a table of decisions) `noregret run LOG --save MODEL` learns, and `Bandit.load(MODEL)` goes on.
        model
            The model file with which the log starts, if any.
        most_waiting
            Largest number of decisions without feedback; beyond it the oldest is discarded.
        memory
            Largest size of the learner's state, in MiB.

        Raises OSError if a file cannot be read, ValueError, with file and line, for a log that does not replay, MemoryError for a
        learner that is too large.
        """
        whole(most_waiting=most_waiting, memory=memory)
        return cls._wrap(_core.Bandit.replay(log, model, most_waiting, memory))

    def predict_proba(self, x: Any = None, labels: Any = None) -> Floats:
        """The distribution of the played label: shape (classes,) for one row, (rows, classes) for rows, which may be a table.
        With `labels`, as in `decide`, of those on offer, in their order. A dictionary of lists only is a table, if one of them has
        the name of a column of numbers, or the first rows were a table; otherwise it is one row, as in `decide`."""
        return self._predict(x, labels, scores=False)

    def scores(self, x: Any = None, labels: Any = None) -> Floats:
        """Margins of the classes, in the shapes of `predict_proba`."""
        return self._predict(x, labels, scores=True)

    def predict(self, x: Any = None, labels: Any = None) -> Any:
        """The label with the highest score (the first of equal ones), without exploration, as `decide` names it: a label
        for one row, else an array of shape (rows,). With `labels`, among those on offer."""
        best = self._predict(x, labels, scores=True).argmax(axis=-1)
        if labels is None:
            outputs = self._labels_out()
        else:
            outputs = as_array(_offers.on_offer(labels)[0] if self._core.block is not None else self._as_given(labels))
        return outputs[best] if best.ndim == 1 else outputs[best : best + 1].tolist()[0]

    def explain(self, x: Any = None, labels: Any = None) -> Explanation:
        """The contributions of the features of a round to the scores of the labels on offer, in their order: see
        `noregret.Explanation`. With features of their own, those of the round and of the labels are told by name.

        Arguments and exceptions as for `decide`; nothing is played.

        Examples
        --------
        >>> from noregret import Bandit
        >>> articles = Bandit("offers", width=256)
        >>> sorted(articles.explain({"hour": 9}, {"a": {"topic": "sports"}, "b": {"topic": "music"}}).columns)
        ['hour', 'topic=music', 'topic=sports']
        """
        given, row = self._round(x, labels, learns=False)
        outputs = given if given is not None else self._labels_out().tolist() if labels is None else _offers.names(labels)
        columns, contributions, rest, count = _core.explain_round(self._core, row)
        return Explanation(columns, contributions, rest, outputs, count)

    def _predict(self, x: Any, labels: Any, scores: bool) -> Floats:
        x = self._of_texts(self._as_row(x if self._core.block is not None else _tables.by_name(_tables.whole(x)), self._core.named))
        if self._core.block is not None:
            return np.array(self._core.look(self._round(x, labels, learns=False)[1], scores))
        if isinstance(labels, Mapping):
            self._round(x, labels, learns=False)  # Raises.
        offered = self._offered(labels)
        # As in `decide`: a list is several features of the round, unless its name is that of a number.
        by_name = isinstance(x, Mapping) and self._core.named and not self._core.roles and not set(map(str, x)) & set(self._core.columns)
        if x is None or by_name or (_tables.is_row(x) if _tables.is_table(x) else _arrays.is_row(x)):
            return np.array(self._core.look((self._one(x, learns=False), offered), scores))
        rows = self._many(x, learns=False)
        if offered is None:
            return self._core.predict(rows, scores)
        return np.array([self._core.look((row, offered), scores) for row in _arrays.one_by_one(rows)])

    def run(self, x: Any, y: Any, *, probabilities: bool = False, seed: int = 0) -> Run:
        """Simulates bandit feedback on labelled rows: plays them in order and reveals only right or wrong.

        Parameters
        ----------
        x, y
            Rows of shape (rows, features), or a table, and their labels, shape (rows,), or the name of the table's column that has
            them; rows without a label (None, NaN) are played, and nothing is learnt from them.
        probabilities
            Whether the distributions are stored.
        seed
            Seed of the draws, which are independent of those of `decide`.

        Returns
        -------
        A `noregret.Run` whose losses are probabilities of a mistake (mistakes, for deterministic learners).

        Raises KeyboardInterrupt between two rounds; the rows before are learnt, and `rounds` counts them.
        """
        if self._held is not None and self._core.block is not None:
            raise TypeError(
                "a run needs rows with classes, and this bandit knows labels by their features: decide and feedback play its rounds, and learn"
                " learns logged ones"
            )
        x = _tables.rows(x)
        if isinstance(y, str):
            x, y = apart(x, y)
        _tables.check_index(x, y=y)
        y = _targets.labels(y)
        whole(seed=seed)
        notes: list[str] = []
        if self._held is None:
            notes = self._begin(x, y)
        found = self._core.run(self._learnt(x, notes), self._classes(y), seed=seed, keep=probabilities)
        losses, kept, played, rates, truth = found
        return Run(losses, kept, played, rates, truth, self._labels_out().tolist(), self.name, notes + _targets.unlabelled(y, truth))

    def learn(
        self,
        x: Any,
        labels: Any,
        rewards: Any,
        probabilities: Any,
        offered: Sequence[Sequence[Any]] | None = None,
        *,
        between: tuple[float, float] | str = (0, 1),
    ) -> None:
        """Learns rounds in which another policy has played: a warm start.

        The probabilities are those of the other policy; they are the importance weights of learners that weight rounds
        (`banditron`, `soba`, `newtron`, `gaptron-*`, `exp4`). `auto`, `squarecb`, `fastcb`, `relative-gaps` and `confidit` learn rewards by
        regression, which needs no weights. `noregret run --decision chosen --probability prob --reward click` does the same
        with a file.

        Parameters
        ----------
        x
            Rows of shape (rounds, features), or a table, in their order; for `Bandit("offers")` a list of the features of
            each round, as in `decide`.
        labels
            The labels that were played, or their numbers, shape (rounds,).
        rewards
            What they earned, shape (rounds,): numbers from 0 to 1 (or as `between` says), or True and False; learners that
            learn only from right and wrong need 0 and 1.
        probabilities
            The probabilities in (0, 1] with which they were played, shape (rounds,).
        offered
            The labels on offer in each round, if not all were; for `Bandit("offers")` as in `decide`.
        between
            The worst and the best of `rewards`: `(0, 15)` for revenues up to 15, `(15, 0)` for costs up to 15; `"0..15:clip"` caps them.

        Raises ValueError or TypeError for invalid rounds, with their number from 0; then nothing is learnt. Raises
        KeyboardInterrupt between two rounds; the rounds before are learnt, and `rounds` counts them.

        Examples
        --------
        >>> import numpy as np
        >>> from noregret import Bandit
        >>> rng = np.random.default_rng(0)
        >>> x, chosen = rng.normal(size=(500, 2)), rng.choice(["no", "yes"], 500, p=[0.75, 0.25])
        >>> click = (chosen == "yes") == (x[:, 0] > 0)
        >>> bandit = Bandit("squarecb", labels=["no", "yes"], features=2, radius=4)
        >>> bandit.learn(x, chosen, click, np.where(chosen == "yes", 0.25, 0.75))
        >>> bandit.rounds, bandit.predict([2.0, 0.0])
        (500, 'yes')
        """
        _tables.check_index(x, labels=labels, rewards=rewards, probabilities=probabilities)
        rewards, probabilities = _arrays.one_axis(rewards, "rewards"), _arrays.one_axis(probabilities, "probabilities")
        unknown = np.flatnonzero(np.isnan(rewards))
        if unknown.size:
            raise ValueError(
                f"rewards[{unknown[0]}] is missing: leave out rounds whose reward is unknown, or give them what no answer means, such as 0"
            )
        rewards = shares(rewards, between)
        labels = _targets.labels(labels)
        missing = next((at for at, label in enumerate(labels) if _arrays.is_missing(label)), None)
        if missing is not None:
            raise ValueError(f"labels[{missing}] is missing; the label that was played in the round was needed")
        if self._held is not None and self._core.block is not None:
            self._learn_offers(x, labels, rewards, probabilities, offered)
            return
        if self._held is None:
            every = None if offered is None else named(list({label: None for on_offer in offered for label in _offers.names(on_offer)}))
            self._given = self._given or every or {}
            _tables.tell(self._begin(x, labels, None if every is None else sorted(every)), 2)
        names = None if offered is None else [self._on_offer_in(at, on_offer) for at, on_offer in enumerate(offered)]
        self._core.learn(self._learnt(x), self._classes(labels), rewards, probabilities, names)

    def _on_offer_in(self, round: int, labels: Any) -> list[str]:
        try:
            return self._offered(labels) or []
        except ValueError as why:
            raise ValueError(f"offered[{round}]: {why}") from None

    def _learn_offers(self, x: Any, labels: Any, rewards: Floats, probabilities: Floats, offered: Any) -> None:
        """Learns rounds of labels with features of their own, which another policy has played."""
        if offered is None:
            raise TypeError("offered: the labels on offer in each round must be given, with their features")
        x = _tables.whole(x)
        if isinstance(x, Mapping) or (_tables.is_table(x) and not isinstance(x, list | tuple)):
            table = _tables.table(x)
            x = [dict(zip(table.names, row, strict=True)) for row in zip(*table.cells, strict=True)]
        contexts, played = list(x), list(labels)
        lengths = {"labels": len(played), "rewards": len(rewards), "probabilities": len(probabilities), "offered": len(offered)}
        for what, found in lengths.items():
            if found != len(contexts):
                raise ValueError(f"there are {found} {what} for {len(contexts)} rounds")
        # Nothing is learnt of rounds of which one is refused.
        _core.check_rewards(self._core, rewards, probabilities)
        rounds = []
        for at, (label, on_offer) in enumerate(zip(played, offered, strict=True)):
            given, described = _offers.on_offer(on_offer)
            if label not in given:
                raise ValueError(f"the label {label!r} was played in round {at} although it was not on offer")
            rounds.append(((_offers.described(contexts[at], "x"), described), given.index(label)))
        for (round, place), reward, probability in zip(rounds, rewards, probabilities, strict=True):
            _core.learn_round(self._core, round, place, float(reward), float(probability))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, with the pending decisions. `noregret predict` reads it, and `noregret run --load`
        goes on with it.

        Raises OSError if it cannot be written, ValueError if the state holds numbers that are not finite.
        """
        self._tell(self._given)
        self._core.save(path)

    @classmethod
    def load(cls: type[_B], path: str | os.PathLike[str]) -> _B:
        """Loads the learner of a model file, written here or by `noregret run --feedback bandit --save`. The generator
        of labels continues.

        Raises OSError if it cannot be read, ValueError if it is damaged or not a model file of a bandit learner.
        """
        return cls._wrap(_core.Bandit.load(path))


def _place(label: Any) -> Any:
    """The number of a class, which is real where another one is missing."""
    return int(label) if isinstance(label, float | np.floating) and label == label // 1 else label


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating, decimal.Decimal)) and not isinstance(value, bool)
