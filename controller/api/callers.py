"""Who a request comes from."""

from __future__ import annotations

from typing import NamedTuple


class Caller(NamedTuple):
    """A user of the machine at the Unix socket, or an enrolled screen at the TCP port; neither: a display, which may
    only look. What is counted and paced for each is counted by this value, so all displays share one account.
    """

    uid: int | None = None
    screen: str = ""  # its id


DISPLAY = Caller()
