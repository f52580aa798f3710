"""The topics of the floor.

    cardshoe/1/SITE/PIT/TABLE/journal    records of the journal, in its order; not retained
                              keeper     asks whether somebody keeps the journal; not retained
                              table      the newest state of the table; retained
                              device     the newest state of its device; retained
                              service    whether the daemon runs; retained, and its last will

1 is the number of this scheme: another one may stand beside it. One topic has the whole journal of a table, because a
broker keeps the order within a topic. Who keeps the journal subscribes to `journal` and `keeper`; who watches it, to
`journal` alone: the acknowledgement of a message to `keeper` says whether a keeper has subscribed.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

ROOT: Final = "cardshoe/1"
NAME: Final = r"[A-Za-z0-9_.-]{1,64}"
"""Of a site, a pit or a table: no wildcard, no level of its own."""

_PLACE: Final = re.compile(rf"({NAME})/({NAME})/({NAME})")
_TOPIC: Final = re.compile(rf"{ROOT}/({NAME})/({NAME})/({NAME})/([a-z]+)")


class Subject(StrEnum):
    """What a topic is about."""

    JOURNAL = "journal"
    KEEPER = "keeper"
    TABLE = "table"
    DEVICE = "device"
    SERVICE = "service"


class TablePlace(NamedTuple):
    """Where on the floor a table is.

    >>> TablePlace("vienna", "p1", "nc-07").topic(Subject.JOURNAL)
    'cardshoe/1/vienna/p1/nc-07/journal'
    """

    site: str
    pit: str
    table: str

    def topic(self, subject: Subject) -> str:
        """Raises ValueError for a name that is none."""
        for name in self:
            if not re.fullmatch(NAME, name):
                raise ValueError(f"{name!r} is no name of a site, a pit or a table")
        return "/".join((ROOT, *self, subject))


def topic_filter(subject: Subject, site: str = "+", pit: str = "+", table: str = "+") -> str:
    """What a program of the floor subscribes to: of every table, unless they are named.

    >>> topic_filter(Subject.TABLE, "vienna")
    'cardshoe/1/vienna/+/+/table'
    """
    return "/".join((ROOT, site, pit, table, subject))


def read_topic(topic: str) -> tuple[TablePlace, Subject] | None:
    """Whose topic it is; None: it is none of this scheme."""
    found = _TOPIC.fullmatch(topic)
    if found is None or found[4] not in list(Subject):
        return None
    return TablePlace(*found.group(1, 2, 3)), Subject(found[4])


def place_of(text: str) -> TablePlace | None:
    """The table that is written as SITE/PIT/TABLE; None: none is.

    >>> place_of("vienna/p1/nc-07"), place_of("vienna/+/nc-07")
    (TablePlace(site='vienna', pit='p1', table='nc-07'), None)
    """
    found = _PLACE.fullmatch(text)
    return TablePlace(*found.groups()) if found else None
