"""Links to results/ as they are in the repository, where they lead to the folder beside docs/; the site has it among its pages."""

from __future__ import annotations

import re
from typing import Any


def _inside(_app: Any, _page: str, source: list[str]) -> None:
    source[0] = re.sub(r"\]\(((?:\.\./)*)\.\./results/", r"](\1results/", source[0])


def setup(app: Any) -> dict[str, bool]:
    """Runs when a page has been read."""
    app.connect("source-read", _inside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
