"""The command line: `python3 -m deb OUT_DIR`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from deb.package import build
from deb.sources import MissingError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m deb", description="Make the Debian package of the program.")
    parser.add_argument("folder", metavar="OUT_DIR", type=Path, help="where the package is put; made if need be")
    parser.add_argument("--version", help="the package's version; left out: the program's, with date and commit")
    parser.add_argument("--sign-with", metavar="KEY", type=Path, help="a private Ed25519 key, as PEM, that signs it")
    options = parser.parse_args()
    try:
        made = build(options.folder.resolve(), options.version, options.sign_with)
    except MissingError as error:
        print(f"deb: {error}", file=sys.stderr)  # noqa: T201  # a command line
        return 1
    print(made)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
