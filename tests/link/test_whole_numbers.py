"""A number from outside has only ASCII digits: `int` accepts those of every script, blanks, signs, underscores."""

from __future__ import annotations

import pytest

from controller.daemon.host import SystemdNotifier
from controller.people_words.tokens import Tokens, UnreadableLineError
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.errors import BadDeviceUrlError
from firmware_bridge.plain_text import whole_number

OTHERS = ("\uff11\uff12", "\u0663", "1_2", "+1", "-1", " 1", "1 ", "1\n", "²", "", "0x10", "9" * 5000)


@pytest.mark.parametrize("text", OTHERS)
def test_text_that_is_not_a_number(text: str) -> None:
    assert whole_number(text, 10**18) is None
    assert SystemdNotifier({"WATCHDOG_USEC": text}).interval is None


def test_a_number_and_its_bound() -> None:
    assert [whole_number(text, 120) for text in ("0", "007", "120", "121", "1200")] == [0, 7, 120, None, None]
    assert SystemdNotifier({"WATCHDOG_USEC": "30000000"}).interval == 10.0


@pytest.mark.parametrize("text", ["\uff19\uff16\uff10\uff10", "\u0669\u0666\u0660\u0660"])
def test_digits_of_another_script_in_a_device_url(text: str) -> None:
    with pytest.raises(BadDeviceUrlError):
        parse_device_url(f"serial:///dev/x?baud={text}")


def test_digits_of_another_script_in_a_scenario() -> None:
    with pytest.raises(UnreadableLineError):
        Tokens(["\uff11\uff12"]).number("cards")
