"""Makes one class for each learner of the registry, with its parameters as documented keywords.

`noregret.learners`, `noregret.bandits` and the classifiers of `noregret.sklearn` and `noregret.river` are made here at
import, from `noregret.catalogue()`. Type checkers and editors use the stubs beside these modules, which `generate.py`
writes from the classes.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping, Sequence  # noqa: F401, whoever evaluates the annotations of a class finds them here
from inspect import Parameter, Signature, signature
from typing import Any, Literal  # noqa: F401

from ._kinds import KINDS, Entry

PROBLEM = frozenset({"classes", "features", "radius", "horizon", "seed", "mode"})
"""Keywords of the problem and its feedback, which classes have where applicable."""

PLAYED = frozenset({"prior", "prior_rounds"})
"""Keywords that say something only where rewards are revealed: learners of labels refuse them."""

TYPES = {"bool": "bool", "integer": "int", "float": "float", "list": "str", "text": "str"}
WORDS = {"varepsilon": "epsilon", "lVert": "|", "rVert": "|", "ge": ">=", "le": "<=", "ln": "ln ", "cdot": "*"}
WIDTH = 106


def learners(base: type[Any], module: str, feedback: str) -> Iterable[type[Any]]:
    """Subclasses of `noregret.Learner` or `noregret.Bandit` for all learners of this kind of feedback."""
    named = [name for name, p in signature(base).parameters.items() if name != "name" and p.kind is p.KEYWORD_ONLY]
    shared = f"{', '.join(named)}\n    As in `noregret.{base.__name__}`."
    for entry in KINDS.values():
        if entry["feedback"] in (feedback, "either"):
            members = {"__doc__": _doc(entry, shared, played=feedback == "bandit"), "__slots__": (), "_registered": entry["name"]}
            yield _made(camel(entry["name"]), base, module, entry, members)


def classifier(
    entry: Entry,
    base: type[Any],
    module: str,
    suffix: str = "",
    *,
    shared: str,
    note: str = "",
    end: str = "",
    reach: float | None = None,
) -> type[Any]:
    """A classifier, named after the learner with `suffix`.

    Parameters
    ----------
    shared, note, end
        Documentation: of the keywords of `base`, a paragraph before the parameters, sections after them.
    reach
        The default of `norm` times `radius`, if it differs from the learner's.
    """
    members = {
        "__doc__": _doc(entry, shared, note, end, reach),
        "_learner_name": entry["name"],
        "_own": tuple(param["name"] for param in parameters(entry)),
        "_nested": entry["nested"],
        "_reach": reach,
    }
    return _made(camel(entry["name"]) + suffix, base, module, entry, members, "" if entry["weights"] else "class_weight")


def publish(kinds: Iterable[type[Any]], module: dict[str, Any]) -> list[str]:
    """Adds classes to a module's globals; returns their names in order."""
    named = {kind.__name__: kind for kind in kinds}
    module.update(named)
    return sorted(named)


def camel(name: str) -> str:
    """The name of a class."""
    return "".join(word.capitalize() for word in name.split("-"))


def parameters(entry: Entry, played: bool = False) -> list[dict[str, Any]]:
    """The learner's own parameters, where rewards are revealed (`played`) or labels."""
    left_out = PROBLEM if played else PROBLEM | PLAYED
    return [param for param in entry["params"] if param["name"] not in left_out]


def type_of(param: dict[str, Any]) -> str:
    """The annotation of a parameter, from its kind and its additional words. For texts and lists, words are only
    examples."""
    kind = param["kind"]
    if not param["words"] or kind in ("list", "text"):
        return TYPES[kind]
    words = "Literal[" + ", ".join(f'"{word}"' for word in param["words"]) + "]"
    return words if kind == "words" else f"{TYPES[kind]} | {words}"


def plain(text: str) -> str:
    """Removes the markup of formulas."""
    text = re.sub(r"\[`([^`]+)`\]", r"`\1`", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda found: WORDS.get(found[1], found[1]), text)
    return text.translate({ord("$"): None, ord("\\"): None, ord("{"): "(", ord("}"): ")"})


def _made(name: str, base: type[Any], module: str, entry: Entry, members: dict[str, Any], lacks: str = "") -> type[Any]:
    """A subclass whose constructor has the keywords of `base`, except for one that it `lacks`, and of the learner, and passes on the
    given ones."""
    ours = _signature(entry, base, lacks)
    fixed = {"name": entry["name"]} if "name" in signature(base).parameters else {}

    def __init__(self: Any, **given: Any) -> None:
        if "class_weight" in given and "class_weight" not in ours.parameters:
            raise TypeError(f"{name}.__init__(): there is no class_weight, since {entry['name']} takes no weights")
        try:
            ours.bind(self, **given)
        except TypeError as wrong:
            raise TypeError(f"{name}.__init__() {wrong}") from None
        super(made, self).__init__(**fixed, **given)

    __init__.__module__, __init__.__qualname__ = module, f"{name}.__init__"
    __init__.__annotations__ = {p.name: p.annotation for p in ours.parameters.values() if p.name != "self"}
    __init__.__annotations__["return"] = ours.return_annotation
    vars(__init__)["__signature__"] = ours
    members = {"__module__": module, "__init__": __init__, **members}
    made: type[Any] = types.new_class(name, (base,), exec_body=lambda body: body.update(members))
    return made


def _signature(entry: Entry, base: type[Any], lacks: str) -> Signature:
    """The keywords of `base` with those of the learner inserted after the size of the problem, or first."""
    theirs = signature(base.__init__)
    us, *shared, rest = (p for p in theirs.parameters.values() if p.name not in ("name", lacks))
    size = [p for p in shared if p.name in ("features", "classes")]
    own = [
        Parameter(param["name"], Parameter.KEYWORD_ONLY, default=None, annotation=f"{type_of(param)} | None")
        for param in parameters(entry, "exploration_floor" in theirs.parameters)
    ]
    others = [p for p in shared if p not in size]
    nested = [rest.replace(name="nested")] if entry["nested"] else []
    return theirs.replace(parameters=[us, *size, *own, *others, *nested])


def _doc(
    entry: Entry, shared: str, note: str = "", end: str = "", reach: float | None = None, *, played: bool = False
) -> str:
    said = {key: plain(entry[key]) for key in ("guarantee", "cost", "memory", "place")}
    summary = f"{entry['summary']} (`{entry['name']}`)."
    facts = (
        f"Guarantee: {said['guarantee']}. Time of a round: {said['cost']}; memory: {said['memory']}. "
        f"Source: {entry['paper']}, {said['place']}."
    )
    lines = [f"{_fill(text)}\n" for text in (summary[0].upper() + summary[1:], facts, note) if text]
    lines += ["Parameters\n----------", *_described(entry, reach, played), shared.rstrip()]
    if entry["nested"]:
        what = (
            f"Parameters of `{entry['nested']}`, whose names begin with `{entry['nested']}__`; one that is not given, or None, "
            "takes its own default."
        )
        lines += ["**nested : float, int, str or bool", _fill(what, 4)]
    return "\n".join([*lines, end and f"\n{end.rstrip()}"]).rstrip() + "\n"


def _described(entry: Entry, reach: float | None, played: bool) -> Iterable[str]:
    for param in parameters(entry, played):
        meaning, default = plain(param["meaning"]), plain(param["default"])
        if reach and param["name"] == "norm":
            default = f"{reach:g} / radius (with the learner's own {default} the theorem's steps are too small to be seen)"
        if entry["nested"]:
            meaning = meaning.replace(f"{entry['nested']}.", f"{entry['nested']}__")
        yield f"{param['name']} : {type_of(param)}, default=None"
        yield _fill(f"{meaning} None: {default}.", 4)


def _fill(text: str, indent: int = 0) -> str:
    """Wraps to `WIDTH` characters. Ten times as fast as textwrap, which matters at every import."""
    lines = re.findall(rf"(.{{1,{WIDTH - indent}}}|\S+)(?:\s+|$)", text)
    return "\n".join(" " * indent + line for line in lines)
