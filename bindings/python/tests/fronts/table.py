"""What the fronts answer, compared, and the page of it."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from .situations import NOTHING, SITUATIONS, STANDARD, Costly, Logged, Offered, Played, Seen, Setting, Situation

TAKEN = ("=", "≈", "×", "–")
ABSENT = "a feature that is not given is 0, and no column is absent"


class Outcome(NamedTuple):
    """What a front answers."""

    p: list[dict[str, float]]
    """For every row that is asked, the probabilities of the labels by their text."""
    labels: list[Any] | None = None
    """Labels as the front answers them; None where answers are texts by nature."""
    rate: float | None = None
    """The log-loss, or the expected error rate, of the whole run; None where the front does not tell it."""


class Inapplicable(Exception):
    """Why a cell does not apply."""


class Front:
    """A way to give rows and to hear forecasts. A subclass has a method for every kind of situation that it can be in."""

    setting: Setting = NOTHING
    inapplicable = "the front learns from labels"
    """Why the kinds of situations without a method do not apply."""
    truths_are_numbers = False
    """Whether true and false are the numbers 1 and 0; they are categories elsewhere."""

    def learn(self, case: Situation, folder: Path) -> Outcome:
        raise Inapplicable(self.inapplicable)

    play = costly = offer = follow = learn

    def among(self, case: Seen, folder: Path) -> Outcome:
        raise Inapplicable("a forecast of a label that is seen is among all labels")

    def setting_for(self, case: Situation) -> Setting:
        if isinstance(case, Offered) and case.have_features:
            return NOTHING
        # Rounds that are played one by one, or whose labels come and go, are not known before.
        one_by_one = isinstance(case, Costly | Offered) and not isinstance(case, Seen)
        return STANDARD if one_by_one else self.setting

    def answer(self, case: Situation, folder: Path) -> Outcome:
        if case.has_truths and self.truths_are_numbers:
            raise Inapplicable("true and false are the numbers 1 and 0")
        match case:
            case Seen():
                return self.among(case, folder)
            case Offered():
                return self.offer(case, folder)
            case Costly():
                return self.costly(case, folder)
            case Played():
                return self.play(case, folder)
            case Logged():
                return self.follow(case, folder)
            case _:
                return self.learn(case, folder)


def outcome(front: Front, case: Situation, folder: Path) -> Outcome | str:
    """The answer of a front, or a sentence that begins with × or –."""
    folder.mkdir()
    try:
        return front.answer(case, folder)
    except Inapplicable as why:
        return f"– {why}"
    except (ValueError, TypeError) as error:
        # A refusal without what depends on the place.
        return "× " + re.sub(r"^(error|noregret): |\S+/(?=\w+\.\w+)|\s*\(or --[^)]*\)", "", str(error)).splitlines()[0]


def compared(found: Outcome | str, reference: Outcome | str, case: Situation) -> str:
    """What a cell of the table says."""
    if isinstance(found, str):
        return found
    if isinstance(reference, str):
        return "taken, which the reference refuses"
    if found.labels is not None:
        known = {(type(name), name) for name in case.all_names}
        changed = [label for label in found.labels if (type(label), label) not in known]
        if changed:
            return f"labels come back as {changed[0]!r}"
    ours, theirs = ([lowered(row) for row in rows] for rows in (found.p, reference.p))
    if [sorted(row) for row in ours] != [sorted(row) for row in theirs]:
        return f"labels {', '.join(ours[0])}, not {', '.join(theirs[0])}"
    rates = None in (found.rate, reference.rate) or found.rate == reference.rate
    if ours == theirs and rates:
        return "="
    apart = max((abs(row[name] - other[name]) for row, other in zip(ours, theirs, strict=True) for name in row), default=0.0)
    return "≈" if apart < 1e-9 else f"differs by {apart:.1e}"


def lowered(row: dict[str, float]) -> dict[str, float]:
    """JSON's true is CSV's True."""
    return {name.casefold(): p for name, p in row.items()}


class Table:
    """The outcomes of all cells, each compared with the reference of its situation under the front's setting."""

    def __init__(self, fronts: dict[str, Front], folder: Path) -> None:
        self._fronts, self._folder = fronts, folder
        self._references: dict[tuple[str, Setting], Outcome | str] = {}

    def cell(self, situation: str, name: str) -> str:
        case, front = SITUATIONS[situation], self._fronts[name]
        setting = front.setting_for(case)
        found = self._reference(situation, setting) if self._is_reference(case, name, setting) else self._outcome(situation, name, front)
        return compared(found, self._reference(situation, setting), case)

    def _is_reference(self, case: Situation, name: str, setting: Setting) -> bool:
        return name == case.reference and setting == self._fronts[name].setting_for(case)

    def _reference(self, situation: str, setting: Setting) -> Outcome | str:
        key = situation, setting
        if key not in self._references:
            case = SITUATIONS[situation]
            front = type(self._fronts[case.reference])()
            front.setting = setting
            self._references[key] = self._outcome(situation, f"{case.reference}, {setting.name}", front)
        return self._references[key]

    def _outcome(self, situation: str, name: str, front: Front) -> Outcome | str:
        folder = re.sub(r"\W+", "-", f"{situation} {name}")
        return outcome(front, SITUATIONS[situation], self._folder / folder)


def page(table: dict[str, dict[str, str]], fronts: dict[str, Front]) -> str:
    """The table as a page, with refusals and reasons as notes."""
    notes: dict[str, int] = {}
    stated = [f"**{name}**" for name, front in fronts.items() if front.setting is STANDARD]
    lines = [
        "# The same rows through every front", "",
        "Written by `bindings/python/tests/test_fronts.py`, which fails when a cell changes. Each row is a situation, each column a front.",
        "**=** has the bits of the reference, in the whole run and in later forecasts; **≈** the same up to rounding (1e-9); **×** is",
        "refused; **–** does not apply. The numbers are those of the notes.", "",
        "The reference is the CSV file (`noregret run`, then `noregret predict`), or, where CSV cannot say it, NDJSON (soft labels, labels",
        "on offer) or Vowpal Wabbit's text (costs of all labels). A file is read before its first row is learnt; fronts that know the rows",
        f"so far are compared with a run that is told scaling and radius (`--scale standard --set radius=20`): {', '.join(stated)}.", "",
    ]
    names = list(fronts)
    lines += ["| | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for situation, cells in table.items():
        shown = []
        for text in cells.values():
            if len(text) > 1:
                mark, what = (text[0], text[2:]) if text[0] in "×–" else ("", text)
                text = f"{mark} {notes.setdefault(what, len(notes) + 1)}".strip()
            shown.append(text)
        lines.append(f"| {situation} | " + " | ".join(shown) + " |")
    return "\n".join([*lines, "", *(f"{number}. {text}" for text, number in notes.items()), ""])
