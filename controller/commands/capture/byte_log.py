"""A log of the bytes on a line, as a maker writes it by hand or by program, and its frames in lines.

A line is a direction, > from the host or < from the device, and hexadecimal digits, perhaps with blanks; before it may
stand a number of milliseconds. Empty lines and lines that begin with # are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from controller.commands.capture.report import COVERED, json_line
from firmware_bridge.captures.capture_format import CaptureError
from firmware_bridge.device_keys import DeviceKeys
from firmware_bridge.drivers.cardlink.decoder import LineDecoder, ReadFrame
from firmware_bridge.drivers.cardlink.messages import FrameKind, IdentityBody
from firmware_bridge.edited_text import NotTextError, open_named, read_edited, why_unreadable
from firmware_bridge.messages import message

LINE: Final = re.compile(r"\s*(?P<ms>\d+)?\s*(?P<side>[<>])\s*(?P<digits>[0-9A-Fa-f\s]*)")
CARDS: Final = frozenset({"card", "cards"})  # fields that tell faces


class LoggedBytes(NamedTuple):
    """Bytes of one side. `ms` is None if the log has no times."""

    ms: int | None
    of_host: bool
    data: bytes


def is_byte_log(path: Path) -> bool:
    """Return whether the file is such a log, which a capture is not. An unreadable file is none."""
    try:
        with open_named(path) as file:
            first = next((line for line in file if line.strip() and not line.startswith(b"#")), b"")
    except OSError:
        return False
    return LINE.match(first.decode("latin-1")) is not None


def read_byte_log(paths: Sequence[Path]) -> Iterator[LoggedBytes]:
    """Return the bytes of the files, in their order. Raise `CaptureError`."""
    for path in paths:
        try:
            lines = read_edited(path).splitlines()
        except (OSError, NotTextError) as error:
            raise CaptureError(
                message("The log {path} cannot be read: {why}.", path=str(path), why=why_unreadable(error)),
                message("Name an existing file."),
            ) from error
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.startswith("#"):
                continue
            found = LINE.fullmatch(line)
            digits = "" if found is None else "".join(found["digits"].split())
            if found is None or len(digits) % 2:
                raise CaptureError(
                    message("Line {number} of {path} is not bytes of a line.", number=number, path=str(path)),
                    message("Write > for the host or < for the device, then two hexadecimal digits for each byte."),
                )
            ms = None if found["ms"] is None else int(found["ms"])
            yield LoggedBytes(ms, found["side"] == ">", bytes.fromhex(digits))


def lines_of(logged: Iterator[LoggedBytes], keys: DeviceKeys, *, faces: bool, as_json: bool) -> Iterator[str]:
    """Return a line for each frame, whole or not. Raise `CaptureError` if faces are asked for that may not be shown."""
    for ms, read in _frames(logged, LineDecoder(keys.get, keys.next.get)):
        if faces and isinstance(read.body, IdentityBody) and not read.body.simulated:
            raise CaptureError(
                message("The device is not simulated: concealed cards are not shown."),
                message("Leave --faces out."),
            )
        shown = _as_data(ms, read, faces=faces)
        yield json_line(shown) if as_json else _in_line(shown)


def _frames(logged: Iterator[LoggedBytes], decoder: LineDecoder) -> Iterator[tuple[int | None, ReadFrame]]:
    """Yield each frame with its time, and at the end what is left of one."""
    ms: int | None = None
    for ms, of_host, data in logged:
        for read in decoder.take(of_host, data):
            yield ms, read
    for read in decoder.rest():
        yield ms, read


def _as_data(ms: int | None, read: ReadFrame, *, faces: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"ms": ms, "from": "host" if read.of_host else "device", "verdict": read.verdict}
    if (frame := read.frame) is not None:
        shown |= {"frame": _name(frame.kind), "boot": f"{frame.boot:08X}", "number": frame.number}
        shown |= {"version": frame.version, "flags": frame.flags}
    if read.counter:
        shown["counter"] = read.counter
    if read.body is not None:
        shown["body"] = _fields(read.body, faces=faces)
    if read.why:
        shown["why"] = read.why
    return shown


def _name(kind: int) -> str:
    return FrameKind(kind).name.lower() if kind in set(FrameKind) else f"kind {kind:02X}"


def _fields(body: msgspec.Struct, *, faces: bool) -> dict[str, Any]:
    """Return the fields by name, a report and an order with their own name."""
    tag = body.__struct_config__.tag
    named = {} if tag is None else {"is": type(body).__name__.removesuffix("Report").removesuffix("Order")}
    for field in body.__struct_fields__:
        value = getattr(body, field)
        if isinstance(value, msgspec.Struct):
            value = _fields(value, faces=faces)
        elif isinstance(value, bytes):
            value = value.hex()
        named[field] = COVERED if field in CARDS and not faces else msgspec.to_builtins(value)
    return named


def _in_line(shown: dict[str, Any]) -> str:
    ms = "" if shown["ms"] is None else str(shown["ms"])
    parts = [f"{ms:>9} {'>' if shown['from'] == 'host' else '<'} {shown.get('frame', '?')}"]
    parts += [shown["verdict"]] if shown["verdict"] != "understood" else []
    parts += [f"{name}={shown[name]}" for name in ("boot", "number", "counter") if name in shown]
    parts += [
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in shown.get("body", {}).items()
    ]
    return " ".join([*parts, *([f"({shown['why']})"] if "why" in shown else [])])
