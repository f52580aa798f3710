"""The floor: what a table reports to the casino through a broker (MQTT 5). A table takes nothing from the broker.

    topics        the names of the topics
    address       the broker's address
    certificate   the certificate files with which a program connects to the broker
    broker        one connection to the broker: messages are acknowledged, a refusal is an error with a sentence
    bounded_client  paho's client, with limits that hold whatever the broker sends
    table_report  the state of the table, its device and its service, as the floor shows them
    reporting     sends that state when it has changed
    publisher     sends the state, and the journal from the cursor on; part of the daemon
    floor_view    the state of the floor, from the newest reports of its tables
    stories       the events at a table, from the newest records of its journal
    follower      follows the floor for the programs that display it
    page_stream   the messages to the page
    page_server   serves the page on this machine only; its files are in `page`
    store/        the journals of all tables in one database, with checks of their integrity; a separate program

    journal ── outbox ── publisher ── broker ── follower ─┬─ floor_view ─┬─ watch
               cursor ──┘                   └── store     └─ stories ────┴─ page_stream ── page_server

The journal is the outbox (`controller/journal/outbox.py`): there is no other queue, and losing the cursor only means
that records are sent again. The table never waits for the floor. A table subscribes to nothing: the floor cannot
operate it.

The codes of `BrokerError`:

    ├── floor-unreachable   no connection: the host is unknown, nothing listens, or nothing answers
    ├── floor-certificate   the certificate of one side is not valid
    ├── floor-refused       the broker refuses the client or its message
    ├── floor-lost          the connection ended
    └── floor-unread        the broker reports that no client has subscribed to the journal
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from firmware_bridge.messages import AnyText, MessageError

BrokerCode: TypeAlias = Literal["floor-unreachable", "floor-certificate", "floor-refused", "floor-lost", "floor-unread"]


class BrokerError(MessageError):
    """A message for people, a `hint` what to do next, and a `code` for machines."""

    code: BrokerCode

    def __init__(self, code: BrokerCode, said: AnyText, hint: AnyText) -> None:
        super().__init__(said, hint, code)
