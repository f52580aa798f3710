"""Screens at the TCP port of a real daemon: who may look, who operates, and what pages of other sites cannot do."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from itertools import product
from typing import Final
from uuid import uuid4

import aiohttp
import pytest

from controller.api.bodies import EventId, OperationRequest
from controller.api.client import ApiClient, TableUnreachableError
from controller.api.screen_port import IN_ALL
from controller.api.tcp_listener import TcpListener
from controller.roles import Role
from controller.table import events, operations
from controller.table.screens import FAILURES
from simulators.people.crew import CrewMember
from tests.end_to_end.browser import DEALER, SUPERVISOR, Browser, free_port, port_of
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.stage import Stage, short_folder
from tools.openapi import FILE

LEE = CrewMember("lee", "Lee", Role.DEALER, "640281")
HTTP = '[api.http]\nport = {}\nhosts = ["table7.example"]\n'
ANOTHER_DEALER = f'[[people]]\nid = "lee"\nname = "Lee"\nrole = "dealer"\npin_hash = "{LEE.pin_hash()}"\n'


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder) as made:
            made.configure(law=ANOTHER_DEALER + HTTP.format(free_port()))
            yield made


@pytest.fixture
async def screen(stage: Stage) -> AsyncIterator[Browser]:
    """Yield an enrolled screen at a running daemon."""
    await stage.start_daemon()
    async with Browser(await port_of(stage)) as browser:
        assert (await browser.enrol()).json["accepted"]
        yield browser


@pytest.fixture
async def second(stage: Stage, screen: Browser) -> AsyncIterator[Browser]:
    """Yield another screen of the table."""
    async with Browser(screen.port) as browser:
        assert (await browser.enrol("Right")).json["accepted"]
        yield browser


@pytest.fixture
async def signed_on(screen: Browser) -> Browser:
    """Return a screen at which the dealer is signed on."""
    assert (await screen.operate("sign_on", DEALER)).json["accepted"]
    return screen


async def test_a_display_sees_the_table_and_the_page(stage: Stage) -> None:
    await stage.start_daemon()
    async with Browser(await port_of(stage)) as display:
        assert (await display.state())["table"] == "T-1"
        for path, kind in (("/", "text/html"), ("/display", "text/html"), ("/console/index.html", "text/html")):
            page = await display.ask("GET", path)
            assert (page.status, page.headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
            assert "require-trusted-types-for 'script'" in page.headers["Content-Security-Policy"]
            again = await display.ask("GET", path, If_None_Match=page.headers["ETag"])
            assert (again.status, again.body) == (304, b"")
        assert (await display.ask("GET", "/healthz")).body == b"ok\n"


async def test_a_screen_is_enrolled_and_a_dealer_signs_on(stage: Stage, signed_on: Browser) -> None:
    assert (await signed_on.operate("pause_table", reason="lunch")).json["accepted"]
    assert (await signed_on.state())["paused"] == "lunch"
    assert await stage.daemon.end() == 0
    evidence = Evidence(stage)
    (enrolled,) = evidence.of(events.ScreenEnrolled)
    token = signed_on.cookie.partition("=")[2]
    assert (enrolled.name, enrolled.token_hash) == ("Left", hashlib.sha256(token.encode()).hexdigest())
    taken = [(one.operation, one.person, one.proven, one.screen) for one in evidence.of(events.OperationTaken)]
    assert taken == [
        ("enrol_screen", SUPERVISOR.id, "pin", ""),
        ("sign_on", DEALER.id, "pin", enrolled.screen),
        ("pause_table", DEALER.id, "screen", enrolled.screen),
    ]


# -- pages of other sites


async def test_a_foreign_name_for_this_address_is_refused(signed_on: Browser) -> None:
    """DNS rebinding: a page of evil.example has the same origin as any address to which its name is pointed."""
    port = signed_on.port
    own = f"localhost:{port}"
    names = ["evil.example", f"evil.example:{port}", "localhost", "localhost:1", "127.0.0.1:1", f"{own}.evil.example"]
    for host, verb, forwarded in product(names, ("GET", "POST"), ("", own)):
        signed_on.host = host
        answered = await signed_on.ask(verb, "/v1/state", {}, X_Forwarded_Host=forwarded)
        assert (answered.status, answered.code) == (421, "host"), host


async def test_the_names_of_the_table_are_taken(signed_on: Browser) -> None:
    names = [f"{name}:{signed_on.port}" for name in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST")]
    for host in (*names, "table7.example", "table7.example:8443"):
        signed_on.host = host
        for scheme in ("http", "https"):
            answered = await signed_on.operate("pause_table", reason="", headers={"Origin": f"{scheme}://{host}"})
            assert (answered.status, answered.code) == (200, "reason")


async def test_a_page_of_another_origin_is_refused_even_with_the_cookie(signed_on: Browser) -> None:
    own = f"localhost:{signed_on.port}"
    names = (
        "http://evil.example",
        "null",
        "http://localhost:1",
        "http://localhost",
        f"https://{own}.evil.example",
        "x",
    )
    for origin in (
        *names,
        f"http://{own}/",
        f"ftp://{own}",
        f"http://dealer@{own}",
        f"//{own}",
        f"http://{own}?x",
        f"http://{own}#x",
    ):
        answered = await signed_on.operate("pause_table", reason="evil", headers={"Origin": origin})
        assert (answered.status, answered.code) == (403, "origin"), origin
        assert (await signed_on.ask("GET", "/v1/state", Origin=origin)).code == "origin"
    assert (await signed_on.state())["paused"] == ""


async def test_an_origin_that_is_sent_twice_is_refused(signed_on: Browser) -> None:
    own = f"localhost:{signed_on.port}"
    reader, writer = await asyncio.open_connection("127.0.0.1", signed_on.port)
    for origins in ((f"http://{own}", "http://evil.example"), (f"http://{own}", f"http://{own}")):
        fields = "".join(f"Origin: {origin}\r\n" for origin in origins)
        writer.write(f"GET /v1/state HTTP/1.1\r\nHost: {own}\r\n{fields}Connection: close\r\n\r\n".encode())
        assert b" 403 " in await reader.readline()
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", signed_on.port)
    writer.close()


FORMS: Final[tuple[tuple[dict[str, str], tuple[int, str]], ...]] = (
    ({"X_Cardshoe": ""}, (403, "header")),
    ({"X_Cardshoe": "2"}, (403, "header")),
    ({"Content_Type": "text/plain"}, (415, "content-type")),
    ({"Content_Type": "application/x-www-form-urlencoded"}, (415, "content-type")),
    ({"Content_Type": ""}, (415, "content-type")),
)


async def test_a_form_of_another_page_is_refused(signed_on: Browser) -> None:
    for headers, refusal in FORMS:
        answered = await signed_on.operate("pause_table", reason="evil", headers=headers)
        assert (answered.status, answered.code) == refusal
        assert (await signed_on.enrol("Evil", headers=headers)).code == refusal[1]
    assert (await signed_on.state())["paused"] == ""


async def test_every_answer_forbids_loading_anything_else(signed_on: Browser) -> None:
    """This includes refusals, and answers to malformed HTTP."""
    for verb, path in (("GET", "/"), ("GET", "/v1/state"), ("GET", "/no"), ("PUT", "/"), ("POST", "/v1/operations")):
        answered = await signed_on.ask(verb, path)
        assert answered.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert answered.headers["X-Content-Type-Options"] == "nosniff"
        assert answered.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answered.headers["Referrer-Policy"] == "same-origin"
        assert answered.headers["Cache-Control"] == ("no-cache" if path == "/" and verb == "GET" else "no-store")
        assert "Access-Control-Allow-Origin" not in answered.headers
    reader, writer = await asyncio.open_connection("127.0.0.1", signed_on.port)
    writer.write(b"<script>alert(1)</script>\r\n\r\n")
    said = await reader.read()
    writer.close()
    assert said.split()[1] == b"400"
    assert b"Content-Security-Policy: default-src 'none'" in said
    assert b"nosniff" in said


async def test_an_address_that_is_not_served_is_reported(screen: Browser) -> None:
    for verb, path, refusal in (
        ("GET", "/console/../../../etc/passwd", (404, "not-found")),
        ("GET", "/console/%2e%2e/api/server.py", (404, "not-found")),
        ("GET", "/console/", (404, "not-found")),
        ("PUT", "/v1/operations", (405, "method")),
        ("HEAD", "/v1/events", (405, "")),
    ):
        answered = await screen.ask(verb, path)
        assert (answered.status, answered.code if answered.body else "") == refusal
        if answered.status == 405:
            assert answered.headers["Allow"] == {"PUT": "POST", "HEAD": "GET"}[verb]
    assert (await screen.ask("POST", "/v1/operations", "x" * 70_000)).code == "too-large"


async def test_both_listeners_serve_the_kept_description(stage: Stage, screen: Browser) -> None:
    kept = FILE.read_bytes()
    answered = await screen.ask("GET", "/v1/openapi.json")
    assert (answered.status, answered.headers["Content-Type"], answered.body) == (200, "application/json", kept)
    async with ApiClient(stage.socket) as client:
        assert await client.get("/v1/openapi.json") == kept


# -- enrolment


async def test_a_display_does_not_operate(stage: Stage, signed_on: Browser) -> None:
    """A caller with an invalid cookie does not operate either."""
    token = signed_on.cookie.partition("=")[2]
    name = f"cardshoe-T-1-{signed_on.port}"
    assert signed_on.cookie == f"{name}={token}"
    forged = [
        "",
        f"{name}={'0' * 64}",
        f"{name}={hashlib.sha256(token.encode()).hexdigest()}",  # as the journal has it
        f"{name}={token[:-1]}",
        f"{name}={token.upper()}" if token.upper() != token else "",
        f"cardshoe-T-2-{signed_on.port}={token}",
        f"cardshoe-T-1-{signed_on.port + 1}={token}",
    ]
    for cookie in forged:
        async with Browser(signed_on.port, cookie) as display:
            assert (await display.state())["table"] == "T-1"
            for person in (None, DEALER, SUPERVISOR):
                answered = await display.operate("pause_table", person, reason="evil")
                assert (answered.status, answered.code) == (403, "not-enrolled")
            assert (await display.ask("DELETE", "/v1/screen/enrolment", {})).code == "not-enrolled"
    assert (await signed_on.state())["paused"] == ""
    assert await stage.daemon.end() == 0
    assert {one.person for one in Evidence(stage).of(events.OperationTaken)} == {SUPERVISOR.id, DEALER.id}


async def test_only_a_supervisor_enrols_a_screen(stage: Stage) -> None:
    """Nobody else's PIN is checked, so that PINs cannot be tried there."""
    await stage.start_daemon()
    async with Browser(await port_of(stage)) as display:
        for who, pin in product(("dealer", "nobody", ""), (DEALER.pin, "000000")):
            answered = await display.enrol(by=CrewMember(who, "", Role.DEALER, pin))
            assert (answered.status, answered.code, display.cookie) == (403, "role", "")


async def test_scripts_and_other_sites_cannot_reach_the_cookie(stage: Stage) -> None:
    await stage.start_daemon()
    async with Browser(await port_of(stage)) as browser:
        said = (await browser.enrol()).headers["Set-Cookie"].lower()
        attributes = {part.strip() for part in said.split(";")[1:]}
        assert attributes == {"httponly", "samesite=strict", "path=/", "max-age=31536000"}
        assert (await browser.enrol("Again")).code == "screen"
    async with Browser(await port_of(stage), host="table7.example") as proxied:
        assert "; secure" in (await proxied.enrol("Right")).headers["Set-Cookie"].lower()


async def test_a_repeated_enrolment_gives_no_second_cookie(stage: Stage) -> None:
    await stage.start_daemon()
    asked = {"id": str(uuid4()), "person": SUPERVISOR.id, "pin": SUPERVISOR.pin, "name": "Left"}
    async with Browser(await port_of(stage)) as browser:
        assert (await browser.ask("POST", "/v1/screen/enrolment", asked)).json["accepted"]
        again = await browser.ask("POST", "/v1/screen/enrolment", asked)
        assert (again.status, again.code, "Set-Cookie" in again.headers) == (409, "id-used", False)
        assert len((await browser.state())["screens"]) == 1


async def test_a_removed_screen_is_a_display(signed_on: Browser, second: Browser) -> None:
    ids = {one["name"]: one["id"] for one in (await second.state())["screens"]}
    assert (await second.operate("remove_screen", SUPERVISOR, screen=ids["Left"])).json["accepted"]
    assert (await signed_on.operate("pause_table", reason="x")).code == "not-enrolled"
    removal = {"id": str(uuid4()), "person": DEALER.id, "pin": DEALER.pin}
    assert (await second.ask("DELETE", "/v1/screen/enrolment", removal)).code == "role"
    removed = await second.ask(
        "DELETE", "/v1/screen/enrolment", removal | {"person": SUPERVISOR.id, "pin": SUPERVISOR.pin}
    )
    assert removed.json["accepted"]
    assert "Max-Age=0" in removed.headers["Set-Cookie"]
    assert (await second.operate("pause_table", DEALER, reason="x")).code == "not-enrolled"
    assert (await second.state())["screens"] == []


# -- signing on


async def code_of(screen: Browser) -> str:
    """Return the code of the answer to an operation that is entered at the screen without a name."""
    return (await screen.operate("pause_table", reason="")).code


async def test_nobody_is_signed_on_at_first_and_no_supervisor_ever(screen: Browser) -> None:
    assert await code_of(screen) == "not-signed-on"
    assert (await screen.operate("sign_on", DEALER, "000000")).code == "pin"
    assert (await screen.operate("sign_on", SUPERVISOR)).code == "dealers-only"
    assert (await screen.operate("dealer_on", SUPERVISOR)).json["accepted"]
    assert await code_of(screen) == "not-signed-on"
    assert (await screen.operate("sign_on", DEALER)).code == "on-duty"


async def test_an_operation_with_a_name_needs_the_pin_even_when_signed_on(signed_on: Browser) -> None:
    asked = {"id": str(uuid4()), "round": 0, "person": DEALER.id, "operation": {"operation": "resume_table"}}
    assert (await signed_on.ask("POST", "/v1/operations", asked)).code == "pin"
    assert (await signed_on.operate("resume_table", DEALER)).code == "not-paused"


async def test_a_lock_ends_the_sign_on_and_not_the_duty(screen: Browser, second: Browser) -> None:
    assert (await screen.operate("dealer_on", DEALER)).json["accepted"]
    assert (await second.operate("sign_on", DEALER)).json["accepted"]
    assert (await screen.operate("lock_screen")).json["accepted"]
    assert await code_of(screen) == "not-signed-on"
    assert await code_of(second) == "reason"
    assert (await second.state())["dealer"] == DEALER.id
    assert (await screen.operate("lock_screen", DEALER)).code == "not-signed-on"


async def test_a_handover_ends_the_sign_on_of_the_dealer_before_everywhere(screen: Browser, second: Browser) -> None:
    for one in (screen, second):
        assert (await one.operate("sign_on", DEALER)).json["accepted"]
    assert (await screen.operate("dealer_on")).json["accepted"]
    assert (await second.operate("take_over", LEE)).json["accepted"]
    assert await code_of(screen) == "not-signed-on"
    assert await code_of(second) == "reason"
    assert (await screen.operate("sign_on", DEALER)).code == "on-duty"


async def test_going_off_duty_ends_every_sign_on(screen: Browser, second: Browser) -> None:
    assert (await screen.operate("dealer_on", DEALER)).json["accepted"]
    assert (await second.operate("sign_on", DEALER)).json["accepted"]
    assert (await second.operate("dealer_off")).json["accepted"]
    assert [await code_of(one) for one in (screen, second)] == ["not-signed-on"] * 2


async def test_at_the_socket_nobody_signs_on(stage: Stage, screen: Browser) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(stage.socket))) as session:
        for operation in ("sign_on", "lock_screen"):
            asked = {"id": str(uuid4()), "round": 0, "operation": {"operation": operation}}
            async with session.post("http://table/v1/operations", json=asked) as response:
                assert (await response.json())["code"] == "no-screen"


async def test_enrolments_and_sign_ons_survive_a_kill(stage: Stage, signed_on: Browser, second: Browser) -> None:
    before = (await signed_on.state())["screens"]
    await stage.kill_daemon()
    await stage.start_daemon()
    assert (await signed_on.state())["screens"] == before
    assert [await code_of(one) for one in (signed_on, second)] == ["reason", "not-signed-on"]
    assert (await signed_on.operate("lock_screen")).json["accepted"]
    await stage.kill_daemon()
    await stage.start_daemon()
    assert await code_of(signed_on) == "not-signed-on"


# -- floods


@pytest.mark.parametrize("tries", [100, pytest.param(1000, marks=pytest.mark.soak)])
async def test_a_thousand_wrong_pins_count_as_five(
    stage: Stage, signed_on: Browser, second: Browser, tries: int
) -> None:
    """They lock that person at that screen only."""
    codes = [
        (await signed_on.operate("pause_table", SUPERVISOR, f"{guess:06}", reason="x")).code for guess in range(tries)
    ]
    assert codes == ["pin"] * (FAILURES - 1) + ["pin-locked"] * (tries - FAILURES + 1)
    assert (await signed_on.operate("pause_table", SUPERVISOR, reason="x")).code == "pin-locked"
    assert await code_of(signed_on) == "reason"
    assert (await second.operate("pause_table", SUPERVISOR, reason="x")).json["accepted"]
    async with Browser(signed_on.port) as display:
        assert (await display.enrol("Third")).json["accepted"]
    await stage.kill_daemon()
    await stage.start_daemon()
    assert (await signed_on.operate("resume_table", SUPERVISOR)).code == "pin-locked"
    assert await stage.daemon.end() == 0
    refused = Evidence(stage).of(events.PinRefused)
    assert len(refused) == FAILURES
    assert {(one.person, one.uid, one.screen != "") for one in refused} == {(SUPERVISOR.id, None, True)}


async def test_wrong_pins_at_browsers_that_are_not_enrolled_are_five_together(stage: Stage, screen: Browser) -> None:
    wrong = CrewMember(SUPERVISOR.id, "", SUPERVISOR.role, "000000")
    codes = []
    for _ in range(3):
        async with Browser(screen.port) as display:
            codes += [(await display.enrol(by=wrong)).code for _ in range(3)]
    assert codes == ["pin"] * (FAILURES - 1) + ["pin-locked"] * 5
    assert (await screen.operate("pause_table", SUPERVISOR, reason="x")).json["accepted"]


async def test_five_hundred_connections_lock_no_screen_out(stage: Stage, signed_on: Browser, second: Browser) -> None:
    """Some are idle, and some repeat requests. The oldest connections are closed first, but never those of a screen."""
    idle = []
    for _ in range(500):
        stranger = socket.socket()
        stranger.setblocking(False)
        await asyncio.get_running_loop().sock_connect(stranger, ("127.0.0.1", signed_on.port))
        idle.append(stranger)
        if len(idle) % 50 == 0:
            assert await code_of(signed_on) == "reason"
    async with Browser(signed_on.port, second.cookie) as dialled_last:
        assert await code_of(dialled_last) == "not-signed-on"
    assert (await stage.state()).table == "T-1"
    ended = 0
    async with asyncio.timeout(60):
        for stranger in idle[: len(idle) - IN_ALL]:
            with suppress(ConnectionError):
                assert await asyncio.get_running_loop().sock_recv(stranger, 1) == b""
            ended += 1
    assert ended == 500 - IN_ALL
    for stranger in idle:
        stranger.close()


# -- secrets


async def test_the_cookie_is_only_in_the_browser(stage: Stage, signed_on: Browser, second: Browser) -> None:
    """The journal, the log, the state, events and answers contain it neither as text nor as bytes."""
    assert await code_of(signed_on) == "reason"
    said = [json.dumps(await signed_on.state()).encode()]
    async with ApiClient(stage.socket) as client:
        stream = client.events(EventId())
        async for event in stream:
            if event is None:
                break
            said.append(json.dumps(event).encode())
        await stream.aclose()
    signed_on.cookie += "x"  # a cookie that is refused
    said.append((await signed_on.operate("pause_table", reason="x")).body)
    signed_on.cookie = signed_on.cookie[:-1]
    assert await stage.daemon.end() == 0
    said += [path.read_bytes() for path in stage.folder.rglob("*") if path.is_file()]
    said += [line.encode() for line in (*stage.daemon.err, *stage.daemon.out)]
    everything = b"\n".join(said)
    for cookie in (signed_on.cookie, second.cookie):
        token = cookie.partition("=")[2]
        assert hashlib.sha256(token.encode()).hexdigest().encode() in everything  # the search works
        for form in (token.encode(), token.upper().encode(), bytes.fromhex(token)):
            assert form not in everything


async def test_the_client_operates_with_the_cookie_of_a_screen_and_without_one_looks(signed_on: Browser) -> None:
    pause = OperationRequest(str(uuid4()), 0, operations.PauseTable("lunch"))
    at = f"http://localhost:{signed_on.port}/"
    async with ApiClient(at) as display, ApiClient(at, signed_on.cookie) as client:
        assert (await display.operate(pause)).code == "not-enrolled"
        assert (await client.operate(pause)).accepted
        assert (await display.state()).paused == "lunch"
        assert await client.is_healthy()
        stream = display.events()
        first = await anext(stream)
        assert first is not None
        assert first["event"] == "table_began"
        await stream.aclose()
    async with ApiClient(f"http://127.0.0.1:{free_port()}") as client:
        with pytest.raises(TableUnreachableError, match="No daemon answers at http://127"):
            await client.state()


# -- starting


async def test_a_port_in_use_is_reported_and_nothing_recorded(stage: Stage) -> None:
    with closing(TcpListener(0)) as taken:
        stage.configure(law=HTTP.format(taken.port))
        daemon = stage.spawn_daemon()
        assert await daemon.ended() == 78
        assert f"[api.http] port: {taken.port} is in use" in daemon.err[-2]
    assert not stage.socket.exists()


async def test_it_is_ready_once_the_device_is(stage: Stage) -> None:
    await stage.start_daemon()
    async with Browser(await port_of(stage)) as monitor:
        waits = await monitor.ask("GET", "/readyz")
        assert (waits.status, waits.body[:13]) == (503, b"The table is ")
        await stage.start_device(dealer=False)
        async with ApiClient(stage.socket) as client:
            await stage.events_until(client, "device_ready")
        async with asyncio.timeout(60):
            while (answered := await monitor.ask("GET", "/readyz")).status != 200:
                pass
        assert answered.body == b"ready\n"
