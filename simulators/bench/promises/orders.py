"""Commands and their answers: docs/cardlink.md, "Commands"."""

from __future__ import annotations

from typing import Final

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.messages import FrameKind
from simulators.bench.frames import FrameHost
from simulators.bench.promise import check, promise

REMEMBERED: Final = 16  # ids
OTHERS: Final = 64  # ids, more than a device has to remember
UNKNOWN_TAG: Final = 250
LONGEST_TEXT: Final = 32  # characters of show


class TestCommandPromises:
    """A command is carried out once and answered the same each time."""

    @promise("Commands", "2", "a command id is carried out once, and its answer repeated")
    async def test_an_id_is_carried_out_once(self, host: FrameHost) -> None:
        await host.settle()
        place = len(host.came)
        command_id = host.command(messages.RunSelfTestOrder())
        first = await host.answer(command_id)
        for _ in range(2):
            again_at = len(host.came)
            host.command(messages.RunSelfTestOrder(), command_id)
            again = await host.answer(command_id, again_at)
            check(again == first, "the answer to a repeated id differs")
        await host.until_statuses(2)
        tests = {
            one.frame.number for one in host.reports(place) if isinstance(one.body, messages.SelfTestFinishedReport)
        }  # fmt: skip
        check(len(tests) <= 1, f"one command id was carried out {len(tests)} times")
        headers = {one.frame.number for one in host.answers(command_id, place)}
        check(len(headers) == 1, "an answer that was repeated has another number in its header")

    @promise("Commands", "2", "a link remembers at least its last 16 ids")
    async def test_the_last_ids_are_remembered(self, host: FrameHost) -> None:
        await host.settle()
        first = host.command(messages.ReleaseExitOrder())
        if not (await host.answer(first)).done:
            host.cannot("the device does not release its exit")
        for _ in range(REMEMBERED - 1):
            await host.order(messages.HoldExitOrder())
        place = len(host.came)
        host.command(messages.ReleaseExitOrder(), first)
        check((await host.answer(first, place)).done, "the answer to a repeated id differs")
        check((await host.status()).exit_held, "a repeated id released the exit a second time")

    @promise("Commands", "2", "an id that was forgotten is not carried out again")
    async def test_a_forgotten_id_is_not_carried_out_again(self, host: FrameHost) -> None:
        await host.settle()
        first = host.command(messages.ReleaseExitOrder())
        if not (await host.answer(first)).done:
            host.cannot("the device does not release its exit")
        for _ in range(OTHERS):
            await host.order(messages.HoldExitOrder())
        host.command(messages.ReleaseExitOrder(), first)
        await host.until_statuses(2)
        check((await host.status()).exit_held, f"an id was carried out a second time after {OTHERS} others")

    @promise("Header values", "", "an answer that is repeated keeps the number of the newest report in its header")
    async def test_a_repeated_answer_keeps_its_number(self, host: FrameHost) -> None:
        await host.settle()
        command_id = host.command(messages.RunSelfTestOrder())
        await host.answer(command_id)
        await host.cause(1)
        place = len(host.came)
        host.command(messages.RunSelfTestOrder(), command_id)
        await host.answer(command_id, place)
        numbers = [one.frame.number for one in host.answers(command_id)]
        check(len(set(numbers)) == 1, f"the numbers in the header of a repeated answer are {numbers}")

    @promise("Commands", "3", "one answer for each id, after the reports that it causes, with the newest number then")
    async def test_the_answer_comes_after_its_reports(self, host: FrameHost) -> None:
        await host.settle()
        place = len(host.came)
        command_id = host.command(messages.RunSelfTestOrder())
        answer = await host.answer(command_id)
        if not answer.done:
            host.cannot(f"the device does not run its self-test ({answer.reason})")
        kinds = [
            one for one in host.came[place:] if one.frame.kind in (FrameKind.REPORT, FrameKind.ANSWER) and one.body
        ]
        check(kinds[0].frame.kind == FrameKind.REPORT, "the answer came before the report that the command caused")
        number = host.answers(command_id)[0].frame.number
        newest = max(one.frame.number for one in host.reports(place))
        check(number == newest, f"the answer names report {number} in its header, the newest was {newest}")
        await host.until_statuses(3)
        check(len(host.answers(command_id)) == 1, "a command that came once was answered more than once")

    @promise("Commands", "4", "a new link forgets ids")
    async def test_a_new_link_forgets_ids(self, host: FrameHost) -> None:
        await host.settle()
        hold = host.command(messages.HoldExitOrder())
        if not (await host.answer(hold)).done:
            host.cannot("the device does not hold its exit")
        await host.order(messages.ReleaseExitOrder())
        await host.link()
        place = len(host.came)
        host.command(messages.HoldExitOrder(), hold)
        await host.answer(hold, place)
        check((await host.status()).exit_held, "an id of the previous link was not carried out on a new one")

    @promise("Commands", "4", "`last_command` names the last command done over a new link, which does not answer it")
    async def test_last_command_is_kept_over_a_new_link(self, host: FrameHost) -> None:
        await host.settle()
        command_id = host.command(messages.RunSelfTestOrder())
        if not (await host.answer(command_id)).done:
            host.cannot("the device does not run its self-test")
        place = len(host.came)
        status = await host.link()
        check(status.last_command == command_id, f"`last_command` is {status.last_command} on a new link")
        await host.until_statuses(2, place)
        check(not host.answers(command_id, place), "a command of the previous link was answered on a new one")

    @promise("Commands", "8", "an order that is not understood is answered `unknown`")
    async def test_an_unknown_order_is_unknown(self, host: FrameHost) -> None:
        await host.settle()
        orders: dict[str, object] = {
            f"the tag {UNKNOWN_TAG}": [UNKNOWN_TAG],
            "dispense of no card": [1, 0],
            "dispense of 6 cards": [1, 6],
            "dispense without a count": [1],
            "show of 33 characters": [6, "x" * (LONGEST_TEXT + 1)],
            "an order that is not an array": 7,
        }
        for what, order in orders.items():
            answer = await host.order(order)
            check((answer.done, answer.reason) == (False, "unknown"), f"{what} was answered {said(answer)}")

    @promise("Commands", "8", "a command whose id cannot be read is answered with sealed reject `message`")
    async def test_a_command_without_an_id_is_rejected(self, host: FrameHost) -> None:
        await host.settle()
        place = len(host.came)
        host.seal(FrameKind.COMMAND, b"\x92\xa1x\x91\x02")
        reject = await host.wait_for(
            lambda: host.first(FrameKind.SEALED_REJECT, place), "a command without an id was ignored"
        )
        check(reject.body.code == "message", f"the sealed reject says {reject.body.code!r}")
        await host.status()

    @promise("Commands", "9", "`unable` and `held` come before what the table names later")
    async def test_the_first_reason_is_named(self, host: FrameHost) -> None:
        await host.settle()
        assert host.active is not None
        can = "dispenses_on_command" in host.active.said.capabilities
        if not (await host.order(messages.HoldExitOrder())).done:
            host.cannot("the device does not hold its exit")
        answer = await host.order(messages.DispenseOrder(3))
        right = ("held",) if can else ("unable",)
        check(not answer.done, "a set was dispensed while the exit is held")
        if answer.reason in ("door", "jam"):
            host.cannot("a door is open, or the device is jammed")
        check(answer.reason in right, f"dispense with the exit held was answered {said(answer)}, not {right[0]!r}")


def said(answer: messages.AnswerBody) -> str:
    return "done" if answer.done else repr(answer.reason)
