"""Every example of the documentation site is run: shell blocks of a page one after the other, then its Python. Blocks of other kinds
are requests to a running service."""

import doctest
import os
import re
import shutil
import subprocess
import sys
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
    """The page's blocks for the shell, with the scripts that it shows."""
    blocks = re.findall(r"^```sh\n(.*?)^```|^```{literalinclude} (.*?\.sh)$", (SITE / page).read_text(), re.M | re.S)
    return [block or f"bash {(SITE / page).parent / script} ." for block, script in blocks]


def blocks_of(page, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", (SITE / page).read_text(), re.M | re.S)


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
    # A link would start Python without the packages of its environment.
    (tmp_path / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "bin" / "python").chmod(0o755)
    (tmp_path / "docs").symlink_to(SITE)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    monkeypatch.chdir(tmp_path)
    for block in shell_of(page):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block], env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"
    assert doctest.testfile(str(SITE / page), module_relative=False).failed == 0


@pytest.fixture
def here(tmp_path):
    """Puts the address of a running service in the place of the address that pages have."""
    started = [BINARY, "serve", "--listen", "127.0.0.1:0", "--dir", tmp_path / "data"]
    child = subprocess.Popen(started, stderr=subprocess.PIPE, text=True)
    port = next(found[1] for line in child.stderr if (found := re.match(r"noregret: http://127\.0\.0\.1:(\d+),", line)))
    yield lambda block: block.replace(":8730", f":{port}")
    child.terminate()
    child.wait(20)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is absent")
def test_requests_of_the_page_about_the_service(here, tmp_path):
    page = "how-to/serve.md"
    rows = ['{"x": {"weight": 4.1, "colour": "grey"}, "y": "cat"}', '{"x": {"weight": 9, "colour": "red"}, "y": "dog"}']
    (tmp_path / "rows.ndjson").write_text("\n".join(rows))
    fail = 'curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }\n'
    blocks = [block for block in blocks_of(page, "console") if block.startswith("curl ")]
    assert len(blocks) == 6
    for block in blocks:
        command = ["bash", "-euo", "pipefail", "-c", fail + here(block)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and '"error"' not in done.stdout, f"{block}\n{done.stdout}{done.stderr}"
    (script,) = blocks_of(page, "js")
    if shutil.which("node"):
        done = subprocess.run(["node", "--input-type=module", "-"], input=here(script), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    pytest.importorskip("httpx")
    (program,) = blocks_of(page, "python")
    exec(here(program), {})  # noqa: S102


def test_the_program_of_the_page_about_personalizer(here):
    pytest.importorskip("azure.ai.personalizer", exc_type=ImportError)
    (program,) = blocks_of("how-to/personalizer.md", "python")
    # The client sends its key without TLS only to this name.
    exec(here(program).replace("127.0.0.1", "localhost"), {})  # noqa: S102


def test_every_block_is_of_a_kind_that_is_run():
    """Blocks of the kind `console` are requests to the service, of one page; they are run above. The program in Java is run in
    `test_serve.py`; the lines in C# are not."""
    kinds = {"sh", "python", "text", "json", "{literalinclude}", "{include}", "{toctree}"}
    for page in PAGES:
        more = {"how-to/serve.md": {"console", "js"}, "how-to/personalizer.md": {"java", "csharp"}}.get(page, set())
        text = (SITE / page).read_text()
        found = set(re.findall(r"^```(\S+)", text, re.M))
        assert found <= kinds | more, f"{page}: {found - kinds - more}"
        programs = [block for block in blocks_of(page, "python") if ">>>" not in block]
        assert not programs or page in ("how-to/serve.md", "how-to/personalizer.md"), f"{page}: {programs[0]}"


def test_links_between_pages_lead_somewhere():
    """In the repository as on the site: a link without a text is none outside of the site."""
    for page in SITE.rglob("*.md"):
        if page.relative_to(SITE).parts[0] in ("reference", "results"):
            continue
        for text, target in re.findall(r"\[([^\]]*)\]\(([^)#\s]*)(?:#[^)]*)?\)", page.read_text()):
            assert text, f"{page.relative_to(SITE)}: the link to {target} has no text"
            assert "://" in target or (page.parent / target).exists(), f"{page.relative_to(SITE)}: {target}"
