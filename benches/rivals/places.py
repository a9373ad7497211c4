"""Where things are."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "target" / "rivals"
NOREGRET = Path(os.environ.get("NOREGRET_PROGRAM", ROOT / "target" / "dist" / "noregret"))
