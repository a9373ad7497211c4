"""The classes that are made at import are like classes that somebody wrote."""

import importlib
import inspect
import pickle
import typing

import pytest

from noregret import _classes, bandits, learners

MODULES = {"noregret.learners": "numpy", "noregret.bandits": "numpy", "noregret.sklearn": "sklearn", "noregret.river": "river"}


@pytest.mark.parametrize("name", MODULES)
def test_classes_look_like_written_ones(name):
    pytest.importorskip(MODULES[name])
    module = importlib.import_module(name)
    for kind in (getattr(module, called) for called in module.__all__):
        assert getattr(importlib.import_module(kind.__module__), kind.__qualname__) is kind
        assert pickle.loads(pickle.dumps(kind)) is kind
        assert "\n\nParameters\n----------\n" in kind.__doc__ and "\\" not in kind.__doc__
        keywords = inspect.signature(kind).parameters.values()
        assert {p.name for p in keywords} <= set(typing.get_type_hints(kind.__init__))
        required = {p.name: 3 for p in keywords if p.default is p.empty and p.kind is p.KEYWORD_ONLY}
        with pytest.raises(TypeError, match=rf"{kind.__name__}.__init__\(\) takes 1 positional argument"):
            kind(2)
        if not any(p.kind is p.VAR_KEYWORD for p in keywords):
            for wrong in {"nrom": 1.0}, {"name": "ogd"}:
                with pytest.raises(TypeError, match=rf"{kind.__name__}.__init__\(\) got .* '{next(iter(wrong))}'"):
                    kind(**required, **wrong)


def test_they_can_be_inherited_from():
    class Mine(learners.Ogd):
        def __init__(self, width):
            super().__init__(features=width, classes=2)

    assert repr(Mine(3)) == "Mine(classes=2, features=3, rounds=0)"
    assert not hasattr(learners.Ogd(features=2, classes=2), "__dict__")
    with pytest.raises(TypeError, match="labels: the labels that may be played must be given"):
        bandits.Banditron().decide([1.0])


def test_what_a_value_must_be_is_a_type():
    def type_of(kind, *words):
        return _classes.type_of({"kind": kind, "words": list(words)})

    assert type_of("float") == "float"
    assert type_of("words", "sqrt", "constant") == 'Literal["sqrt", "constant"]'
    assert type_of("float", "safe", "tight") == 'float | Literal["safe", "tight"]'
    assert type_of("text", "tree") == "str"
    assert _classes.plain(r"Weight $\lambda \ge \lVert x \rVert$, see [`Ball`]") == "Weight lambda >= | x |, see `Ball`"
