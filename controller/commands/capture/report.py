"""The content of a capture and what its driver reads in it, as lines for people and as JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from firmware_bridge.captures import capture_format
from firmware_bridge.captures.capture_format import AnyRecord, Header, Origin
from firmware_bridge.captures.replay import Played
from firmware_bridge.cards import Concealed, Evidence
from firmware_bridge.drivers import base
from firmware_bridge.drivers.base import Heard
from firmware_bridge.plain_text import plain

COVERED = "concealed"
COVERED_RECORDS = frozenset({"from_device", "link_keys"})
OPENS_CARDS = ("hex", "host", "device")  # their fields
NOT_SHOWN = frozenset({"evidence", "nonce"})  # of what was heard: it stands in the record
RARE = frozenset(
    {"unanswered", "withheld", "newest", "moves_too_long"}
)  # fields, left out where there is nothing of them


def may_tell_faces(header: Header) -> bool:
    """Whether the faces of concealed cards may be shown: a person with the key may know them, and no one plays with
    the cards of a simulated device or of a capture made by hand."""
    return header.sealed or header.origin is not Origin.HARDWARE


def as_data(ms: int, link: int, thing: Played, *, faces: bool) -> dict[str, Any]:
    """A JSON object: when, in which link, and a `record` or what was `heard`."""
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


def header_line(header: Header) -> str:
    """One line about where the records come from."""
    device = "" if header.device is None else f", {_device(msgspec.to_builtins(header.device))}"
    note = f", {header.note}" if header.note else ""
    goes_on = ", goes on from the file before" if header.continues else ""
    kept = "sealed" if header.sealed else "plain"
    origin = header.origin.replace("_", " ")
    return _line(
        f"capture of {header.date}: {header.url}, driver {header.driver}{device}, {origin}, {kept}{note}{goes_on}"
    )


def record_line(ms: int, record: AnyRecord, *, faces: bool) -> str:
    """A record: milliseconds since the capture began, what it is, its bytes. Those of a device hold faces."""
    return _line(f"{ms:>9}  {_record(record, faces=faces)}")


def heard_line(ms: int, heard: Heard, *, faces: bool) -> str:
    """What the driver read, at that time."""
    return _line(f"{ms:>9}  -> {_heard(heard, faces=faces)}")


def _line(text: str) -> str:
    """A capture may come from anywhere: its texts are made plain, and none of its bytes are cut off."""
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
        case base.DeviceReady():
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
    """The name of an observation or command by itself, then each key with its value."""
    parts = [
        str(value) if key in ("observed", "command") else f"{key}={json.dumps(value)}" for key, value in fields.items()
    ]
    return " ".join(parts)
