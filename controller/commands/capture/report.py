"""The content of a capture, and its reading by the driver, as lines for people and as JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from firmware_bridge.captures import capture_format
from firmware_bridge.captures.capture_format import AnyRecord, CaptureHeader, CaptureOrigin
from firmware_bridge.captures.replay import Played
from firmware_bridge.cards import Concealed, Evidence
from firmware_bridge.drivers import base
from firmware_bridge.drivers.base import Heard
from firmware_bridge.messages import AnyText, Message, message
from firmware_bridge.plain_text import plain

ORIGINS = {
    CaptureOrigin.SIMULATED: message("simulated"),
    CaptureOrigin.HARDWARE: message("hardware"),
    CaptureOrigin.BY_HAND: message("by hand"),
}
COVERED = "concealed"
COVERED_RECORDS = frozenset({"from_device", "link_keys"})
OPENS_CARDS = ("hex", "host", "device")  # records whose fields reveal cards
NOT_SHOWN = frozenset({"evidence", "nonce"})  # already in the record
RARE = frozenset(
    {"key", "image", "unanswered", "withheld", "newest", "moves_too_long"}
)  # fields that are omitted when empty


def may_tell_faces(header: CaptureHeader) -> bool:
    """Return whether the faces of concealed cards may be shown.

    A person with the key may see them; nobody plays with the cards of a simulated device or of a handmade capture.
    """
    return header.sealed or header.origin is not CaptureOrigin.HARDWARE


def as_data(ms: int, link: int, thing: Played, *, faces: bool) -> dict[str, Any]:
    """Return a JSON object with the time, the link, and a `record` or what was `heard`."""
    line: dict[str, Any] = {"ms": ms, "link": link}
    if isinstance(thing, capture_format.Record):
        record = msgspec.to_builtins(thing)
        if not faces:
            record |= {name: COVERED for name in OPENS_CARDS if name in record and record["is"] in COVERED_RECORDS}
        return line | {"record": record.pop("is")} | {key: record[key] for key in record if key != "ms"}
    line["heard"] = thing.__struct_config__.tag
    for field in msgspec.structs.fields(thing):
        value = getattr(thing, field.name)
        if field.name not in NOT_SHOWN and (value or field.name not in RARE):
            line[field.name] = _values(value, faces=faces)
    return line


def _values(value: object, *, faces: bool) -> Any:
    def show(thing: Any) -> Any:
        if isinstance(thing, Concealed):
            return thing.expose().code if faces else COVERED
        if isinstance(thing, Evidence):
            return COVERED
        raise NotImplementedError

    return msgspec.to_builtins(value, enc_hook=show)


def json_line(data: object) -> str:
    return json.dumps(data, separators=(",", ":"))


def header_line(header: CaptureHeader) -> Message:
    """Return one line about the origin of the records. The lines of records have the names that the file has."""
    parts: list[AnyText] = [header.url, message("driver {name}", name=header.driver)]
    if header.device is not None:
        parts.append(_device(msgspec.to_builtins(header.device)))
    parts += [ORIGINS[header.origin], message("sealed") if header.sealed else message("plain")]
    parts += [header.note] if header.note else []
    parts += [message("continued from the previous file")] if header.continues else []
    return message("capture of {date}: {parts:list}", date=header.date, parts=tuple(parts))


def record_line(ms: int, record: AnyRecord, *, faces: bool) -> str:
    """Return a line for a record: milliseconds since the capture began, kind, bytes. A device's bytes show faces."""
    return _line(f"{ms:>9}  {_record(record, faces=faces)}")


def heard_line(ms: int, heard: Heard, *, faces: bool) -> str:
    """Return a line for what the driver read at that time."""
    return _line(f"{ms:>9}  -> {_heard(heard, faces=faces)}")


def _line(text: str) -> str:
    """Make a line safe for a terminal, at full length: a capture may come from anywhere."""
    return plain(text, len(text))


def _record(record: AnyRecord, *, faces: bool) -> str:
    match record:
        case capture_format.FromDevice():
            return f"from device  {record.hex if faces else COVERED}"
        case capture_format.ToDevice():
            return f"to device    {record.hex}"
        case capture_format.Opened():
            return "link opened"
        case capture_format.DriverMade():
            return f"driver made  nonce {record.nonce}, report {record.number} of boot {record.boot} was held"
        case capture_format.LinkKeys():
            return f"link keys    {f'{record.host} {record.device}' if faces else COVERED}"
        case capture_format.Ready():
            return f"ready        {_device(msgspec.to_builtins(record.device))}"
        case capture_format.Commanded():
            return f"command      {record.command_id}: {_words(msgspec.to_builtins(record.command))}"
        case capture_format.Lost():
            return f"link lost    {record.code}: {record.sentence}"


def _heard(heard: Heard, *, faces: bool) -> str:
    match heard:
        case base.Reported():
            return f"report {heard.number}: {_words(_values(heard.observation, faces=faces))}"
        case base.LinkReady():
            return f"ready: {_device(msgspec.to_builtins(heard.identity))}"
        case base.LinkOver():
            return f"over: {heard.code}: {heard.sentence}"
        case base.StatusHeard():
            return f"status: {_words(msgspec.to_builtins(heard.status))}"
        case _:
            fields = {key: value for key, value in _values(heard, faces=faces).items() if key != "evidence"}
            return f"{fields.pop('heard')}: {_words(fields)}"


def _device(identity: dict[str, Any]) -> str:
    said = " ".join(str(identity[key]) for key in ("maker", "model", "serial", "firmware") if identity[key])
    return f"{said} (simulated)" if identity["simulated"] else said


def _words(fields: dict[str, Any]) -> str:
    """Return an observation or command in words: its name alone, then each key with its value."""
    parts = [
        str(value) if key in ("observed", "command") else f"{key}={json.dumps(value)}" for key, value in fields.items()
    ]
    return " ".join(parts)
