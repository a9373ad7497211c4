"""`python -m noregret`: the command line."""

import sys

from . import _core


def main() -> None:
    """The command line, as `noregret` in the shell."""
    sys.exit(_core.main(["noregret", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
