"""Writes what the site shows of other places: docs/reference/, which is the command line's help and every learner with its
parameters, from the program itself, and the Python package, from its source; docs/results/, which is the repository's results/.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from python_reference import page

HERE = Path(__file__).parent / "reference"
RESULTS = HERE.parent.parent / "results"


def said(binary: str, *words: str) -> str:
    """What the program prints, as wide as a page."""
    done = subprocess.run([binary, *words], capture_output=True, text=True, check=True, env={"COLUMNS": "96"})
    return done.stdout.rstrip()


def main() -> None:
    binary = sys.argv[1]
    HERE.mkdir(exist_ok=True)
    overview = said(binary, "--help")
    commands = re.findall(r"^  ([a-z-]+)  ", overview.split("Commands:")[1].split("Options:")[0], re.M)
    text = ["# Commands", "", "What `noregret --help` prints.", "", "```text", overview, "```"]
    for command in commands:
        if command != "help":
            text += ["", f"## noregret {command}", "", "```text", said(binary, command, "--help"), "```"]
    (HERE / "commands.md").write_text("\n".join(text) + "\n")
    text = ["# Learners", "", "What `noregret list NAME` prints.", ""]
    lines = [json.loads(line) for line in said(binary, "list", "--json").splitlines()]
    for learner in lines:
        text += ["", f"## {learner['name']}", "", "```text", said(binary, "list", learner["name"]), "```"]
    (HERE / "learners.md").write_text("\n".join(text) + "\n")
    (HERE / "python.md").write_text(page())
    shutil.copytree(RESULTS, HERE.parent / "results", dirs_exist_ok=True)


if __name__ == "__main__":
    main()
