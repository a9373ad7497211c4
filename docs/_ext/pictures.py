"""Drawings in the colours of the page: beside each SVG that a page shows stands one for dark pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from docutils import nodes

DARK = {
    'fill="black"': 'fill="#ced6dd"',
    'fill="white"': 'fill="#131416"',
    "#000000": "#ced6dd",
    "#ffffff": "#131416",
    "#cccccc": "#3c4043",
    "#0072b2": "#4aa8e0",
}
"""What drawings have on white, and what takes its place: paper, ink, grid, and the one line that is too dark."""


def _both(app: Any, doctree: nodes.document) -> None:
    for picture in list(doctree.findall(nodes.image)):
        source = picture["uri"]
        if not source.endswith(".svg") or "://" in source or "only-light" in picture["classes"]:
            continue
        folder = Path(app.srcdir)
        page = Path(app.env.doc2path(app.env.docname)).parent
        light = folder / source.lstrip("/") if source.startswith("/") else page / source
        drawing = light.read_text()
        for bright, dark in DARK.items():
            drawing = drawing.replace(bright, dark)
        made = Path(app.doctreedir) / "dark" / light.name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(drawing)
        other = picture.deepcopy()
        other["uri"] = f"/{Path(os.path.relpath(made, folder)).as_posix()}"
        picture["classes"].append("only-light")
        other["classes"].append("only-dark")
        picture.parent.insert(picture.parent.index(picture) + 1, other)
        app.env.note_dependency(str(light))


def setup(app: Any) -> dict[str, bool]:
    """Runs before Sphinx collects pictures."""
    app.connect("doctree-read", _both, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
