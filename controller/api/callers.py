"""The origin of a request."""

from __future__ import annotations

from typing import NamedTuple


class Caller(NamedTuple):
    """A user of the machine at the Unix socket, an enrolled screen at the TCP port, or a display that may only look.

    Requests are counted and paced by this value, so all displays share one account.
    """

    uid: int | None = None
    screen: str = ""  # its id


DISPLAY = Caller()
