"""The right to write to a store or a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Lease:
    """The right to write to a store (or to a log): one driver has it at a time. The file is locked, so that the right ends with the process
    of the driver, and has a number that grows with every driver: actors of an earlier one write no more."""

    def __init__(self, path: Path, refusal: str) -> None:
        # Kept open: closing the file ends the lock.
        self._file: Any = open(path, "a+b")  # noqa: SIM115
        try:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # Windows has no such locks: only the number guards the store there.
            pass
        except OSError:
            self._file.close()
            raise RuntimeError(refusal) from None
        self._file.seek(0)
        self.number = int(self._file.read() or b"0") + 1
        self._write()

    def follow(self, number: int) -> None:
        """Makes the number larger than that of an earlier driver: the file may have lost it when a machine failed."""
        if self.number <= number:
            self.number = number + 1
            self._write()

    def _write(self) -> None:
        self._file.truncate(0)
        self._file.write(str(self.number).encode())
        self._file.flush()

    def close(self) -> None:
        """Gives the right back."""
        self._file.close()
