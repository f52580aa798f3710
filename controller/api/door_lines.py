"""Lines for PIN events and for requests that were refused before they reached the table."""

from __future__ import annotations

from typing import Any

from controller.api.narration_words import AT_THE_DOOR


def pin_refused(event: dict[str, Any]) -> str:
    line = f"wrong PIN of {event['person']}{_of_user(event)}"
    return f"{line}; no more is taken there for now" if event["locked_until_utc_ns"] else line


def at_door(event: dict[str, Any]) -> str:
    what = AT_THE_DOOR.get(event["what"], event["what"].replace("-", " "))
    refused = f"refused before the table: {what}{_of_user(event)}"
    return f"{refused}, {event['count']} times" if event["count"] > 1 else refused


def _of_user(event: dict[str, Any]) -> str:
    if event.get("screen"):
        return f" at screen {event['screen']}"
    return "" if event["uid"] is None else f" by user {event['uid']}"
