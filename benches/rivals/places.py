"""Where things are."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "target" / "rivals"
NOREGRET = Path(os.environ.get("NOREGRET_PROGRAM", ROOT / "target" / "dist" / "noregret"))
MOA = Path(os.environ.get("NOREGRET_MOA", WORK / "moa.jar"))
"""MOA itself: `pip download --no-deps capymoa==0.15.1` and, of the wheel, `capymoa/jar/moa.jar`."""
