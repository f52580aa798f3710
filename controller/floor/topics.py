"""The topics of the floor.

    cardshoe/1/SITE/PIT/TABLE/journal    records of the journal, in order; not retained
                              keeper     asks whether a client keeps the journal; not retained
                              table      the newest state of the table; retained
                              device     the newest state of its device; retained
                              service    whether the daemon runs; retained, and its last will

1 is the number of this scheme, so that a later one can be used alongside it. One topic carries the whole journal of a
table, because a broker keeps the order within a topic. A client that keeps the journal subscribes to `journal` and
`keeper`; one that only watches it, to `journal` alone: the acknowledgement of a message to `keeper` says whether a
keeper is subscribed.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

ROOT: Final = "cardshoe/1"
NAME: Final = r"[A-Za-z0-9_.-]{1,64}"
"""The pattern of a site's, a pit's or a table's name: one topic level, without wildcards."""

_PLACE: Final = re.compile(rf"({NAME})/({NAME})/({NAME})")
_TOPIC: Final = re.compile(rf"{ROOT}/({NAME})/({NAME})/({NAME})/([a-z]+)")


class TopicSubject(StrEnum):
    """The last part of a topic, which says what its messages are about."""

    JOURNAL = "journal"
    KEEPER = "keeper"
    TABLE = "table"
    DEVICE = "device"
    SERVICE = "service"


class TablePlace(NamedTuple):
    """The place of a table on the floor.

    >>> TablePlace("vienna", "p1", "nc-07").topic(Subject.JOURNAL)
    'cardshoe/1/vienna/p1/nc-07/journal'
    """

    site: str
    pit: str
    table: str

    def topic(self, subject: TopicSubject) -> str:
        """Return the topic for a subject. Raise ValueError for an invalid name."""
        for name in self:
            if not re.fullmatch(NAME, name):
                raise ValueError(f"{name!r} is not a name for a site, a pit or a table")
        return "/".join((ROOT, *self, subject))


def topic_filter(subject: TopicSubject, site: str = "+", pit: str = "+", table: str = "+") -> str:
    """Return the filter for a subject, of every table unless some are named.

    >>> topic_filter(Subject.TABLE, "vienna")
    'cardshoe/1/vienna/+/+/table'
    """
    return "/".join((ROOT, site, pit, table, subject))


def read_topic(topic: str) -> tuple[TablePlace, TopicSubject] | None:
    """Return the table and the subject of a topic, or None if it does not follow this scheme."""
    found = _TOPIC.fullmatch(topic)
    if found is None or found[4] not in list(TopicSubject):
        return None
    return TablePlace(*found.group(1, 2, 3)), TopicSubject(found[4])


def place_of(text: str) -> TablePlace | None:
    """Return the table written as SITE/PIT/TABLE, or None.

    >>> place_of("vienna/p1/nc-07"), place_of("vienna/+/nc-07")
    (TablePlace(site='vienna', pit='p1', table='nc-07'), None)
    """
    found = _PLACE.fullmatch(text)
    return TablePlace(*found.groups()) if found else None
