"""The generated classes are those of the registry."""

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent
SPEC = importlib.util.spec_from_file_location("generate", HERE / "generate.py")
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)
MODULES = generate.modules()


@pytest.mark.parametrize("name", MODULES)
def test_generated_files_are_current(name):
    found = (HERE / "python" / "noregret" / name).read_text()
    assert found == MODULES[name], f"{name} is not what the registry says; run generate.py with this Python"


def test_what_a_value_must_be_is_a_type():
    assert generate.kind("a number") == "float"
    assert generate.kind("one of sqrt, constant") == 'Literal["sqrt", "constant"]'
    assert generate.kind("safe, tight, paper or a number > 0") == "float | str"
    assert generate.plain(r"Weight $\lambda \ge \lVert x \rVert$, see [`Ball`]") == "Weight lambda >= | x |, see `Ball`"
