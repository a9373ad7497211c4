"""The Python reference: signatures and documentation read off the package's source, which need not be built for it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "bindings" / "python" / "python" / "noregret"

PAGES: dict[str, list[tuple[str, list[str]]]] = {
    "noregret": [
        ("_learner.py", ["Learner"]),
        ("_described.py", ["Described"]),
        ("_promises.py", ["Promising"]),
        ("_model.py", ["Model"]),
        ("_run.py", ["Run"]),
        ("_explain.py", ["Explanation"]),
        ("_bandit.py", ["Bandit"]),
        ("_decisions.py", ["Decision", "DecisionLog"]),
        ("_evaluation.py", ["evaluate", "evaluate_arrays", "compare_policies", "Estimate", "Evaluation", "Difference", "Comparison", "Learnt", "Stage"]),
        ("_slates.py", ["evaluate_slates"]),
        ("_export.py", ["export_dsjson"]),
    ],
    "noregret.sklearn": [("sklearn/_base.py", ["Classifier"]), ("sklearn/_weighted.py", ["WeightedClassifier"])],
    "noregret.river": [("river/_base.py", ["Classifier", "WeightedClassifier"])],
    "noregret.coba": [("coba.py", ["BanditLearner"])],
    "noregret.cluster": [
        ("cluster/_sweep.py", ["sweep", "Sweep"]),
        ("cluster/_fit.py", ["fit", "Fitted"]),
        ("cluster/_keyed.py", ["KeyedLearners", "KeyedBandits", "_Keyed", "Learnt"]),
        ("cluster/_engine.py", ["Engine", "LocalEngine"]),
    ],
    "noregret.ray": [
        ("ray/__init__.py", ["sweep", "fit", "KeyedLearners", "KeyedBandits"]),
        ("ray/_serve.py", ["deployment", "whole_log"]),
        ("ray/_tune.py", ["trainable"]),
    ],
    "noregret.client": [("client.py", ["Client", "Model", "Forecast", "Decision", "Refused"])],
}
"""What is public, by the module in which it is found and the file in which it stands."""

BASES = {"Promising": "what learners promise", "Model": "what learners and bandits share", "_Keyed": "what both share"}
"""Classes that users never name, by what they are."""


def page() -> str:
    """The page, in Markdown."""
    text = [
        "# Python",
        "",
        "What `help()` shows. The classes of `noregret.learners`, `noregret.bandits` and the classifiers are one for each learner, with",
        "its parameters as keywords: [](learners.md) says what these mean.",
    ]
    for module, files in PAGES.items():
        text += ["", f"## {module}", ""]
        start = PACKAGE / ("/".join(module.split(".")[1:]) or ".")
        head = start.with_suffix(".py") if start.with_suffix(".py").exists() else start / "__init__.py"
        text += _fenced(ast.get_docstring(ast.parse(head.read_text())) or "")
        for file, names in files:
            found = {node.name: node for node in ast.parse((PACKAGE / file).read_text()).body if isinstance(node, _NAMED)}
            for name in names:
                text += _entry(found[name], name)
        kinds = start / "_classifiers.pyi"
        if kinds.exists():
            classes = [node.name for node in ast.parse(kinds.read_text()).body if isinstance(node, ast.ClassDef)]
            text += ["", "The classifiers: " + ", ".join(f"`{name}`" for name in classes) + "."]
    return "\n".join(text) + "\n"


_NAMED = (ast.ClassDef, ast.FunctionDef)


def _entry(node: ast.ClassDef | ast.FunctionDef, name: str) -> Iterable[str]:
    yield from ["", f"### {BASES.get(name, name)}", ""]
    if isinstance(node, ast.FunctionDef):
        yield from _described(node)
        return
    made = [method for method in node.body if isinstance(method, ast.FunctionDef)]
    constructor = [method for method in made if method.name == "__init__"]
    signature = _signature(constructor[0], name) if constructor and name not in BASES else ""
    yield from _fenced("\n\n".join(filter(None, [signature, ast.get_docstring(node)])))
    for method in made:
        if not method.name.startswith("_") and ast.get_docstring(method):
            yield ""
            yield from _described(method)


def _described(node: ast.FunctionDef) -> Iterable[str]:
    return _fenced(f"{_signature(node, node.name)}\n\n{ast.get_docstring(node)}")


def _signature(node: ast.FunctionDef, name: str) -> str:
    """The call without types, which the documentation tells."""
    words = [_name(word) for word in node.decorator_list]
    if "property" in words:
        return f".{name}"
    given = node.args
    for argument in [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]:
        if argument is not None:
            argument.annotation = None
    if given.args and given.args[0].arg in ("self", "cls"):
        del given.args[0]
    call = f"{name}({ast.unparse(given)})"
    return call if len(call) <= 96 else call.replace(", ", ",\n    ").replace("(", "(\n    ", 1)


def _name(decorator: ast.expr) -> str:
    return decorator.id if isinstance(decorator, ast.Name) else ""


def _fenced(text: str) -> list[str]:
    return ["```text", "\n".join(_filled(text.strip())), "```"]


def _filled(text: str) -> Iterable[str]:
    """Lines as wide as the page: prose is filled anew, calls and examples stay as they are."""
    groups: list[list[str]] = []
    for line in text.split("\n"):
        before = groups[-1][-1] if groups else ""
        # Lines as long as they may be are followed by the rest of their paragraph.
        if len(before) > _WIDTH and line.strip() and _indent(line) == _indent(before):
            groups[-1].append(line)
        else:
            groups.append([line])
    for group in groups:
        indent = _indent(group[0])
        words = " ".join(line.strip() for line in group)
        yield from textwrap.wrap(words, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) if len(group[0]) > _WIDTH else group


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


_WIDTH = 84
"""Characters that fit into a line of the page."""
