"""Fault points where a daemon kills itself while it sends its journal to the floor: see `tests.end_to_end.child`."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from paho.mqtt.client import Client

from controller.floor import publisher
from controller.floor.broker import BrokerConnection
from controller.floor.topics import TopicSubject


class FloorPoint(StrEnum):
    """A point in the handling of one record, and of the cursor after it.

    `SENT`: the record was handed to the connection. `OPENED`, `WRITTEN`, `SYNCED`: the file that will replace the
    cursor. `RENAMED`: it has its name. `DURABLE`: its folder was synced.
    """

    SENDING = "sending"
    SENT = "sent"
    ACKNOWLEDGED = "acknowledged by the broker"
    OPENED = "cursor opened"
    WRITTEN = "cursor written"
    SYNCED = "cursor synced"
    RENAMED = "cursor renamed"
    DURABLE = "cursor durable"


Reach = Callable[[FloorPoint], None]


class WatchedOs:
    """Watches `os` for the cursor's file only."""

    def __init__(self, reach: Reach) -> None:
        self._after = {"open": FloorPoint.OPENED, "write": FloorPoint.WRITTEN, "fsync": FloorPoint.SYNCED}
        self._reach = reach

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        return found if name not in self._after else _then(found, lambda: self._reach(self._after[name]))


def watch_floor(reach: Reach) -> None:
    watch_connection(reach)
    watch_cursor(reach)


def watch_connection(reach: Reach) -> None:
    publish, hand_over = BrokerConnection.publish, Client.publish

    def is_record(topic: str) -> bool:
        return topic.endswith(f"/{TopicSubject.JOURNAL}")

    async def watched(self: BrokerConnection, topic: str, *given: Any, **more: Any) -> None:
        if is_record(topic):
            reach(FloorPoint.SENDING)
        await publish(self, topic, *given, **more)
        if is_record(topic):
            reach(FloorPoint.ACKNOWLEDGED)

    def handed_over(self: Client, topic: str, *given: Any, **more: Any) -> Any:
        done = hand_over(self, topic, *given, **more)
        if is_record(topic):
            reach(FloorPoint.SENT)
        return done

    BrokerConnection.publish = watched  # type: ignore[method-assign]  # watches it
    Client.publish = handed_over  # type: ignore[method-assign]  # watches it


def watch_cursor(reach: Reach) -> None:
    replace = Path.replace

    def renamed(self: Path, target: Any) -> Path:
        done = replace(self, target)
        if self.name.startswith(publisher.CURSOR_NAME):
            reach(FloorPoint.RENAMED)
        return done

    Path.replace = renamed  # type: ignore[method-assign,assignment]  # watches it
    publisher.os = WatchedOs(reach)  # type: ignore[assignment,attr-defined]  # watches it
    publisher.sync_directory = _then(  # type: ignore[attr-defined]  # watches it
        publisher.sync_directory,  # type: ignore[attr-defined]  # likewise
        lambda: reach(FloorPoint.DURABLE),
    )


def _then(work: Callable[..., Any], after: Callable[[], None]) -> Callable[..., Any]:
    def watched(*given: Any) -> Any:
        done = work(*given)
        after()
        return done

    return watched
