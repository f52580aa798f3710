"""The page's server with a real broker: what a page is sent, who may ask, and attempts to disturb it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import pytest_mock

from controller.api.screen_port import HEADERS, IN_ALL
from controller.floor.address import Broker
from controller.floor.broker import BrokerConnection, connected
from controller.floor.follower import FollowedPart
from controller.floor.topics import TablePlace, TopicSubject
from tests.floor.certificates import Authority
from tests.floor.many_tables import EXPOSED, LATE_BET, Told, changed, floor_of, gone, opened, quiet, tell
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.page_reader import RunningPage, running_page
from tests.floor.test_stories import decision, pause

pytestmark = pytest.mark.tool("mosquitto")

FIRST = "vienna/p1/nc-01"
MOST_WAITING = 4 * 2**20  # bytes, for all clients that do not read


@asynccontextmanager
async def page_of(
    folder: Path, *tables: Told, part: FollowedPart | None = None, hosts: tuple[str, ...] = ()
) -> AsyncIterator[tuple[RunningPage, BrokerConnection, Mosquitto]]:
    """Yield a broker that has these tables, and the page's server."""
    async with mosquitto(folder) as broker, connected(broker.broker, "tables") as connection:
        await tell(connection, tables)
        async with running_page(broker.broker, part, hosts) as page:
            yield page, connection, broker


async def test_a_page_gets_the_whole_floor_and_then_its_changes(tmp_path: Path) -> None:
    async with page_of(tmp_path, *floor_of(48)) as (page, tables, _), page.reader() as found:
        await found.until(lambda: len(found.rows) == 48 and len(found.matters) == 8)
        assert [one["trouble"] for one in found.matters][:3] == ["", "", ""]
        assert found.rows[FIRST]["tone"] == "red"
        messages = found.messages
        await tell(tables, [quiet(0)])
        await found.until(lambda: found.rows[FIRST]["tone"] == "plain")
        assert len(found.matters) == 7
        assert (found.whole, found.messages) == (1, messages + 1)
        await tables.publish(f"cardshoe/1/{FIRST}/table", b"", retained=True)
        await found.until(lambda: FIRST not in found.rows)


async def test_sentences_come_in_the_language_of_the_page(tmp_path: Path) -> None:
    paused = changed(opened(quiet(0), EXPOSED, 3), paused="A dispute")
    async with page_of(tmp_path, paused) as (page, _, _), page.reader("/v1/floor?language=zh-Hans") as found:
        await found.until(lambda: len(found.matters) == 2)
        matter, pause_ = found.matters
        assert (matter["what"], matter["where"], matter["who"]) == ("派牌时露牌", "1号位", "区域主管")
        assert matter["act"].startswith("请叫区域主管。1号位露牌了吗")
        assert pause_["what"] == "争议"
        async with page.reader(f"/v1/story?table={FIRST}&language=zh-Hans") as story:
            await story.until(lambda: bool(story.story))
            assert story.story["detail"]["title"] == "免佣三公"


async def test_a_report_of_a_hostile_table_is_not_searched_for_long(
    tmp_path: Path, mocker: pytest_mock.MockerFixture
) -> None:
    """The owner of a table's certificate sends sentences that fit many templates; the page shows them as they came."""
    hostile = tuple(f"box {number} and card 1 from {'a, ' * 200}: b; c" for number in range(40))
    told = changed(opened(quiet(0), EXPOSED, 3), warnings=hostile, next_step=hostile[0])
    address = f"/v1/story?table={FIRST}&language=zh-Hans"
    async with page_of(tmp_path, told) as (page, _, _), page.reader(address) as found:
        await found.until(lambda: bool(found.story.get("detail")))
        assert found.story["detail"]["warnings"][-1].startswith("box 39 and card 1 from a, a, ")


async def test_a_story_follows_the_journal(tmp_path: Path) -> None:
    async with page_of(tmp_path, quiet(0)) as (page, tables, _), page.reader(f"/v1/story?table={FIRST}") as found:
        await found.until(lambda: bool(found.story.get("detail")))
        detail = found.story["detail"]
        assert (detail["title"], detail["serial"], detail["status"]) == (
            "Non-Commission Three Pictures", "CS-0000", "running",
        )  # fmt: skip
        assert found.story["lines"] == []
        for first in (1, 3, 1):  # a publisher that starts again repeats
            await tables.publish(f"cardshoe/1/{FIRST}/journal", decision(first, pause(f"number {first}")))
        await found.until(lambda: len(found.story["lines"]) == 2)
        assert [line["text"] for line in found.story["lines"]] == ["Paused: number 3.", "Paused: number 1."]


async def test_a_table_that_never_reported_is_unknown(tmp_path: Path) -> None:
    async with page_of(tmp_path) as (page, _, _), page.reader("/v1/story?table=a/b/c") as found:
        await found.until(lambda: bool(found.story))
        assert found.story["detail"] is None


async def test_one_pit_alone(tmp_path: Path) -> None:
    async with page_of(tmp_path, *floor_of(48), part=FollowedPart(pit="p2")) as (page, _, _), page.reader() as found:
        await found.until(lambda: len(found.rows) == 16)
        assert {row["pit"] for row in found.rows.values()} == {"p2"}


async def test_a_broker_that_is_killed_and_comes_back(tmp_path: Path) -> None:
    tables = [opened(quiet(0), LATE_BET, 3), quiet(1)]
    async with page_of(tmp_path, *tables) as (page, _, broker), page.reader() as found:
        await found.until(lambda: len(found.rows) == 2 and bool(found.matters))
        rows = dict(found.rows)
        await broker.kill()
        await found.until(lambda: found.contact["away_since"] > 0)
        assert (found.rows, len(found.matters)) == (rows, 1), "what was known stands as it was"
        await found.until(lambda: found.contact["why"] == "floor-unreachable")
        assert page.log.of("floor.away")[0]["hint"]
        await broker.start()
        await found.until(lambda: found.contact["away_since"] == 0)
        async with connected(broker.broker, "again") as connection:
            await tell(connection, [quiet(0)])
            await found.until(lambda: not found.matters)
        assert found.whole == 1


async def test_a_will_of_the_broker_is_a_table_without_contact(tmp_path: Path) -> None:
    async with page_of(tmp_path, quiet(0)) as (page, tables, _), page.reader() as found:
        await found.until(lambda: FIRST in found.rows)
        await tell(tables, [gone(quiet(0))])
        await found.until(lambda: found.rows[FIRST]["trouble"] == "lost")
        assert found.matters[0]["trouble"] == "lost"


async def test_an_unreadable_message_is_counted_and_reported_once(tmp_path: Path) -> None:
    strange = ("cardshoe/1/vienna/p1/nc 07\u202e/table", "cardshoe/1/vienna/p1/<b>/device")
    async with page_of(tmp_path, quiet(1)) as (page, tables, _), page.reader() as found:
        await found.until(lambda: len(found.rows) == 1)
        for topic in strange:
            await tables.publish(topic, b"{}")
        await tables.publish(f"cardshoe/1/{FIRST}/table", b"\xff<script>", retained=True)
        await tables.publish(f"cardshoe/1/{FIRST}/journal", b"[[[")
        await tell(tables, [quiet(2)])
        await found.until(lambda: len(found.rows) == 2 and found.contact["unread"] == 4)
        assert "\u202e" not in found.contact["unread_first"]
        assert len(page.log.of("floor.unread")) == 1


# -- permitted requests


async def asked(page: RunningPage, path: str, method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, f"http://127.0.0.1:{page.port}{path}", headers=headers) as answer,
    ):
        return answer.status, await answer.text(), dict(answer.headers)


async def test_the_page_is_read_only(tmp_path: Path) -> None:
    async with page_of(tmp_path, hosts=("pit.example",)) as (page, _, _):
        for path in ("/", "/floor/js/main.js", "/console/words", "/console/js/dom.js", "/healthz"):
            status, body, headers = await asked(page, path)
            assert (status, bool(body)) == (200, True), path
            assert headers.items() >= HEADERS.items()
            assert "Server" not in headers
        for path in ("/console/js/operate.js", "/console/index.html", "/v1/operations", "/../words.py", "/v1/story"):
            assert (await asked(page, path))[0] == 404, path
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            for path in ("/", "/v1/floor", "/v1/story", "/healthz"):
                assert (await asked(page, path, method))[0] == 405, (method, path)
        assert (await asked(page, "/", Host="pit.example"))[0] == 200
        assert (await asked(page, "/", Host="evil.example"))[0] == 421
        assert (await asked(page, "/v1/floor", Origin="https://evil.example"))[0] == 403
        assert (await asked(page, "/healthz", Origin=f"http://127.0.0.1:{page.port}"))[0] == 200
        for table in ("a/b", "a/b/c/d", "a/+/c", "", "a/b/%00", "a/b/%3Cb%3E"):
            assert (await asked(page, f"/v1/story?table={table}"))[0] == 404, table


async def test_it_listens_on_the_loopback_only(tmp_path: Path) -> None:
    async with page_of(tmp_path) as (page, _, _):
        for family, _, _, _, address in socket.getaddrinfo(socket.gethostname(), page.port, type=socket.SOCK_STREAM):
            if not str(address[0]).startswith(("127.", "::1")):
                with socket.socket(family) as other:
                    assert other.connect_ex(address) != 0


async def test_a_follower_that_does_not_read_keeps_nobody_else(tmp_path: Path) -> None:
    async with page_of(tmp_path, *floor_of(48)) as (page, tables, _), page.reader() as found:
        await found.until(lambda: len(found.rows) == 48)
        _, writer = await asyncio.open_connection("127.0.0.1", page.port, limit=2)
        writer.write(f"GET /v1/floor HTTP/1.1\r\nHost: localhost:{page.port}\r\n\r\n".encode())
        for step in range(1, 5):
            await tell(tables, [changed(quiet(number), round=step) for number in range(48)])
            await found.until(lambda step=step: found.rows["vienna/p3/nc-48"]["round"] == step)  # type: ignore[misc]
        writer.close()
        await writer.wait_closed()


async def test_hundreds_of_incomplete_requests_lock_no_page_out(tmp_path: Path) -> None:
    """The open page is still served, and the data that waits for those who do not read is limited."""
    async with page_of(tmp_path, *floor_of(48)) as (page, tables, _), page.reader() as found:
        await found.until(lambda: len(found.rows) == 48)
        host = f"Host: localhost:{page.port}\r\n"
        asked = ("", f"GET /v1/floor HTTP/1.1\r\n{host}", f"GET /v1/floor HTTP/1.1\r\n{host}\r\n")
        writers = []
        for number in range(500):
            _, writer = await asyncio.open_connection("127.0.0.1", page.port, limit=2)
            writer.write(asked[number % len(asked)].encode())
            writers.append(writer)
        for step in range(1, 5):
            await tell(tables, [changed(quiet(number), round=step) for number in range(48)])
            await found.until(lambda step=step: found.rows["vienna/p3/nc-48"]["round"] == step)  # type: ignore[misc]
        assert found.whole == 1
        assert len(page.waiting) <= IN_ALL
        assert sum(page.waiting) < MOST_WAITING
        for writer in writers:
            writer.transport.abort()


# -- certificates


@pytest.mark.filterwarnings(
    "ignore:unclosed <ssl.SSLSocket:ResourceWarning",
    "ignore:Exception ignored in.*SSLSocket:pytest.PytestUnraisableExceptionWarning",
)
async def test_a_wrong_certificate_is_reported_and_the_page_waits(tmp_path: Path) -> None:
    authority, other = Authority(tmp_path), Authority(tmp_path, "other")
    own = authority.sign("broker")
    files = (f"cafile {own.ca}", f"certfile {own.certificate}", f"keyfile {own.key}")
    by_certificate = ("require_certificate true", "use_identity_as_username true")
    async with mosquitto(tmp_path, *files, *by_certificate, credentials=own) as broker:
        wrong = Broker(broker.broker.address, other.sign("page"))
        async with running_page(wrong) as page, page.reader() as found:
            await found.until(lambda: found.contact.get("why") == "floor-certificate")
            assert "is not accepted" in page.log.of("floor.away")[0]["sentence"]
        right = Broker(broker.broker.address, authority.sign("page"))
        async with running_page(right) as page, page.reader() as found:
            await found.until(lambda: found.contact.get("away_since") == 0)


def test_a_place_is_written_as_its_topic_is() -> None:
    assert TablePlace(*FIRST.split("/")).topic(TopicSubject.TABLE) == f"cardshoe/1/{FIRST}/table"
