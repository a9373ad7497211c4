"""What generate.py has written is what the registry says."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("river")

HERE = Path(__file__).parent.parent
SPEC = importlib.util.spec_from_file_location("generate", HERE / "generate.py")
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)
FILES = generate.files()


@pytest.mark.parametrize("name", FILES)
def test_generated_files_are_current(name):
    found = (HERE / "python" / "noregret" / name).read_text()
    assert found == FILES[name], f"{name} is not what the registry says; run generate.py with this Python"
