"""The command line, in a process that has loaded it once and divides itself for every call."""

import json
import multiprocessing
import os
import tempfile
from pathlib import Path
from typing import Any

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["noregret._core"])


def _main(words: list[str], folder: str, place: str) -> None:
    """Runs the program with files in place of its streams."""
    from noregret import _core

    os.chdir(place)
    for number, (name, mode) in enumerate([("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY)]):
        os.dup2(os.open(os.path.join(folder, name), mode), number)
    os._exit(_core.main(["noregret", *words]))


def _said(words: tuple[Any, ...], stdin: str | bytes) -> tuple[str, str]:
    """What the program writes to its output and beside it; ValueError with its last sentence if it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"stdin": stdin, "stdout": "", "stderr": ""}.items():
            Path(folder, name).write_bytes(text if isinstance(text, bytes) else text.encode())
        child = _SERVER.Process(target=_main, args=([str(word) for word in words], folder, os.getcwd()))
        child.start()
        child.join(120)
        out, beside = (Path(folder, name).read_text() for name in ("stdout", "stderr"))
        if child.exitcode != 0:
            raise ValueError((beside.strip() or f"exit code {child.exitcode}").splitlines()[-1])
        return out, beside


def program(*words: Any, stdin: str | bytes = "", text: bool = False) -> Any:
    """The lines of JSON that the program prints, or its text."""
    out, _ = _said(words, stdin)
    return out if text else [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def sentences(*words: Any) -> str:
    """All that the program writes."""
    return "\n".join(_said(words, ""))


def summary(*words: Any) -> dict[str, Any]:
    """The last line of a run with `--json`."""
    return program(*words, "--json", "--quiet")[-1]
