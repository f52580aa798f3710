"""A real daemon's messages to screens: the current state, the offers, and the answer to a late tap."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from controller.api.client import HOST, ApiClient
from controller.api.pages import version
from simulators.people.crew import CREW
from tests.end_to_end.browser import DEALER, SUPERVISOR, Browser, free_port, port_of
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder

MANAGER = CREW[2]
PASSING = {"age"}  # the age of a device's state increases while nothing happens


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=1) as made:
            made.configure(law=f"[api.http]\nport = {free_port()}\n")
            yield made


@pytest.fixture
async def screen(stage: Stage) -> AsyncIterator[Browser]:
    """Yield an enrolled screen, with the dealer signed on, at a table whose device is connected."""
    await stage.start_device(dealer=False)
    await stage.start_daemon()
    async with Browser(await port_of(stage)) as browser:
        assert (await browser.enrol()).json["accepted"]
        assert (await browser.operate("sign_on", DEALER)).json["accepted"]
        await state_of(browser, lambda state: state["view"]["service"] == "in_service")
        yield browser


async def messages(browser: Browser) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Yield the events of the stream, with their data."""
    headers = {"Host": browser.host, "Cookie": browser.cookie}
    url = f"http://127.0.0.1:{browser.port}/v1/screen?language=en"
    async with (
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
        session.get(url, headers=headers) as response,
    ):
        assert (response.status, response.content_type) == (200, "text/event-stream")
        name = ""
        async for line in response.content:
            if line.startswith(b"event: "):
                name = line[7:].decode().strip()
            elif line.startswith(b"data: "):
                yield name, json.loads(line[6:])


async def states(browser: Browser, until: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Return every state up to and including the given state."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE):
        stream = messages(browser)
        async for name, data in stream:
            if name == "state":
                found.append(data)
                if until(data):
                    await stream.aclose()  # type: ignore[attr-defined]  # it is a generator
                    return found
    raise AssertionError("the stream ended")


async def state_of(browser: Browser, until: Callable[[dict[str, Any]], bool] = lambda state: True) -> dict[str, Any]:
    return (await states(browser, until))[-1]


def offered(state: dict[str, Any], operation: str) -> dict[str, Any]:
    (offer,) = [one for one in state["offers"] if one["operation"] == operation]
    return dict(offer)


async def enter(browser: Browser, state: dict[str, Any], offer: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Enter an offer as the page does, for the state from which it was drawn."""
    asked = {
        "id": more.pop("id", str(uuid4())),
        "round": state["view"]["round"],
        "as_of": state["entry"],
        "operation": {"operation": offer["operation"]} | offer["arguments"] | more.pop("said", {}),
    }
    return (await browser.ask("POST", "/v1/operations", asked | more)).json


async def test_a_screen_follows_a_round_to_its_end(stage: Stage) -> None:
    await stage.start_device(pace=0.01)
    await stage.start_daemon()
    async with Browser(await port_of(stage)) as browser, ApiClient(stage.socket) as client:
        assert (await browser.enrol()).json["accepted"]
        seen = await states(browser, lambda state: state["view"]["phase"] == "concluded")
        entries = [state["entry"] for state in seen]
        assert entries == sorted(set(entries))
        assert all(sum(offer["primary"] for offer in state["offers"]) <= 1 for state in seen)
        assert {person["id"] for person in seen[-1]["people"]} >= {DEALER.id, SUPERVISOR.id}
        assert seen[-1]["screen"]["name"] == "Left"
        await stage.played()
        now = await state_of(browser)
        state = await browser.state()
        assert without_what_passes(now["view"]) == without_what_passes(state)
        number = now["view"]["round"]
        events = [event async for event in until_now(client) if event["round"] == number]
        told = json.loads((await browser.ask("GET", f"/v1/rounds/{number}")).body)
        assert sum("line" in one for one in told) > 10
        spoken = {"line", "message"}
        assert [{name: value for name, value in one.items() if name not in spoken} for one in told] == events
        assert len(events) > 50
        assert (await browser.ask("GET", "/v1/rounds/7000")).status == 404


def without_what_passes(view: dict[str, Any]) -> dict[str, Any]:
    device = {name: value for name, value in view["device"].items() if name not in PASSING}
    return view | {"device": device}


async def until_now(client: ApiClient) -> AsyncIterator[dict[str, Any]]:
    async for event in client.events():
        if event is None:
            return
        yield event


async def test_beats_come_although_nothing_happens(screen: Browser) -> None:
    beats = []
    async with asyncio.timeout(PATIENCE):
        async for name, data in messages(screen):
            beats += [data] if name == "beat" else []
            if len(beats) == 3:
                break
    assert all(set(beat) == {"utc_ns", "age", "link", "seen"} for beat in beats)
    assert beats[0]["utc_ns"] < beats[1]["utc_ns"] < beats[2]["utc_ns"]


async def test_a_late_tap_does_nothing_and_shows_who_was_first(screen: Browser) -> None:
    drawn = await state_of(screen)
    assert drawn["screen"]["dealer_name"] == DEALER.name
    opened = await enter(screen, drawn, offered(drawn, "open_table"))
    assert opened["accepted"]
    again = await enter(screen, drawn, offered(drawn, "open_table"))
    assert (again["accepted"], again["code"]) == (False, "changed")
    assert again["sentence"] == (
        f"{DEALER.name} (Left) opened the table. Nothing was done. Read the screen and enter it again."
    )
    paused = await enter(screen, drawn, offered(drawn, "pause_table"), said={"reason": "lunch"})
    assert paused["accepted"]
    now = await state_of(screen, lambda state: state["view"]["paused"] == "lunch")
    assert [offer["operation"] for offer in now["offers"] if offer["primary"]] == ["resume_table"]
    assert now["turned"] == paused["entry"] + 1


async def test_an_answer_can_be_looked_up(screen: Browser) -> None:
    drawn, id_ = await state_of(screen), str(uuid4())
    assert (await screen.ask("GET", f"/v1/operations/{id_}")).status == 404
    answer = await enter(screen, drawn, offered(drawn, "open_table"), id=id_)
    for written in (id_, id_.upper(), id_.replace("-", "")):
        assert (await screen.ask("GET", f"/v1/operations/{written}")).json == answer
    assert (await screen.ask("GET", "/v1/operations/none")).code == "no-answer"


async def test_two_taps_do_not_abandon_a_round_but_a_second_request_does(stage: Stage) -> None:
    """The simulated people are stopped in mid-round, so that nobody else enters anything."""
    device = await stage.start_device(pace=0.2)
    await stage.start_daemon()
    async with Browser(await port_of(stage)) as browser:
        assert (await browser.enrol()).json["accepted"]
        await state_of(browser, lambda state: state["view"]["phase"] == "betting")
        device.signal(signal.SIGSTOP)
        signed = {"person": MANAGER.id, "pin": MANAGER.pin, "said": {"authority": "shift manager", "text": "fire"}}
        drawn = await state_of(browser)
        first = await enter(browser, drawn, offered(drawn, "abandon_round"), **signed)
        assert first["accepted"]
        again = await enter(browser, drawn, offered(drawn, "abandon_round"), **signed)
        assert again["code"] == "changed"
        asked = await state_of(browser, lambda state: offered(state, "abandon_round")["asked"] > 0)
        offer = offered(asked, "abandon_round")
        assert (offer["asked"], offer["asked_by"], offer["primary"]) == (first["entry"] + 1, MANAGER.id, False)
        assert abs(offer["asked_utc_ns"] - asked["last"]["utc_ns"]) < PATIENCE * 10**9
        assert (await enter(browser, asked, offer, **signed))[
            "accepted"
        ]  # without `repeats` it is a first request again
        later = await state_of(browser, lambda state: offered(state, "abandon_round")["asked"] > offer["asked"])
        assert later["view"]["phase"] == drawn["view"]["phase"]
        offer = offered(later, "abandon_round")
        assert (await enter(browser, later, offer, repeats=offer["asked"], **signed))["accepted"]
        await state_of(browser, lambda state: state["view"]["phase"] == "voided")


async def test_a_user_of_the_socket_is_shown_as_the_person_for_whom_it_stands(stage: Stage) -> None:
    await stage.start_daemon()
    connector = aiohttp.UnixConnector(str(stage.socket))
    async with (
        asyncio.timeout(PATIENCE),
        aiohttp.ClientSession(connector=connector) as session,
        session.get(f"{HOST}/v1/screen") as response,
    ):
        async for line in response.content:
            if line.startswith(b"data: "):
                break
    shown = json.loads(line[6:])
    assert shown["screen"] == {
        "enrolled": True, "id": "", "name": "", "dealer": DEALER.id, "dealer_name": DEALER.name, "until_utc_ns": 0,
    }  # fmt: skip
    assert offered(shown, "open_table")["code"] == "service"


async def test_a_display_is_given_no_offers_and_no_people(stage: Stage, screen: Browser) -> None:
    async with Browser(screen.port) as display:
        shown = await state_of(display)
        assert (shown["offers"], shown["reports"], shown["people"]) == ([], [], [])
        assert shown["page"] == version()
        assert shown["screen"]["enrolled"] is False
        assert shown["view"]["phase"] == "closed"
        for path in ("/v1/lawful", f"/v1/operations/{uuid4()}"):
            refused = await display.ask("GET", path)
            assert (refused.status, refused.code) == (403, "display")
        assert (await display.ask("POST", "/v1/preview", {"operation": {"operation": "open_table"}})).status == 403
        assert (await display.ask("GET", "/v1/rounds/0")).status == 404


async def test_a_removed_screen_becomes_a_display(screen: Browser) -> None:
    """This also applies to the stream that it has open."""
    following = asyncio.create_task(states(screen, lambda state: not state["screen"]["enrolled"]))
    (left,) = (await screen.state())["screens"]
    assert (await screen.operate("remove_screen", SUPERVISOR, screen=left["id"])).json["accepted"]
    shown = (await following)[-1]
    assert (shown["offers"], shown["reports"], shown["people"]) == ([], [], [])


async def test_offers_are_sent_to_programs_too(screen: Browser) -> None:
    lawful = json.loads((await screen.ask("GET", "/v1/lawful")).body)
    assert [offer["operation"] for offer in lawful if offer["primary"]] == ["open_table"]
    preview = await screen.ask("POST", "/v1/preview", {"operation": {"operation": "open_table"}})
    assert (preview.status, preview.code) == (200, "no-preview")
    unreadable = await screen.ask("POST", "/v1/preview", {"operation": {"operation": "fly"}})
    assert (unreadable.status, unreadable.code) == (400, "bad-request")


async def test_only_people_at_the_socket_say_what_is_seen_at_a_simulated_table(stage: Stage, screen: Browser) -> None:
    assert (await screen.ask("POST", "/v1/seen", {"sentence": "A card lies face up."})).status == 404
    async with ApiClient(stage.socket) as client:
        await client.show_seen("Bets lie at box 1.")
    async with asyncio.timeout(PATIENCE):
        async for name, data in messages(screen):
            if name == "beat" and data["seen"]:
                assert data["seen"] == "Bets lie at box 1."
                return


async def test_wrong_pins_at_the_screen_are_counted_on_it(screen: Browser) -> None:
    await screen.operate("resume_table", SUPERVISOR, pin="000000")
    shown = await state_of(screen)
    tries = {person["id"]: person["tries_left"] for person in shown["people"]}
    assert (tries[SUPERVISOR.id], tries[DEALER.id]) == (4, 5)
