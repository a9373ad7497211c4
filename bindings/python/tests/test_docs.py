"""Every example in the documentation is run."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import noregret

HERE = Path(__file__).parent.parent
NEEDS = {"noregret.sklearn": "sklearn", "noregret.river": "river", "noregret.coba": "coba", "noregret.ray": "ray.data", "noregret.client": "httpx"}
MODULES = ["noregret", *(m.name for m in pkgutil.walk_packages(noregret.__path__, "noregret.", onerror=lambda _: None))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    for module, library in NEEDS.items():
        if name.startswith(module):
            pytest.importorskip(library)
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_pages(page, tmp_path, monkeypatch):
    for library in ("sklearn", "river", "coba"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(HERE / page), module_relative=False)
    assert result.attempted > 5 and result.failed == 0


def test_classes_that_the_documentation_names_are_there():
    """Also those in tables and running text, which no example runs."""
    for library in ("sklearn", "river", "coba"):
        pytest.importorskip(library)
    pages = [*HERE.parents[1].glob("docs/**/*.md"), HERE.parents[1] / "README.md", *HERE.glob("**/*.md")]
    named = {found for page in pages for found in re.findall(r"\bnoregret\.(\w+)\.([A-Z]\w+)", page.read_text())}
    assert ("river", "Auto") in named
    for module, name in sorted(named):
        if module != "ray":
            assert hasattr(importlib.import_module(f"noregret.{module}"), name), f"noregret.{module}.{name}"


def test_everything_public_is_documented():
    undocumented = []
    kinds = ("Learner", "Bandit", "Run", "Decision", "DecisionLog", "Estimate", "Evaluation")
    for kind in (getattr(noregret, name) for name in kinds):
        for name in dir(kind):
            if not name.startswith("_") and not getattr(kind, name).__doc__:
                undocumented.append(f"{kind.__name__}.{name}")
    assert undocumented == []
