"""docs/cardlink.md agrees with the code: golden vectors, fields, tags, enum values."""

from __future__ import annotations

from typing import Any, Final, get_args, get_type_hints

import msgspec
import pytest

from firmware_bridge.capabilities import Capabilities
from firmware_bridge.cards import Card
from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.decoder import DECODERS, LineDecoder
from firmware_bridge.drivers.cardlink.framing import FrameReader, enclose, encode_frame
from firmware_bridge.drivers.cardlink.messages import CLEAR, OF_HOST, FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import LONGEST_BODY, SMALLEST_SEALED, FrameOpener, FrameSealer
from firmware_bridge.drivers.cardlink.translate import capability_words

from . import independent_decoder, vectors
from .page import PAGE, Row, block, golden_rows, rows_of, section

ROWS: Final = golden_rows()
TYPE_WORDS: Final[dict[Any, str]] = {
    messages.U8: "u8",
    messages.U32: "u32",
    messages.U63: "u63",
    messages.ReportNumber: "u32",
    messages.Ordinal: "place",
    messages.SetSize: "u8",
    bool: "bool",
    bool | None: "bool or nil",
    str: "str",
    messages.ShownText: "str",
    bytes: "bin",
    messages.Salt: "bin",
    list[str]: "[str]",
    list[messages.U8]: "[u8]",
    list[messages.KeptReports]: "[Kept]",
    messages.SpokenVersions: "[u8]",
    messages.AnyOrder: "[Order]",
}
BODIES: Final[dict[str, type[msgspec.Struct]]] = {
    "Hello": messages.HelloBody,
    "Identity": messages.IdentityBody,
    "Kept": messages.KeptReports,
    "Proof": messages.ProofBody,
    "Resume": messages.ResumeBody,
    "Reject": messages.RejectBody,
    "Ack": messages.AckBody,
    "Status": messages.StatusBody,
    "Answer": messages.AnswerBody,
    "Command": messages.CommandBody,
    "Challenge": messages.ChallengeBody,
    "Attestation": messages.AttestationBody,
}


def by_name(row: Row) -> str:
    return row.name


def type_word(annotation: Any) -> str:
    """Return a field's type as the page writes it."""
    for known, word in TYPE_WORDS.items():
        if known == annotation:
            return word
    raise AssertionError(f"the page has no word for {annotation}")


def fields_of(struct: type[msgspec.Struct]) -> list[tuple[str, str, Any]]:
    """Return the name, the type as the page writes it, and the default of each field."""
    annotations = get_type_hints(struct, include_extras=True)
    found: list[tuple[str, str, Any]] = []
    for field in msgspec.structs.fields(struct):
        default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        found.append((field.name, type_word(annotations[field.name]), default))
    return found


@pytest.mark.parametrize("mark", vectors.TABLES)
def test_the_page_has_the_generated_vectors(mark: str) -> None:
    assert block(mark) == vectors.TABLES[mark](), "run: python -m tests.protocol.vectors"


def test_every_kind_report_and_order_has_a_vector() -> None:
    assert {row.kind for row in ROWS} == {kind.value for kind in FrameKind}
    tags = {row.body[0] for row in ROWS if row.kind == FrameKind.REPORT and isinstance(row.body, list)}
    assert tags == {report.__struct_config__.tag for report in get_args(messages.AnyReport)}
    orders = [row.body[1] for row in ROWS if row.kind == FrameKind.COMMAND and isinstance(row.body, list)]
    assert {order[0] for order in orders if isinstance(order, list)} == {
        order.__struct_config__.tag for order in get_args(messages.AnyOrder)
    }


@pytest.mark.parametrize("row", ROWS, ids=by_name)
def test_the_independent_decoder_reads_the_vector(row: Row) -> None:
    (frame,) = independent_decoder.decode_frames(row.frame)
    assert (frame.version, frame.flags) == (1, row.flags)
    assert (frame.kind, frame.boot, frame.number) == (row.kind, row.boot, row.number)
    assert (row.counter is None) == (row.kind in CLEAR)
    body = frame.body
    if row.counter is not None:
        assert frame.body[:4] == row.counter.to_bytes(4, "little")
        body = vectors.opened(frame)
    assert independent_decoder.decode_body(body) == row.body


@pytest.mark.parametrize("row", ROWS, ids=by_name)
def test_the_code_reads_the_vector_and_writes_the_same_bytes(row: Row) -> None:
    (frame,) = FrameReader().receive(row.frame)
    header = (frame.version, frame.flags, frame.kind, frame.boot, frame.number)
    assert header == (1, row.flags, row.kind, row.boot, row.number)
    if row.counter is None:
        body = encode_body(DECODERS[frame.kind](frame.body))
        assert encode_frame(frame.kind, frame.boot, frame.number, body) == row.frame
        return
    opener = FrameOpener(vectors.KEYS[frame.kind not in OF_HOST])
    opened = opener.open(frame)
    assert opened is not None
    assert opener.heard == row.counter
    assert encode_body(DECODERS[frame.kind](opened.body)) == opened.body


def decoder_of_the_link() -> LineDecoder:
    """Return a decoder that has read the vectors' handshake, and from each side a frame with the counter `TAKEN`."""
    decoder = LineDecoder(lambda serial: vectors.KEY)
    for name, of_host in (("hello", True), ("identity", False), ("host proof", True), ("resume", True)):
        (row,) = (row for row in ROWS if row.name == name)
        assert [read.verdict for read in decoder.take(of_host, row.frame)] == ["understood"]
    for of_host, kind, body in (
        (True, FrameKind.ACK, messages.AckBody(1)),
        (False, FrameKind.STATUS, vectors.STATUS),
    ):
        sealer = FrameSealer(vectors.KEYS[not of_host])
        sealer.counter = vectors.TAKEN - 1
        sealed = enclose(sealer.seal(kind, vectors.BOOT, 41, encode_body(body)))
        assert [read.verdict for read in decoder.take(of_host, sealed)] == ["understood"]
    return decoder


@pytest.mark.parametrize("bad", vectors.bad_vectors(), ids=lambda bad: bad.what)
def test_the_code_judges_the_bad_vector_as_it_says(bad: vectors.BadVector) -> None:
    assert [read.verdict for read in decoder_of_the_link().take(bad.of_host, bad.frame)] == [bad.verdict]


def test_the_proofs_hold_by_a_second_calculation() -> None:
    rows = {row.name: row for row in ROWS}
    hello, identity = (independent_decoder.decode_frames(rows[name].frame)[0] for name in ("hello", "identity"))
    assert isinstance(rows["hello"].body, list)
    assert isinstance(rows["identity"].body, list)
    nonces = rows["hello"].body[1], rows["identity"].body[12]
    assert nonces == (vectors.HOST_NONCE, vectors.DEVICE_NONCE)
    parts = (vectors.HOST_NONCE, vectors.DEVICE_NONCE, hello.content, identity.content)
    for name, role in (("host proof", "host"), ("device proof", "device")):
        made = independent_decoder.proof(vectors.KEY, role, *parts)
        assert rows[name].body == [1, made]
        assert sealing.proof(vectors.KEY, role.encode(), *parts) == made
    roles = ("host frames", "device frames")
    assert tuple(independent_decoder.proof(vectors.KEY, role, *parts) for role in roles) == vectors.KEYS


def test_device_nonces_are_made_as_on_the_page() -> None:
    for random, start, draw, made in rows_of(block("nonces"), "random"):
        counted = (int(start).to_bytes(4, "little"), int(draw).to_bytes(4, "little"))
        parts = (b"cardlink1", b"device nonce", bytes.fromhex(random.strip("`")), *counted, vectors.HELLO_CONTENT)
        assert independent_decoder.keyed_hash(vectors.KEY, *parts)[:16].hex().upper() == made.strip("`")


def test_the_sizes_of_sealed_frames_are_the_pages() -> None:
    sizes = f"has {SMALLEST_SEALED} to 512 bytes decoded, so its body has at most {LONGEST_BODY}"
    assert sizes in " ".join(section("Sealed frames").split())


def test_the_crc_is_the_one_that_the_page_names() -> None:
    assert "CBF43926" in PAGE
    assert "2144DF1C" in PAGE
    assert independent_decoder.crc32(b"123456789") == 0xCBF43926
    for row in ROWS:
        decoded = independent_decoder.decode_frames(row.frame)[0].content
        with_crc = decoded + independent_decoder.crc32(decoded).to_bytes(4, "little")
        assert independent_decoder.crc32(with_crc) == 0x2144DF1C


def test_the_ranges_are_the_pages() -> None:
    shown = {word: span for word, _, span in rows_of(section("Bodies"), "type") if " to " in span}
    for kind, word in ((messages.U8, "u8"), (messages.U32, "u32"), (messages.U63, "u63"), (messages.Ordinal, "place")):
        least, most = (int(number.replace(" ", "")) for number in shown[word].split(" to "))
        decode = msgspec.msgpack.Decoder(kind).decode
        for number in (least, most):
            assert decode(msgspec.msgpack.encode(number)) == number
        for number in (least - 1, most + 1):
            with pytest.raises(msgspec.ValidationError):
                decode(msgspec.msgpack.encode(number))


def test_the_kinds_are_the_pages() -> None:
    rows = rows_of(section("Kinds"), "kind")
    assert {int(number, 16): name for number, name, *_ in rows} == {
        kind.value: kind.name.lower().replace("_", " ") for kind in FrameKind
    }
    assert {int(number, 16) for number, *_, how in rows if how == "clear"} == CLEAR


@pytest.mark.parametrize("title", BODIES)
def test_the_fields_of_a_body_are_the_pages(title: str) -> None:
    shown = [
        (name, word, eval(default.strip("`"), {}) if default else msgspec.NODEFAULT)  # noqa: S307  # the project's own page
        for name, word, default, _ in rows_of(section(title), "field")
    ]
    assert shown == fields_of(BODIES[title])


def test_the_fields_of_the_reports_are_the_pages() -> None:
    shown = {int(tag): (name, fields) for tag, name, fields in rows_of(section("Reports"), "tag")}
    written: dict[int, tuple[str, str]] = {}
    defaults = {msgspec.NODEFAULT: "", None: " = nil", 0: " = 0", "": ' = ""'}
    for report in get_args(messages.AnyReport):
        assert fields_of(report)[0] == ("uptime_ms", "u63", msgspec.NODEFAULT)
        fields = [f"{name} {word}{defaults[default]}" for name, word, default in fields_of(report)[1:]]
        name = report.__name__.removesuffix("Report").replace("SelfTest", "Self-test")
        spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()
        written[report.__struct_config__.tag] = (spaced, ", ".join(fields))
    assert shown == written


def test_the_orders_are_the_pages() -> None:
    shown = {int(tag): fields.split(",")[0] for tag, _, fields, _ in rows_of(section("Command"), "tag")}
    assert shown == {
        order.__struct_config__.tag: " ".join(f"{name} {word}" for name, word, _ in fields_of(order))
        for order in get_args(messages.AnyOrder)
    }


def test_the_capability_words_are_the_pages() -> None:
    shown = {word.strip("`") for word, _ in rows_of(section("Identity"), "capability word")}
    names = [field.name for field in msgspec.structs.fields(Capabilities) if field.name != "dispenses"]
    every = dict.fromkeys(names, True)
    known = {
        word
        for dispenses in ("on_command", "on_removal")
        for word in capability_words(Capabilities(dispenses=dispenses, **every))
    }
    assert shown == known


def test_the_card_numbers_are_the_pages() -> None:
    shown = rows_of(section("Bodies"), "number")
    for cells, suit in zip(shown[1:5], ("clubs", "diamonds", "hearts", "spades"), strict=True):
        first, last = (int(number) for number in cells[0].split(" to "))
        assert cells[1].startswith(suit)
        assert [Card.numbered(number).rank for number in range(first, last + 1)] == list(range(1, 14))
        assert {Card.numbered(number).suit for number in range(first, last + 1)} == {suit[0].upper()}
    assert [shown[0][0], shown[5][0]] == [str(messages.NOT_READ), str(messages.FOREIGN)]


def test_the_largest_identity_that_the_page_allows_fits_its_frame() -> None:
    every = [word.strip("`") for word, _ in rows_of(section("Identity"), "capability word")]
    assert every[-2:] == ["dispenses_on_command", "dispenses_on_removal"]
    room = 200 - sum(len(word) + 1 for word in every[:-1])
    unknown = ["new"] * (room // 4 - 1)  # enough that their array has the longer head
    unknown.append("n" * (room - 4 * len(unknown) - 1))
    largest = messages.IdentityBody(
        version=1,
        kind="shuffler",
        unit="singles",
        maker="m" * 24,
        model="m" * 24,
        serial="s" * 31,
        firmware="f" * 16,
        firmware_digest="0" * 64,
        capabilities=[*every[:-1], *unknown],
        report_memory=2**32 - 1,
        simulated=True,
        deck_size=2**32 - 1,
        nonce=bytes(16),
        kept=[messages.KeptReports(2**32 - 1, 2**32 - 1, 2**32 - 1)] * 4,
        versions=[1, 2, 3, 4, 5, 6, 7, 8],
    )
    assert sum(len(word) + 1 for word in largest.capabilities) == 200
    (frame,) = independent_decoder.decode_frames(vectors.frame(FrameKind.IDENTITY, largest))
    assert len(frame.content) + 4 == 505
    assert "at most 505 bytes decoded" in " ".join(section("Identity").split())
    assert "505 bytes" in " ".join(section("Rates").split())
