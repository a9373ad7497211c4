"""Every example of the documentation site is run: shell blocks of a page one after the other, then its Python."""

import doctest
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BINARY, ROOT, needs_the_command_line

SITE = ROOT / "docs"
PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.md")
    if path.relative_to(SITE).parts[0] not in ("theory", "reference", "results", "_build")
)
NEEDS = {
    "how-to/ray.md": ["ray.data", "ray.serve"],
    "how-to/new-classes.md": ["river"],
    "how-to/dataframes.md": ["pandas"],
    "how-to/move.md": ["river", "sklearn", "pandas", "joblib"],
    "tutorials/router.md": ["sklearn"],
    "tutorials/sensors.md": ["ray"],
}
DATA = Path(os.environ.get("NOREGRET_SHARED", ROOT.parent / "shared")) / "data"
NEEDS_DATA = {"tutorials/drift.md": "electricity.libsvm.gz"}

pytestmark = needs_the_command_line


def shell_of(page):
    return re.findall(r"^```sh\n(.*?)^```", (SITE / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, monkeypatch):
    for module in NEEDS.get(page, []):
        pytest.importorskip(module)
    if (needed := NEEDS_DATA.get(page)) is not None:
        if not (DATA / needed).exists():
            pytest.skip(f"{needed} is absent")
        (tmp_path / "data").symlink_to(DATA.absolute())
    (tmp_path / "bin").mkdir()
    shutil.copy(BINARY, tmp_path / "bin" / "noregret")
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    monkeypatch.chdir(tmp_path)
    for block in shell_of(page):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block], env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"
    assert doctest.testfile(str(SITE / page), module_relative=False).failed == 0


def test_links_between_pages_lead_somewhere():
    for page in SITE.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+?)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target:
                # The site has results/ of the repository among its pages, and a reference that the program writes.
                place = (page.parent / target).resolve()
                if place.is_relative_to(SITE / "results"):
                    place = ROOT / place.relative_to(SITE)
                written = place.is_relative_to(SITE / "reference")
                assert written or place.exists(), f"{page.relative_to(SITE)}: {target}"
