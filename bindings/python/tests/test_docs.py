"""Every example in the documentation is run."""

import doctest
import functools
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from conftest import ROOT
from program import program

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


# docs/results and docs/reference are made by building the site, which another test may do at the same time.
MADE = {ROOT / "docs" / "results", ROOT / "docs" / "reference"}
WRITTEN = [page for page in (ROOT / "docs").glob("**/*.md") if not MADE & set(page.parents)]
PAGES = [*WRITTEN, ROOT / "README.md", *(ROOT / "bindings" / "python").glob("*.md"), *HERE.glob("docs/*.md")]
SOURCES = [*(HERE / "python").glob("**/*.py")]
# What has the form of a dotted name and is none.
FILES = {"noregret.service", "noregret.html", "noregret.css", "noregret.request"}


def test_names_that_the_documentation_has_are_there():
    """Also those in tables, running text and docstrings, which no example runs."""
    for library in ("sklearn", "river", "coba"):
        pytest.importorskip(library)
    named = {found for page in [*PAGES, *SOURCES] for found in re.findall(r"(?<![\w./-])noregret(?:\.[A-Za-z]\w*)+", page.read_text())}
    assert {"noregret.river.Auto", "noregret.cluster.fit"} <= named
    missing = [name for name in sorted(named - FILES) if not is_there(name)]
    assert missing == []


def is_there(name: str) -> bool:
    """Whether a dotted name leads to a module or an attribute; those of modules whose library is absent cannot be known."""
    found, *names = name.split(".")
    at = importlib.import_module(found)
    for part in names:
        if inspect.ismodule(at) and not hasattr(at, part):
            try:
                importlib.import_module(f"{at.__name__}.{part}")
            except ImportError as error:
                return str(error.name).partition(".")[0] in ("dask", "distributed", "httpx", "pyspark", "ray")
        if not hasattr(at, part):
            return False
        at = getattr(at, part)
    return True


def commands() -> list[tuple[str, str]]:
    """The commands of the documentation, with their pages: in blocks and in back ticks."""
    found = []
    for page in PAGES:
        text = page.read_text().replace("\\\n", " ")
        for span in [*re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S), *re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))]:
            for line in span.splitlines():
                found += [(page.name, command) for command in re.findall(r"(?:^|[|;&$(`] *)noregret ([a-z-][^|;&`#)>]*)", line.strip())]
    return found


@functools.cache
def help_of(*words: str) -> str:
    return program(*words, "--help", text=True)


def test_commands_of_the_documentation_are_there():
    """Every command has a known name and known options, also where no example runs it."""
    found = [command for command in commands() if re.match(r"[a-z-]+( |$)", command[1])]
    assert len(found) > 60
    known = set(re.findall(r"^  ([a-z]+) ", help_of(), re.M))
    wrong = []
    for page, command in found:
        name, *words = command.split()
        if name.startswith("--"):
            name, words = "", [name, *words]
        if name and name not in known:
            wrong.append(f"{page}: noregret {command}")
            continue
        options = re.findall(r"(?<!\S)(-{1,2}[a-z][\w-]*)", " ".join(words))
        helped = help_of(name) if name else help_of()
        wrong += [f"{page}: {option} of noregret {command}" for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", helped)]
    assert wrong == []


def test_data_sets_of_the_documentation_are_there():
    """`noregret data fetch NAME` has every set that a page says it downloads."""
    known = set(re.findall(r"^(\w+) ", program("data", "list", text=True), re.M))
    assert "covtype" in known
    fetched = {command.split()[2] for _, command in commands() if command.startswith("data fetch ")}
    assert fetched - {"NAME"} - known == set()


# Of Vowpal Wabbit and Cargo, and of the policies of Personalizer's evaluations.
OTHERS = {
    f"--{name}"
    for name in (
        "audit bag bfgs cb cb_adf cb_explore cb_explore_adf cb_type cbify ccb_explore_adf csoaa csoaa_ldf daemon dsjson epsilon eval features ignore"
        " interactions invert_hash loss_function noconstant oaa port power_t sketch_size slates wap width"
    ).split()
}


def test_options_in_running_text_are_there():
    """Options alone in back ticks are those of some command, where the sentence is not about another program's."""
    helps = " ".join(help_of(name) for name in ["run", *sorted(set(re.findall(r"^  ([a-z]+) ", help_of(), re.M)) - {"help", "noregret", "run"})])
    wrong = []
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        for span in re.findall(r"(?<!`)`(--[^`\n]+)`(?!`)", text):
            for option in re.findall(r"(?<!\S)--[a-z][\w-]*", span):
                if option not in OTHERS and not re.search(rf"{option}(?![\w-])", helps):
                    wrong.append(f"{page.relative_to(ROOT)}: {option}")
    assert sorted(set(wrong)) == []


def test_everything_public_is_documented():
    undocumented = []
    kinds = ("Learner", "Bandit", "Run", "Decision", "DecisionLog", "Estimate", "Evaluation")
    for kind in (getattr(noregret, name) for name in kinds):
        for name in dir(kind):
            if not name.startswith("_") and not getattr(kind, name).__doc__:
                undocumented.append(f"{kind.__name__}.{name}")
    assert undocumented == []


def test_the_lines_that_evaluate_needs_are_a_log(tmp_path):
    # The third line was feedback for a decision that the page did not show, and the log was refused.
    page = (ROOT / "docs/how-to/bandit-feedback.md").read_text()
    log = tmp_path / "decisions.ndjson"
    log.write_text(page.split("```json\n")[1].split("```")[0])
    assert noregret.evaluate(log, "uniform").rounds == 2
