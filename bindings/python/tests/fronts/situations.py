"""Situations: rows, what is said about them, and the rows that are forecast afterwards."""

import datetime
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Setting:
    """What a front states beside the learner, because it cannot know it from the data. The CSV file that it is compared with is learnt
    with the same statements."""

    name: str
    scale: str | None = None
    radius: float | None = None

    @property
    def facts(self) -> dict[str, Any]:
        return {name: value for name, value in {"scale": self.scale, "radius": self.radius}.items() if value is not None}

    @property
    def bandit_facts(self) -> dict[str, Any]:
        """A bandit learner's exploration depends on the number of rounds, too."""
        return self.facts | ({} if self.radius is None else {"horizon": COUNT})

    @property
    def words(self) -> list[str]:
        """The same for the command line."""
        return self._words("")

    @property
    def bandit_words(self) -> list[str]:
        return self._words("oracle.") + ([] if self.radius is None else ["--set", f"horizon={COUNT}"])

    def _words(self, inner: str) -> list[str]:
        scale = [] if self.scale is None else ["--scale", self.scale]
        return scale + ([] if self.radius is None else ["--set", f"{inner}radius={self.radius:g}"])


COUNT = 80
"""Rows of a situation."""
NOTHING = Setting("nothing is stated")
STANDARD = Setting("scaling and radius are stated", "standard", 20.0)
UNIT = Setting("rows are scaled to norm 1", "unit", 2.0)


@dataclass(frozen=True)
class Situation:
    """Rows with labels, of which a learner is told all."""

    rows: Rows
    labels: list[Any]
    """None where one is missing; probability vectors of the labels 0, 1, … if they are soft."""
    weights: list[float] | None = None
    later: Rows | None = None
    """The rows that are forecast afterwards; the first ones if None."""
    more: tuple[Rows, list[Any]] | None = None
    """Rows that are learnt in a second step."""
    reference: str = "CSV"
    """The front with which the others are compared."""

    @property
    def asked(self) -> Rows:
        return self.rows[:6] if self.later is None else self.later

    @property
    def is_numeric(self) -> bool:
        rows = [*self.rows, *self.asked]
        return all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for row in rows for cell in row.values())

    @property
    def has_truths(self) -> bool:
        """Whether a cell is true or false."""
        return any(isinstance(cell, bool) for row in self.rows for cell in row.values())

    @property
    def is_soft(self) -> bool:
        return isinstance(self.labels[0], list)

    @property
    def has_twins(self) -> bool:
        """Whether a label is a text and another one a number of the same writing."""
        return not self.is_soft and len({str(label) for label in self.labels}) < len({(type(label), str(label)) for label in self.labels})

    @property
    def has_blanks(self) -> bool:
        """Whether a label begins or ends with a blank."""
        return any(isinstance(label, str) and label != label.strip() for label in self.labels)

    @property
    def names(self) -> list[Any]:
        """The different labels, as they are given, in the order in which they occur; without those that are learnt later."""
        if self.is_soft:
            return [0, 1]
        return list(dict.fromkeys(label for label in self.labels if label not in (None, "n/a")))

    @property
    def all_names(self) -> list[Any]:
        """The same with those."""
        return list(dict.fromkeys([*self.names, *(self.more[1] if self.more else [])]))


@dataclass(frozen=True)
class Played(Situation):
    """The same, of which a learner is told whether the label that it plays is right."""


@dataclass(frozen=True)
class Costly(Played):
    """Rounds in which every label has a cost, of which a learner is told that of the label that it plays. `labels` has the best ones."""

    costs: list[dict[str, float]] = field(default_factory=list)
    spread: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Offered(Played):
    """Rounds in which only some labels are on offer, by name or with features of their own."""

    offers: list[Any] = field(default_factory=list)
    """A list of names, or a dictionary of names and features, for every row, and for the rows that are asked afterwards."""

    @property
    def have_features(self) -> bool:
        return isinstance(self.offers[0], dict)


@dataclass(frozen=True)
class Seen(Offered):
    """The same with names, whose right label a learner sees: its forecasts are among the labels on offer."""


@dataclass(frozen=True)
class Logged(Situation):
    """Rounds in which another policy has played `labels`, and what they earned."""

    probabilities: list[float] = field(default_factory=list)
    earned: list[float] = field(default_factory=list)
    """Rewards, or costs."""
    spread: tuple[float, float] | None = None
    """The range of rewards or costs, if it is stated."""
    are_costs: bool = False
    offers: list[list[str]] | None = None
    """The labels on offer, if not all were, also for the rows that are asked afterwards."""


RNG = np.random.default_rng(0)
SIDE = RNG.normal(size=(COUNT, 2)).round(3)
# The first row has the first label, so that labels in order of appearance are in the order of their names.
UP = [bool(a < 0) for a, _ in SIDE]
NUMBERS: Rows = [{"a": float(a), "b": float(50 * b)} for a, b in SIDE]
HUES: Rows = [row | {"hue": "red" if up else ["blue", "green"][at % 2]} for at, (row, up) in enumerate(zip(NUMBERS, UP, strict=True))]
NONE: Rows = [{} for _ in range(COUNT)]
# So few that a table has no features for missing ones beside them, which other formats do not have.
AGES: Rows = [{"a": row["a"], "b": 50 + row["b"] / 10} for row in NUMBERS[:22]]


def named(no: Any, yes: Any) -> list[Any]:
    return [yes if up else no for up in UP]


def with_holes(rows: Rows, name: str, hole: Any = None) -> Rows:
    return [row | ({name: hole} if at % 6 == 2 else {}) for at, row in enumerate(rows)]


def every_fifth(hole: Any) -> list[Any]:
    return [hole if at % 5 == 0 else label for at, label in enumerate(named("down", "up"))]


def logged(low: float, high: float, offers: list[list[str]] | None = None, rows: Rows = NUMBERS, **facts: Any) -> Logged:
    """What labels earned when another policy played them, each with a probability of its own: less where they were wrong."""
    rng = np.random.default_rng(1)
    played, probabilities, earned = [], [], []
    for at, up in enumerate(UP):
        names = offers[at] if offers else ["down", "up"]
        p = np.arange(1, len(names) + 1) / sum(range(1, len(names) + 1))
        place = int(rng.choice(len(names), p=p))
        good = (names[place] in ("up", "blue")) == up
        share = round(0.5 * good + 0.5 * float(rng.random()), 3)
        played.append(names[place])
        probabilities.append(float(p[place]))
        earned.append(low + (high - low) * (1 - share if facts.get("are_costs") else share))
    return Logged(rows, played, probabilities=probabilities, earned=earned, offers=offers, **facts)


TOPICS = ["sport", "art", "news", "music"]
DATES: Rows = [row | {"at": datetime.datetime(2026, 3, 1, 6, 30) + datetime.timedelta(hours=7 * at)} for at, row in enumerate(NUMBERS)]
TEXTS: Rows = [{"text": f"{'the parcel never came' if up else 'please refund my invoice'} case {at}"} for at, up in enumerate(UP)]
SOFT = [[0.2, 0.8] if up else [0.7, 0.3] for up in UP]
THREE = [["amber", "blue"], ["blue", "coral"], ["coral", "amber"], ["amber", "blue", "coral"]]
ARTICLES = [{f"a{at // 9 + k}": {"topic": TOPICS[(at // 9 + k) % 4], "words": k} for k in range(3)} for at in range(COUNT)]
READERS: Rows = [{"likes": TOPICS[at % 2], "age": at % 5} for at in range(COUNT)]
SECOND = (HUES[:20], ["sideways" if at % 3 == 0 else label for at, label in enumerate(named("down", "up")[:20])])

SITUATIONS: dict[str, Situation] = {
    "labels that are texts": Situation(NUMBERS, named("down", "up")),
    "labels that are whole numbers": Situation(NUMBERS, named(3, 12)),
    "labels that are real numbers": Situation(NUMBERS, named(0.5, 1.5)),
    "labels that are true and false": Situation(NUMBERS, named(False, True)),
    "labels that are texts of digits": Situation(NUMBERS, named("7", "12")),
    "labels that are other writings of numbers": Situation(NUMBERS, named("01", "1.10")),
    "labels with commas and quotes": Situation(NUMBERS, named('do"wn', "u,p")),
    "labels with blanks around them": Situation(NUMBERS, named(" down", "up "), reference="NDJSON"),
    "a text and a number of the same writing": Situation(NUMBERS, named(1, "1"), reference="NDJSON"),
    "labels that are words for missing ones": Situation(HUES, every_fifth("n/a")),
    "missing labels": Situation(HUES, every_fifth(None)),
    "soft labels": Situation(NUMBERS, SOFT, reference="NDJSON"),
    "a class that is new afterwards": Situation(HUES, named("down", "up"), more=SECOND),
    "categories": Situation(HUES, named("down", "up")),
    "a category that is new afterwards": Situation(HUES, named("down", "up"), later=[HUES[0] | {"hue": "mauve"}, *HUES[1:4]]),
    "a column that is absent afterwards": Situation(HUES, named("down", "up"), later=[{"b": row["b"], "hue": row["hue"]} for row in HUES[:4]]),
    "a column that is new afterwards": Situation(NUMBERS, named("down", "up"), later=[row | {"c": 1.0} for row in NUMBERS[:4]]),
    "missing numbers": Situation(with_holes(NUMBERS, "b"), named("down", "up")),
    "missing numbers that are NaN": Situation(with_holes(NUMBERS, "b", math.nan), named("down", "up")),
    "missing numbers far from 0": Situation(with_holes(AGES, "b"), named("down", "up")[: len(AGES)]),
    "missing categories": Situation(with_holes(HUES, "hue"), named("down", "up")),
    "missing categories that are words": Situation(with_holes(HUES, "hue", "NA"), named("down", "up")),
    "missing categories that are empty texts": Situation(with_holes(HUES, "hue", ""), named("down", "up")),
    "truth values": Situation([row | {"late": row["b"] > 0} for row in NUMBERS], named("down", "up")),
    "times": Situation(DATES, named("down", "up")),
    "free text": Situation(TEXTS, named("refund", "parcel")),
    "weights": Situation(NUMBERS, named("down", "up"), weights=[0.5 + at % 3 for at in range(COUNT)]),
    "a column of one value": Situation([row | {"one": 1.0} for row in NUMBERS], named("down", "up")),
    "a number that is infinite": Situation(with_holes(NUMBERS, "b", math.inf), named("down", "up")),
    "no columns": Situation(NONE, named("down", "up")),
    "played: numbers": Played(NUMBERS, named("down", "up")),
    "played: categories and missing numbers": Played(with_holes(HUES, "b"), named("down", "up")),
    "played: a category that is new afterwards": Played(HUES, named("down", "up"), later=[HUES[0] | {"hue": "mauve"}, *HUES[1:4]]),
    "played: times": Played(DATES, named("down", "up")),
    "played: labels that are whole numbers": Played(NUMBERS, named(3, 12)),
    "played: missing labels": Played(NUMBERS, every_fifth(None)),
    "played: no columns": Played(NONE, named("down", "up")),
    "played: costs from 0 to 10": Costly(
        NUMBERS, named("down", "up"), costs=[{"down": 7.5 if up else 0.0, "up": 0.0 if up else 10.0} for up in UP], spread=(0, 10), reference="VW"
    ),
    "on offer: some labels, by name": Offered(
        NUMBERS, [THREE[at % 4][up] for at, up in enumerate(UP)], offers=[THREE[at % 4] for at in range(COUNT)], reference="NDJSON"
    ),
    "on offer: some labels, and the right one is seen": Seen(
        NUMBERS, [THREE[at % 4][up] for at, up in enumerate(UP)], offers=[THREE[at % 4] for at in range(COUNT)]
    ),
    "on offer: labels with features of their own": Offered(
        READERS,
        [next((name for name, own in offer.items() if own["topic"] == row["likes"]), next(iter(offer))) for row, offer in zip(READERS, ARTICLES, strict=True)],
        offers=ARTICLES,
        reference="NDJSON",
    ),
    "of another policy: rewards from 0 to 1": logged(0, 1),
    "of another policy: rewards from -1 to 0": logged(-1, 0, spread=(-1, 0)),
    "of another policy: revenues from 0 to 15": logged(0, 15, spread=(0, 15)),
    "of another policy: costs from 0 to 15": logged(0, 15, spread=(0, 15), are_costs=True),
    "of another policy: categories and missing numbers": logged(0, 1, rows=with_holes(HUES, "b")),
    "of another policy: no columns": logged(0, 1, rows=NONE),
    "of another policy: some labels on offer": logged(0, 1, offers=[THREE[at % 4] for at in range(COUNT)]),
}
