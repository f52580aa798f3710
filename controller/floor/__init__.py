"""The floor: what a table reports to the casino through a broker (MQTT 5). No table takes anything from there.

    topics        under which names
    address       where the broker is
    certificate   the files with which a program comes to it
    broker        one connection to the broker: what is sent is acknowledged, a refusal is an error with a sentence
    bounded_client  paho's client, with bounds that hold whatever the broker sends
    table_report  the state of the table, its device and its service, as the floor shows them
    reporting     sends it where it has changed
    cursor_file   up to where the journal was sent
    publisher     sends the journal from the cursor on, and the state; part of the daemon
    floor_view    what the floor looks like, from the newest reports of its tables
    stories       what happened at a table, from the newest records of its journal
    follower      follows the floor for those who look at it
    page_stream   what the page is sent
    page_server   the page, on this machine alone; its files are in `page`
    store/        the journals of all tables in one database, and whether they are whole; a program of its own

    journal ── outbox ── publisher ── broker ── follower ─┬─ floor_view ─┬─ watch
               cursor ──┘                   └── store     └─ stories ────┴─ page_stream ── page_server

The journal is the outbox (`controller/journal/outbox.py`): nothing is kept besides it, and a cursor that is lost only
repeats what was sent. The table never waits for the floor. A table subscribes to nothing: the floor cannot operate it.

The codes of `BrokerError`:

    ├── floor-unreachable   no connection: no such host, nobody listens, no answer
    ├── floor-certificate   one side's certificate is not good
    ├── floor-refused       the broker refuses the client, or what it sends
    ├── floor-lost          the connection ended
    └── floor-unread        the broker says that nobody has subscribed to the journal
"""

from __future__ import annotations

from typing import Literal, TypeAlias

BrokerCode: TypeAlias = Literal["floor-unreachable", "floor-certificate", "floor-refused", "floor-lost", "floor-unread"]


class BrokerError(Exception):
    """A sentence for people (`str`), a `hint` what to do next, and a `code` for machines."""

    def __init__(self, code: BrokerCode, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.code: BrokerCode = code
        self.hint = hint
