"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from __future__ import annotations

import html
from typing import Any

from latex2mathml.converter import convert


def _inline(self: Any, node: Any) -> None:
    self.body.append(_mathml(node.astext(), "inline"))
    raise _skip()


def _display(self: Any, node: Any) -> None:
    text = node.astext()
    number = f' <span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    anchor = f' id="{html.escape(node["ids"][0])}"' if node["ids"] else ""
    self.body.append(f'<div class="math"{anchor}>{_mathml(text, "block")}{number}</div>')
    raise _skip()


def _mathml(text: str, display: str) -> str:
    return str(convert(text, display=display))


def _skip() -> Exception:
    from docutils import nodes

    return nodes.SkipNode()


def setup(app: Any) -> dict[str, bool]:
    """Registers the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
