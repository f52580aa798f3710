"""The metadata files of the Debian package: control, changelog and copyright."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from importlib.metadata import Distribution
from typing import Final

from deb.environment import HOME, PACKAGES

MAINTAINER: Final = "The maintainers of cardshoe <maintainers@cardshoe.invalid>"
CONTROL: Final = """\
Package: cardshoe
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {kibibytes}
Depends: python3 (>= 3.11), python3 (<< 3.12), libc6 (>= 2.36), systemd | systemd-standalone-sysusers
Recommends: psmisc, udev, usbutils
Suggests: bash-completion
Section: misc
Priority: optional
Description: host side of electronic card shoes and shufflers
 It knows which hand the next card belongs to, stops what the rules do not
 allow, and reports irregularities with the clause of the rules that applies.
 One service for each table: cardshoe@TABLE.
 .
 An upgrade restarts no table. Removing the package, and purging it, leaves
 configurations, keys and journals. The pages for technicians are in
 /usr/share/doc/cardshoe/docs.
"""
HEADING: Final = re.compile(r"## (\S+)")
COPYRIGHT: Final = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: cardshoe
Comment: The virtual environment under /opt/cardshoe holds the packages below in
 the versions that were tested. The texts of their licences lie there, beside
 each package, in its folder NAME-VERSION.dist-info. libusb_package carries
 libusb, under LGPL-2.1-or-later (/usr/share/common-licenses/LGPL-2.1).

Files: *
Copyright: the maintainers of cardshoe
License: Apache-2.0
"""
APACHE: Final = """
License: Apache-2.0
 On Debian systems the whole text is in /usr/share/common-licenses/Apache-2.0.
"""


def control(version: str, architecture: str, kibibytes: int) -> str:
    return CONTROL.format(version=version, architecture=architecture, kibibytes=kibibytes, maintainer=MAINTAINER)


def changelog(markdown: str, version: str, epoch: int) -> str:
    """Return CHANGELOG.md in Debian's form. Each of its versions is an entry; the first is the packaged version."""
    parts = HEADING.split(markdown)[1:]
    date = format_datetime(datetime.fromtimestamp(epoch, UTC))
    entries = []
    for number, text in zip([version, *parts[2::2]], parts[1::2], strict=True):
        said = "\n".join(_items(text.partition("\n")[2]))
        entries.append(f"cardshoe ({number}) bookworm; urgency=medium\n\n{said}\n\n -- {MAINTAINER}  {date}\n")
    return "\n".join(entries)


def _items(text: str) -> Iterator[str]:
    """Yield paragraphs and list items, in lines that are not too long."""
    for item in re.split(r"\n\n|\n(?=- )", text.strip()):
        words = " ".join(item.split())
        first = "  * " if words.startswith("- ") else "  "
        yield textwrap.fill(words.removeprefix("- "), 79, initial_indent=first, subsequent_indent=" " * len(first))


def copyright_of(parts: Iterable[Distribution]) -> str:
    """Return the copyright file in Debian's machine-readable form, with every package in the environment."""
    others = (one for one in parts if one.name != "cardshoe")
    return COPYRIGHT + "".join(_part(one) for one in others) + APACHE


def _part(part: Distribution) -> str:
    authors = _said(part, "Author", "Author-email", "Maintainer") or f"the authors of {part.name}"
    licence = _said(part, "License-Expression", "License") or _classified(part)
    tops = sorted({one.parts[0] for one in part.files or ()} - {"..", "__pycache__"})
    files = "\n ".join(f"{HOME}/packaged/{PACKAGES}/{one}*".lstrip("/") for one in tops)
    return f"\nFiles: {files}\nCopyright: {authors}\nLicense: {licence}\n"


def _said(part: Distribution, *fields: str) -> str:
    """Return the first line of the first field that the distribution has."""
    found = (one.strip() for field in fields for one in part.metadata.get_all(field) or ())
    return next((one.splitlines()[0].rstrip(",") for one in found if one), "")


def _classified(part: Distribution) -> str:
    found = [one for one in part.metadata.get_all("Classifier") or () if one.startswith("License ::")]
    return found[0].rpartition(" :: ")[2] if found else "see its folder"
