"""Fronts that have the shape of other libraries: scikit-learn, River, coba, and what Ray distributes."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas

from noregret import cluster
from noregret.cluster import LocalEngine
from noregret.cluster import fit as fit_shards
from noregret.cluster._fit import split

from .files import BANDIT, LEARNER
from .objects import frame, plain, shares
from .situations import STANDARD, UNIT, Costly, Logged, Offered, Played, Setting, Situation
from .table import Front, Inapplicable, Outcome


class Sklearn(Front):
    setting = STANDARD
    truths_are_numbers = True
    inapplicable = "classifiers learn from labels"

    def learn(self, case: Situation, folder: Path) -> Outcome:
        from noregret.sklearn import FolkloreClassifier

        weights = {} if case.weights is None else {"sample_weight": case.weights}
        model = FolkloreClassifier(**self.setting.facts)
        model.partial_fit(frame(case.rows), case.labels, case.names, **weights)
        if case.more:
            model.partial_fit(frame(case.more[0]), case.more[1])
        p = model.predict_proba(frame(case.asked))
        return Outcome([shares(model.classes_, row) for row in p], plain(model.predict(frame(case.asked))))


class River(Front):
    """One by one, or many rows of a DataFrame. Forecasts are for the row that comes next, whose values enter the scaling of columns: so
    rows are scaled one by one here."""

    setting = UNIT
    truths_are_numbers = True
    inapplicable = "River's classifiers learn from labels"

    def __init__(self, *, many: bool = False) -> None:
        self._many = many

    def learn(self, case: Situation, folder: Path) -> Outcome:
        from noregret.river import Folklore

        if case.is_soft:
            raise Inapplicable("River has one label for a row")
        model = Folklore(**self.setting.facts)
        for rows, labels, weights in [(case.rows, case.labels, case.weights), *([(*case.more, None)] if case.more else [])]:
            if self._many:
                model.learn_many(frame(rows), pandas.Series(labels, dtype=object), *([weights] if weights else []))
            else:
                for at, (row, label) in enumerate(zip(rows, labels, strict=True)):
                    model.learn_one(row, label, *([weights[at]] if weights else []))
        if self._many:
            p = model.predict_proba_many(frame(case.asked))
            return Outcome([shares(p.columns, row) for row in p.to_numpy()], plain(p.columns))
        if any(" " in str(cell) for cell in case.rows[0].values() if isinstance(cell, str)):
            raise Inapplicable("row by row a text is a category; River's BagOfWords before the learner makes words of it")
        p = [model.predict_proba_one(row) for row in case.asked]
        return Outcome([shares(row, row.values()) for row in p], [model.predict_one(row) for row in case.asked])


class Coba(Front):
    setting = STANDARD
    inapplicable = "coba's learners play actions"

    def _context(self, case: Situation, row: dict[str, Any]) -> Any:
        if not case.is_numeric:
            raise Inapplicable("contexts with texts are hashed into 256 columns, since coba tells no names before")
        return tuple(row.values()) if row else None

    def _learner(self, name: str = BANDIT, **facts: Any) -> Any:
        from noregret.coba import BanditLearner

        return BanditLearner(name, seed=0, **self.setting.bandit_facts, **facts)

    def play(self, case: Situation, folder: Path, *, rewards: Any = None) -> Outcome:
        learner, actions = self._learner(rewards=rewards), case.names
        for at, (row, right) in enumerate(zip(case.rows, case.labels, strict=True)):
            context = self._context(case, row)
            prediction, kept = learner.predict(context, actions)
            action, probability = prediction["action_prob"]
            if right is not None:
                learner.learn(context, action, -case.costs[at][action] if rewards else float(action == right), probability, **kept)
        return Outcome([self._asked(learner, case, row, actions) for row in case.asked], actions)

    def _asked(self, learner: Any, case: Situation, row: dict[str, Any], actions: list[Any]) -> dict[str, float]:
        return {str(action): learner.score(self._context(case, row), actions, action) for action in actions}

    def costly(self, case: Costly, folder: Path) -> Outcome:
        return self.play(case, folder, rewards=(-case.spread[1], -case.spread[0]))

    def offer(self, case: Offered, folder: Path) -> Outcome:
        if case.have_features:
            raise Inapplicable("coba's actions have features and no names, which tell labels apart here")
        learner = self._learner()
        for row, right, offer in zip(case.rows, case.labels, case.offers, strict=True):
            prediction, kept = learner.predict(self._context(case, row), offer)
            action, probability = prediction["action_prob"]
            learner.learn(self._context(case, row), action, float(action == right), probability, **kept)
        return Outcome([self._asked(learner, case, row, offer) for row, offer in zip(case.asked, case.offers, strict=False)])

    def follow(self, case: Logged, folder: Path) -> Outcome:
        low, high = case.spread or (0, 1)
        learner = self._learner(rewards=(-high, -low) if case.are_costs else (low, high))
        for row, action, reward, probability in zip(case.rows, case.labels, case.earned, case.probabilities, strict=True):
            learner.learn(self._context(case, row), action, -reward if case.are_costs else reward, probability)
        names = case.offers or [case.names] * len(case.asked)
        return Outcome([self._asked(learner, case, row, actions) for row, actions in zip(case.asked, names, strict=False)])


class Keyed(Front):
    """A learner for each key, all rows having one key. A row without a label does not enter the scaling of columns."""

    setting = STANDARD
    home = cluster
    """The module of keyed learners."""

    def setting_for(self, case: Situation) -> Setting:
        holes = not isinstance(case, Played) and not case.is_soft and {None, "n/a"} & set(case.labels)
        return UNIT if holes else super().setting_for(case)

    def learn(self, case: Situation, folder: Path) -> Outcome:
        if case.weights is not None or case.is_soft:
            raise Inapplicable("keyed learners take no weights" if case.weights else "keyed learners take one label for a row")
        facts = self.setting_for(case).facts
        with self.home.KeyedLearners(folder / "store", LEARNER, labels=case.names, actors=1, partitions=1, **facts) as keyed:
            for rows, labels in [(case.rows, case.labels), *([case.more] if case.more else [])]:
                keyed.learn(["k"] * len(rows), frame(rows), labels)
            model, answers = keyed.get("k"), keyed.predict(["k"] * len(case.asked), frame(case.asked))
            p = model.predict_proba(frame(case.asked))
        return Outcome([shares(model.labels, row) for row in p], plain(answers))

    def play(self, case: Situation, folder: Path) -> Outcome:
        if not case.is_numeric or not case.rows[0] or any(None in row.values() for row in case.rows):
            raise Inapplicable("keyed bandits have a fixed number of columns")
        facts = {"actors": 1, "partitions": 1, "intercept": True, "seed": 0, **self.setting.bandit_facts}
        rows = [np.array([list(row.values())]) for row in case.rows]
        with self.home.KeyedBandits(folder / "store", BANDIT, features=len(case.rows[0]), labels=case.names, **facts) as keyed:
            for row, right in zip(rows, case.labels, strict=True):
                ((label, _, decision),) = keyed.decide(["k"], row)
                if right is not None:
                    keyed.feedback(["k"], [decision], [label == right])
            model = keyed.get("k")
            p = [model.predict_proba(row[0]) for row in rows[: len(case.asked)]]
        return Outcome([shares(model.labels, row) for row in p], plain(model.predict(np.vstack(rows[: len(p)]))))

    def costly(self, case: Situation, folder: Path) -> Outcome:
        raise Inapplicable("keyed bandits hear right or wrong")

    offer = follow = costly


class Fit(Front):
    """Shards: one of them, whose statistics are those of a run."""

    setting = UNIT
    inapplicable = "shards are learnt from labels"

    def learn(self, case: Situation, folder: Path) -> Outcome:
        if case.weights is not None or case.is_soft:
            raise Inapplicable("shards have no weights" if case.weights else "shards have one label for a row")
        if case.more:
            raise Inapplicable("shards are learnt at once")
        fitted = self._fit(frame(case.rows), case.labels, {"how": "sum-all", "held_out": 0, **self.setting.facts})
        asked = frame(case.asked)
        p = fitted.learner.predict_proba(asked)
        return Outcome([shares(fitted.learner.labels, row) for row in p], plain(fitted.learner.predict(asked)), fitted.rates["log_loss"])

    def _fit(self, x: Any, y: list[Any], facts: dict[str, Any]) -> Any:
        return fit_shards(split(x, y, 1), LEARNER, engine=LocalEngine(jobs=1), **facts)


class RayKeyed(Keyed):
    """The same in Ray's actors."""

    @property
    def home(self) -> Any:
        from noregret import ray

        return ray


class RayFit(Fit):
    """The same in Ray's tasks."""

    def _fit(self, x: Any, y: list[Any], facts: dict[str, Any]) -> Any:
        from noregret import ray

        return ray.fit((x, y), LEARNER, 1, **facts)
