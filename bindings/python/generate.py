"""Writes the classes that the registry decides: `python generate.py`, with the package installed.

One class for every learner, with its parameters as keywords: in `noregret/learners.py` and `noregret/bandits.py`. Those that
follow experts learn from no rows and have none. Learners that
can be made for problems of any size, and whose theorem's parameters are of practical use (if need be for a smaller `norm`), have
classifiers in `noregret/sklearn/_classifiers.py`, and in `noregret/river/_classifiers.py` if they take in new classes and features in bounded memory.
`tests/test_generated.py` fails when they are not what this writes.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from noregret import Learner, _core

HEADER = "# Written by generate.py from the registry. Do not edit.\n"
WIDTH = 110
PROBLEM = {"classes", "features", "radius", "horizon", "seed", "mode"}
"""Facts of the problem and its feedback: every class has them where they have a meaning."""


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def plain(text: str) -> str:
    """Formulas of the documentation as words."""
    text = re.sub(r"\[`([^`]+)`\]", r"`\1`", text)
    for tex, word in {
        r"\\varepsilon": "epsilon",
        r"\\lVert": "|",
        r"\\rVert": "|",
        r"\\ge": ">=",
        r"\\le": "<=",
        r"\\ln": "ln ",
        r"\\cdot": "*",
    }.items():
        text = re.sub(tex + r"(?![a-z])", word, text)
    return text.replace("$", "").replace("\\", "").replace("{", "(").replace("}", ")")


def kind(need: str) -> str:
    """The type of a parameter, from what its value must be."""
    words = {"a number": "float", "a whole number": "int", "true or false": "bool", "the name of a learner": "str",
             "the name of a weak learner": "str"}
    if need.startswith("one of "):
        return "Literal[" + ", ".join(f'"{word}"' for word in need.removeprefix("one of ").split(", ")) + "]"
    if need.startswith(("a list ", "words as ")):
        return "str"
    return words.get(need, "float | str")


REACH = 3.0
"""The default of `norm` times `radius` in classifiers whose theorem's steps are too small to be seen with the learner's own 30."""


def own(entry: dict[str, Any]) -> list[dict[str, Any]]:
    return [param for param in entry["params"] if param["name"] not in PROBLEM]


def practical(entry: dict[str, Any], reach: float | None = None) -> bool:
    """Whether three far clusters are told apart after 300 rows, with the theorem's parameters or with `norm = reach / radius`.
    Some theorems are so careful that the probabilities stay equal."""
    learner, x, y = clusters(entry, reach)
    learner.update(x, y)
    chosen = learner.predict(x)
    visibly = learner.predict_proba(x)[np.arange(300), chosen].mean() > 1 / learner.classes + 0.01
    return bool((chosen == y).mean() > 0.8 and visibly)


def reach(entry: dict[str, Any]) -> float | None:
    """What `norm` is divided by `radius` in classifiers; None where the learner's own default does."""
    named = any(param["name"] == "norm" for param in entry["params"])
    return REACH if named and not practical(entry) and practical(entry, REACH) else None


def probable(entry: dict[str, Any]) -> str:
    """The values of parameters with which a learner of labels forecasts probabilities."""
    ways = []
    for param in own(entry):
        if param["need"].startswith("one of "):
            for word in param["need"].removeprefix("one of ").split(", "):
                learner = Learner(entry["name"], features=2, classes=2, radius=1.0, **{param["name"]: word})
                if learner.forecast == "probabilities":
                    ways.append(f'`{param["name"]}="{word}"`')
    return " or ".join(filter(None, [", ".join(ways[:-1]), *ways[-1:]]))


def bounded(entry: dict[str, Any]) -> bool:
    """Whether memory stays the same however many rows are learnt. Some learners keep them all: no good for endless streams."""
    learner, x, y = clusters(entry, None)
    sizes = []
    for at in range(6):
        learner.update((1 - at / 10) * x[:100], y[:100])
        sizes.append(learner._core.__sizeof__())
    return max(sizes[3:]) < 1.5 * max(sizes[:3])


def clusters(entry: dict[str, Any], reach: float | None) -> tuple[Learner, Any, Any]:
    """A learner, and rows of three far clusters (two for two classes) with their classes."""
    rng = np.random.default_rng(0)
    classes = 2 if entry["classes"] == "two" else 3
    y = rng.integers(0, classes, 300)
    x = rng.normal(size=(300, 2)) + 4 * np.array([[0, 1], [1, -1], [-1, -1]])[y]
    x -= x.mean(axis=0)
    radius = float(np.linalg.norm(x, axis=1).max())
    norm = {} if reach is None else {"norm": reach / radius}
    return Learner(entry["name"], features=2, classes=classes, radius=radius, **norm), x, y


def fill(text: str, indent: int) -> str:
    pad = " " * indent
    return textwrap.fill(text, WIDTH, initial_indent=pad, subsequent_indent=pad, break_on_hyphens=False)


def sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def described(entry: dict[str, Any], indent: int, reach: float | None = None) -> list[str]:
    lines = []
    for param in own(entry):
        lines.append(" " * indent + f"{param['name']} : {kind(param['need'])}, default=None")
        meaning, default = plain(param["meaning"]), plain(param["default"])
        if reach and param["name"] == "norm":
            default = f"{reach:g} / radius (with the learner's own {default} the theorem's steps are too small to be seen)"
        if entry["nested"]:
            meaning = meaning.replace(f"{entry['nested']}.", f"{entry['nested']}__")
        lines.append(fill(f"{meaning} None: {default}.", indent + 4))
    return lines


def inner(entry: dict[str, Any], indent: int) -> list[str]:
    """What is said of parameters of a learner inside."""
    if not entry["nested"]:
        return []
    what = (f"Parameters of `{entry['nested']}`, whose names begin with `{entry['nested']}__`; one that is not given, or None, "
            "takes its own default.")
    return [" " * indent + "**nested : float, int, str or bool", fill(what, indent + 4)]


def docstring(
    entry: dict[str, Any], first: str, common: list[tuple[str, str]], note: str = "", reach: float | None = None
) -> list[str]:
    lines = [fill(f'"""{first}', 4), ""]
    lines.append(fill(f"Guarantee: {plain(entry['guarantee'])}. Time of a round: {plain(entry['cost'])}; memory: "
                      f"{plain(entry['memory'])}. Source: {entry['paper']}, {plain(entry['place'])}.", 4))
    if note:
        lines += ["", fill(note, 4)]
    lines += ["", "    Parameters", "    ----------", *described(entry, 4, reach)]
    for name, what in common:
        lines += [f"    {name}", fill(what, 8)]
    return [*lines, *inner(entry, 4), '    """', ""]


def learner(entry: dict[str, Any], base: str) -> str:
    bandit = base == "Bandit"
    what = f"{entry['summary']} (`{entry['name']}`)"
    common = [
        ("features, classes, radius, horizon, seed, scale, intercept, sparse, labels, memory"
         + (", most_waiting, exploration_floor" if bandit else ""), f"As in `noregret.{base}`."),
    ]
    lines = [f"class {camel(entry['name'])}({base}):", *docstring(entry, sentence(what), common)]
    lines += ["    __slots__ = ()", "", "    def __init__(", "        self,", "        *,", "        features: int,"]
    lines += ["        classes: int | None = None,"]
    lines += [f"        {param['name']}: {kind(param['need'])} | None = None," for param in own(entry)]
    facts = [("radius", "float | None", "None"), ("horizon", "int | None", "None"), ("seed", "int", "0"),
             ("scale", "str", '"none"'), ("intercept", "bool", "False"), ("sparse", "bool", "False"),
             ("labels", "Sequence[str] | None", "None"), ("memory", "int", "8192")]
    if bandit:
        facts += [("most_waiting", "int", "1_000_000"), ("exploration_floor", "float", "0.0")]
    lines += [f"        {name}: {of} = {default}," for name, of, default in facts]
    if entry["nested"]:
        lines.append("        **nested: float | int | str | bool | None,")
    lines += ["    ) -> None:", "        super().__init__(", f'            "{entry["name"]}",']
    names = ["features", "classes", *(name for name, _, _ in facts), *(param["name"] for param in own(entry))]
    lines += [f"            {name}={name}," for name in names]
    if entry["nested"]:
        lines.append("            **nested,")
    return "\n".join([*lines, "        )"])


def classifier(entry: dict[str, Any], face: str) -> str:
    sklearn = face == "sklearn"
    base = "WeightedClassifier" if entry["weights"] else "Classifier"
    name = camel(entry["name"]) + ("Classifier" if sklearn else "")
    notes = []
    if entry["classes"] == "two":
        notes.append("For two classes only.")
    if entry["forecast"] != "probabilities":
        if sklearn:
            ways = probable(entry)
            notes.append("It forecasts labels, not probabilities: there is no `predict_proba`"
                         + (f" except with {ways}." if ways else "."))
        else:
            notes.append("It forecasts labels: `predict_proba_one` has the probabilities with which it plays each, which "
                         "are no forecasts of the truth.")
    if sklearn:
        arguments = [
            ("passes", "int", "1"), ("scale", "str", '"auto"'), ("fit_intercept", "bool", "True"),
            ("radius", "float | None", "None"), ("random_state", "Any", "0"), ("memory", "int", "8192"),
        ]
        common = [
            ("passes : int, default=1", "How often `fit` learns every row. The learner's guarantee is about one pass."),
            ('scale : {"auto", "none", "unit", "maxabs", "standard"}, default="auto"',
             "How columns are scaled: to norm 1 (rows), magnitude at most 1, or mean 0 and deviation 1 within 5 deviations. "
             "`auto` is `standard` for dense data of at most 1024 columns, else `maxabs`."),
            ("fit_intercept : bool, default=True", "Whether a feature that is always 1 is added."),
            ("radius : float, default=None",
             "Bound on the Euclidean norm of scaled rows with the intercept. None: in `fit` the largest there is, in "
             "`partial_fit` what `scale` guarantees."),
            ("random_state : int, RandomState instance or None, default=0",
             "Decides the order of rows in `fit` and the learner's own randomness."),
            ("memory : int, default=8192", "Most memory that the learner's state may take, in MiB."),
        ]
        attributes = [
            "    Attributes", "    ----------", "    classes_ : array of shape (n_classes,)", "    n_features_in_ : int",
            "    n_rounds_ : int", "        Rounds learnt.", "    params_ : dict",
            "        The learner's parameters in use.", "    learner_ : noregret.Learner",
            "        The learner underneath, to save, merge or certify.",
        ]
    else:
        arguments = [
            ("scale", "str", '"standard"'), ("intercept", "bool", "True"), ("radius", "float | None", "None"),
            ("seed", "int", "0"), ("memory", "int", "8192"),
        ]
        common = [
            ("scale : str", "How features are scaled while rows come in: `none`, `unit` (rows of norm 1), `maxabs`, or "
             "`standard` (mean 0, deviation 1, within 5 deviations; all features of every row are computed with, so take "
             "another for thousands of features)."),
            ("intercept : bool", "Whether a feature that is always 1 is added."),
            ("radius : float", "Bound on the Euclidean norm of scaled rows with the intercept. None: what `scale` "
             "guarantees for as many features as the first row has; without scaling the square root of their number."),
            ("seed : int", "Seed of the learner's own randomness."),
            ("memory : int", "Most memory that the learner's state may take, in MiB."),
        ]
        attributes = [
            "    Examples", "    --------", "    >>> from river import datasets, evaluate, metrics",
            f"    >>> from noregret.river import {name}",
            f"    >>> metric = evaluate.progressive_val_score(datasets.Phishing().take(200), {name}(), metrics.Accuracy())",
            "    >>> metric.get() > 0.7", "    True",
        ]
    default = reach(entry)
    doc = docstring(entry, sentence(f"{entry['summary']} (`{entry['name']}`)"), common, " ".join(notes), default)
    doc[-2:-2] = ["", *attributes]
    of = [(param["name"], f"{kind(param['need'])} | None", "None") for param in own(entry)] + arguments
    lines = [f"class {name}({base}):", *doc, f'    _learner_name = "{entry["name"]}"']
    names = ", ".join(f'"{param["name"]}"' for param in own(entry))
    lines.append(f"    _own = ({names}{',' if len(own(entry)) == 1 else ''})")
    if default:
        lines.append(f"    _reach = {default}")
    if entry["nested"]:
        lines.append(f'    _nested = "{entry["nested"]}"')
    lines += ["", "    def __init__(", "        self,", "        *,"]
    lines += [f"        {name}: {kind_} = {default}," for name, kind_, default in of]
    if entry["nested"]:
        lines.append("        **nested: Any,")
    lines += ["    ) -> None:", *(f"        self.{name} = {name}" for name, _, _ in of)]
    if entry["nested"]:
        lines.append("        self._set_nested(nested)")
    if not sklearn:
        lines.append("        self._begin()")
    return "\n".join(lines)


def module(doc: str, imports: list[str], classes: dict[str, str]) -> str:
    body = "\n\n\n".join(classes.values())
    typing = [name for name in ("Any", "Literal") if re.search(rf"\b{name}\b", body)]
    lines = ["from __future__ import annotations", ""]
    standard = [line for line in imports if line.startswith("from collections")]
    if typing:
        standard.append(f"from typing import {', '.join(typing)}")
    lines += [*standard, "", *(line for line in imports if line not in standard), ""]
    names = "\n".join(f'    "{name}",' for name in sorted(classes))
    return "\n".join([HEADER + f'"""{doc}"""', "", *lines, f"__all__ = [\n{names}\n]", "", "", body, ""])


def modules() -> dict[str, str]:
    """The text of every generated file, by its path in the package."""
    catalogue = _core.catalogue()
    full = [entry for entry in catalogue if entry["feedback"] in ("full", "either")]
    bandit = [entry for entry in catalogue if entry["feedback"] in ("bandit", "either")]
    general = [entry for entry in full if entry["general"] and entry["classes"] != "real"]
    general = [entry for entry in general if practical(entry) or reach(entry)]
    streaming = [entry for entry in general if entry["grows"] and bounded(entry)]

    def of(entries: list[dict[str, Any]], write: Any, suffix: str = "") -> dict[str, str]:
        return {camel(entry["name"]) + suffix: write(entry) for entry in entries}

    sequence = "from collections.abc import Sequence"
    base = "from ._base import Classifier, WeightedClassifier"
    return {
        "learners.py": module(
            "Learners that see the truth of every round, one class each.", [sequence, "from ._learner import Learner"],
            of(full, lambda entry: learner(entry, "Learner"))),
        "bandits.py": module(
            "Learners that are told whether the label that they played was right, one class each.",
            [sequence, "from ._bandit import Bandit"], of(bandit, lambda entry: learner(entry, "Bandit"))),
        "sklearn/_classifiers.py": module(
            "The classifiers, one for each learner.", [base],
            of(general, lambda entry: classifier(entry, "sklearn"), "Classifier")),
        "river/_classifiers.py": module(
            "The classifiers, one for each learner.", [base], of(streaming, lambda entry: classifier(entry, "river"))),
    }


if __name__ == "__main__":
    package = Path(__file__).parent / "python" / "noregret"
    for name, text in modules().items():
        (package / name).write_text(text)
