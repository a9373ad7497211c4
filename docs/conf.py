"""The documentation site. `cargo xtask docs` builds it without a network, once its tools are installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "noregret"
author = "The noregret authors"
copyright = "The noregret authors, MIT or Apache-2.0"  # noqa: A001

extensions = ["myst_parser", "sphinx_copybutton", "mathml", "pictures", "repository"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "requirements.txt"]

html_theme = "furo"
html_title = "noregret"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["pictures.css"]
html_copy_source = False
html_theme_options = {"source_repository": "", "top_of_page_buttons": []}
nitpicky = True
suppress_warnings = ["myst.xref_missing"] if "linkcheck" in sys.argv else []
