"""The paths in the OpenAPI document: who may ask, with what body, and every answer.

The refusals are those of the daemon's own modules, with their sentences. Tests compare paths and codes with the routes
and the sources.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from controller.api import (
    answers,
    connections,
    event_streams,
    routes,
    screen_port,
    screen_routes,
    screens,
    server,
    serving,
    unix_socket,
)
from controller.api.bodies import (
    EnrolmentRequest,
    OperationAnswer,
    OperationRequest,
    PreviewRequest,
    RemovalRequest,
    SeenRequest,
)
from controller.api.preview import PreviewAnswer
from controller.api.view import TableView
from controller.table.offers import Offer
from firmware_bridge.messages import AnyText


class Refusal(NamedTuple):
    status: int
    sentence: AnyText


REFUSALS: Final[dict[str, Refusal]] = {
    "bad-request": Refusal(400, "The request cannot be read. Correct it and send it again."),
    "last-event-id": Refusal(400, event_streams.NO_EVENT_ID),
    "not-admitted": Refusal(403, unix_socket.NOT_ADMITTED),
    "reader": Refusal(403, server.READS_ONLY),
    "display": Refusal(403, screen_routes.DISPLAYS_LOOK),
    "origin": Refusal(403, screen_port.WRONG_ORIGIN),
    "header": Refusal(403, screen_port.NO_HEADER),
    "not-enrolled": Refusal(403, screen_port.DISPLAYS_ONLY),
    "screen": Refusal(403, screens.ENROLLED_ALREADY),
    "role": Refusal(403, screens.SUPERVISORS_ONLY),
    "person": Refusal(403, "There is no person (name) in the configuration of this table. Name one of its people."),
    "pin": Refusal(403, "The PIN for (name) is missing or wrong. Enter it again."),
    "witness-pin": Refusal(403, "The PIN for the second person who counted is missing or wrong. Enter it again."),
    "pin-locked": Refusal(403, "After too many wrong PINs none is looked at until the time that the sentence names."),
    "pin-busy": Refusal(403, "Too many PINs wait to be compared. Send the request again in a moment."),
    "not-signed-on": Refusal(
        403, "No dealer is signed on at this screen. Sign on with your PIN, or name the person who acts."
    ),
    "not-found": Refusal(404, serving.REFUSALS[404][1]),
    "no-answer": Refusal(404, screen_routes.NO_ANSWER),
    "no-round": Refusal(404, screen_routes.NO_ROUND),
    "method": Refusal(405, serving.REFUSALS[405][1]),
    "too-slow": Refusal(408, answers.TOO_SLOW),
    "id-used": Refusal(409, screens.ID_USED),
    "other-journal": Refusal(409, "The table writes another journal, (id). Begin with the id that the sentence names."),
    "after-the-end": Refusal(409, "The journal ends at entry (number). Begin with the id that the sentence names."),
    "chunked": Refusal(411, connections.CHUNKED),
    "too-large": Refusal(413, serving.REFUSALS[413][1]),
    "content-type": Refusal(415, screen_port.NO_JSON),
    "host": Refusal(421, screen_port.WRONG_HOST),
    "refused-often": Refusal(429, routes.REFUSED_OFTEN),
    "connections": Refusal(503, unix_socket.TOO_MANY),
    "streams": Refusal(503, event_streams.STREAMS_IN_USE),
    "journal": Refusal(503, "The journal cannot be read; the code is one that docs/faults.md describes."),
}
BY_THE_JOURNAL: Final = "journal"  # represents each code of an unreadable journal

EVERYWHERE: Final = ("not-admitted", "connections", "host", "origin")
IN_BODIES: Final = (
    "reader", "header", "not-enrolled", "bad-request", "too-slow", "chunked", "too-large", "content-type"
)  # fmt: skip
OF_PERSONS: Final = ("person", "pin", "witness-pin", "pin-locked", "pin-busy")


class Stream(NamedTuple):
    """Server-sent events. `events`: the schema of each event's data, by name."""

    id: str
    events: dict[str, str]
    comments: dict[str, str]
    resumes: str


class Described(NamedTuple):
    """A path. `answer` is one of: the type of the answer with status 200; text, as media type and content; a stream.

    `refusals` come in addition to those of every request. `port_only`: not at the Unix socket.
    """

    operation_id: str
    summary: str
    text: str
    answer: Any
    body: Any = None
    refusals: tuple[str, ...] = ()
    parameters: tuple[dict[str, Any], ...] = ()
    texts: tuple[tuple[int, str], ...] = ()
    port_only: bool = False


class Text(NamedTuple):
    media: str
    says: str


class ListOf(NamedTuple):
    of: Any


NAMED: Final = "RoundEvent"  # a schema that is not a type of the program
EVENT_ID: Final = r"^(?:[0-9a-f]{1,64}:)?[0-9]{1,19}$"

EVENTS: Final = Stream(
    id="JOURNAL:NUMBER: the journal's id and the entry's number. Numbers ascend without a gap for a follower that "
    "resumes after the last one that it was given.",
    events={"message": "PublishedEvent"},
    comments={
        "up to date": "Every event so far was given.",
        "still here": f"Sent after {event_streams.KEEP_ALIVE:g} seconds without an event.",
    },
    resumes="After the header Last-Event-ID. 409 where the table's journal does not have that event.",
)
SCREEN: Final = Stream(
    id="The entry of the state; beats have none.",
    events={"state": "ScreenState", "beat": "Beat"},
    comments={},
    resumes="Never: the newest state is given at once, and none that was missed.",
)


def _path(name: str, schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "description": text, "schema": schema}


DESCRIBED: Final[dict[tuple[str, str], Described]] = {
    ("GET", "/v1/state"): Described("state", "The table now", "As anyone may see it.", TableView),
    ("GET", "/v1/events"): Described(
        "events",
        "What happens, from the journal",
        "Server-sent events, one for each event of the journal.",
        EVENTS,
        refusals=("last-event-id", "other-journal", "after-the-end", "streams"),
        parameters=(
            {
                "name": "Last-Event-ID",
                "in": "header",
                "required": False,
                "description": "The last event that the follower has, JOURNAL:NUMBER or NUMBER of this journal. 0 or "
                "none gives everything.",
                "schema": {"type": "string", "pattern": EVENT_ID},
            },
        ),
    ),
    ("GET", "/v1/screen"): Described(
        "screen",
        "What a screen shows",
        "Server-sent events: the newest state at once and after each change, a beat each second.",
        SCREEN,
        refusals=("streams",),
    ),
    ("GET", "/v1/lawful"): Described(
        "lawful",
        "What people can enter now",
        "Also what is refused, with the reason.",
        ListOf(Offer),
        refusals=("display",),
    ),
    ("POST", "/v1/preview"): Described(
        "preview",
        "What a decision would bring",
        "Nothing is recorded.",
        PreviewAnswer,
        body=PreviewRequest,
    ),
    ("POST", "/v1/seen"): Described(
        "seen",
        "What only eyes see at a simulated table",
        "For users of the socket. Beats have the sentence until the next one. Nothing is recorded.",
        OperationAnswer,
        body=SeenRequest,
        refusals=("not-found",),
    ),
    ("GET", "/v1/operations/{id}"): Described(
        "answer",
        "The answer that an operation got",
        "For operations of this round and the previous one. `recalled` is empty in it.",
        OperationAnswer,
        refusals=("display", "no-answer", "not-found"),
        parameters=(_path("id", {"type": "string", "format": "uuid"}, "The id of the request."),),
    ),
    ("GET", "/v1/rounds/{number}"): Described(
        "round",
        "The events of a round",
        "Each as in the event stream, with a line for people under `line` where it has one.",
        ListOf(NAMED),
        refusals=("no-round", "not-found", BY_THE_JOURNAL),
        parameters=(_path("number", {"type": "integer", "minimum": 1}, "The round."),),
    ),
    ("POST", "/v1/operations"): Described(
        "operate",
        "What people do",
        "Status 200 for any decision of the table, also for a refusal. The same `id` again gets the same answer.",
        OperationAnswer,
        body=OperationRequest,
        refusals=(*OF_PERSONS, "not-signed-on", "refused-often"),
    ),
    ("POST", "/v1/screen/enrolment"): Described(
        "enrol",
        "Make this browser a screen of the table",
        "Answered as an operation is. Where it is accepted the answer sets the screen's cookie.",
        OperationAnswer,
        body=EnrolmentRequest,
        refusals=(*OF_PERSONS, "screen", "role", "id-used", "refused-often"),
        port_only=True,
    ),
    ("DELETE", "/v1/screen/enrolment"): Described(
        "remove",
        "Take back that this browser is a screen",
        "Answered as an operation is.",
        OperationAnswer,
        body=RemovalRequest,
        refusals=(*OF_PERSONS, "role", "refused-often"),
        port_only=True,
    ),
    ("GET", "/v1/openapi.json"): Described(
        "description", "This description", "The same for everyone.", Text("application/json", "An OpenAPI document.")
    ),
    ("GET", "/healthz"): Described(
        "healthy",
        "Whether the daemon's parts answer",
        "Also for the daemon's own user. The device does not matter.",
        Text("text/plain", "`ok`"),
        texts=((503, "The table does not answer."),),
    ),
    ("GET", "/readyz"): Described(
        "ready",
        "Whether the table can deal",
        "It is in service, not under maintenance, and its device is ready.",
        Text("text/plain", "`ready`"),
        texts=((503, "Why it cannot, in a sentence."),),
    ),
    ("GET", "/metrics"): Described(
        "metrics",
        "What monitors read",
        "In the text form of Prometheus, see docs/metrics.md. At the port of screens for an enrolled screen alone.",
        Text("text/plain", "Counts, durations and ages."),
        refusals=("display",),
    ),
}
