"""Readings and a casino's own rows in a configuration: which are accepted or refused, and their effect at a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration
from controller.games.specification import Disposition, Kind, Unit
from controller.table import events, operations
from controller.table.phases import Phase
from controller.table.settings import ChosenReading, Settings, law_of
from tests.table.harness import TableHarness

TABLE = '[table]\nname = "T-1"\ngame = "NC"\nunit = "sets"\nsimulated = {simulated}\n'
HASH = "scrypt$16384$8$1$" + "00" * 16 + "$" + "00" * 32  # it is well-formed, and no PIN is asked for
REST = f"""
[device]
url = "serial:///dev/cardshoe/X"
key_file = "device.keys"
[journal]
folder = "journal"
key_file = "journal.key"
[api]
socket = "api.sock"
[[people]]
id = "manager"
name = "Mo"
role = "shift_manager"
pin_hash = "{HASH}"
uids = [1]
"""
CHOSEN = '[readings]\nestablished_by = { option = "complete_hands", chosen_by = "J. Tan", chosen_on = 2026-11-01 }\n'
HOUSE = """
[[house]]
rule = "HR 4.2"
authority = "House procedures, edition 3"
kind = "unshuffled"
disposition = "continue"
because = "a hand shuffle by two people stands for the machine's"
when = { handled = true }
"""
REMOVING = HOUSE.replace("handled = true", "dealer_hand = false").replace("unshuffled", "wrong_count")
REMOVING = REMOVING.replace('"continue"', '"remove_hand"')


def read(folder: Path, law: str = "", simulated: bool = True) -> Configuration:
    path = folder / "table.toml"
    path.write_text(TABLE.format(simulated=str(simulated).lower()) + law + REST)
    return read_configuration(path)


def refusal(folder: Path, law: str, simulated: bool = True) -> str:
    with pytest.raises(ConfigurationError) as raised:
        read(folder, law, simulated)
    assert raised.value.hint
    return str(raised.value)


def test_a_reading_is_journaled_with_its_author_and_time(tmp_path: Path) -> None:
    settings = read(tmp_path, CHOSEN, simulated=False).settings
    assert settings.readings == (ChosenReading("established_by", "complete_hands", "J. Tan", "2026-11-01"),)
    assert law_of(settings).option("established_by") == "complete_hands"


def test_a_real_table_must_choose_every_setting_without_a_default(tmp_path: Path) -> None:
    sentence = refusal(tmp_path, "", simulated=False)
    assert "established_by must be chosen (NC 5.4): mathematically or complete_hands" in sentence
    assert law_of(read(tmp_path).settings).unchosen, "a simulation may leave it open"


@pytest.mark.parametrize("missing", ['chosen_by = "J. Tan", ', ", chosen_on = 2026-11-01"])
def test_such_a_choice_needs_an_author_and_a_time(tmp_path: Path, missing: str) -> None:
    assert missing in CHOSEN
    assert "does not say who chose it and when" in refusal(tmp_path, CHOSEN.replace(missing, ""), simulated=False)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ('[readings.telepathy]\noption = "yes"\n', "NC has no setting 'telepathy'"),
        ('[readings.wrong_count]\noption = "both"\n', "wrong_count is general or specific (NC 5.5.4), not 'both'"),
        ('[readings.wrong_count]\noption = "general"\nwhy = "so"\n', "why"),
        (HOUSE.replace('"HR 4.2"', '""'), "rule is empty"),
        (HOUSE.replace('"House procedures, edition 3"', '" "'), "HR 4.2: authority is empty"),
        (HOUSE.replace("handled = true", "tired = true"), "there is no fact 'tired'"),
        (HOUSE.replace('"continue"', '"options"'), "a house rule cannot say options"),
        (HOUSE.replace('"unshuffled"', '"earthquake"'), "earthquake"),
        (REMOVING.replace('"wrong_count"', '"late_bet"'), "late_bet does not name a hand that could be removed"),
        (REMOVING.replace("dealer_hand = false", "handled = true"), "it could remove the Dealer's hand"),
    ],
)
def test_an_invalid_reading_or_rule_is_refused(tmp_path: Path, law: str, words: str) -> None:
    assert words in refusal(tmp_path, law)


def test_a_row_of_the_casino_precedes_the_document_and_names_its_source(tmp_path: Path) -> None:
    (row,) = read(tmp_path, HOUSE).settings.house
    assert (row.id, row.clause, row.authority) == ("H1", "HR 4.2", "House procedures, edition 3")
    assert row.disposition is Disposition.CONTINUE


def test_a_house_row_may_remove_a_players_hand(tmp_path: Path) -> None:
    (row,) = read(tmp_path, REMOVING).settings.house
    assert (row.disposition, row.when.dealer_hand) == (Disposition.REMOVE_HAND, False)


def test_a_house_row_decides_at_the_table(tmp_path: Path) -> None:
    table = TableHarness(settings=read(tmp_path, HOUSE).settings).start().to_dealing().deal()
    table.handle("B1")
    table.report(Kind.UNSHUFFLED)
    assert table.open.row.authority == "House procedures, edition 3"
    table.confirm()
    assert table.state.phase is Phase.EXAMINING
    assert table.last(events.IrregularityResolved).clause == "HR 4.2"


def test_where_the_house_row_does_not_fit_the_document_decides(tmp_path: Path) -> None:
    table = TableHarness(settings=read(tmp_path, HOUSE).settings).start().to_dealing()
    table.take()
    table.report(Kind.UNSHUFFLED)
    table.confirm(handled=False)
    assert table.last(events.RoundVoided).clause == "NC 5.5.3"


def test_a_real_table_does_not_open_with_a_reading_left_open() -> None:
    table = TableHarness(settings=Settings("NC", Unit.SETS, 7)).start(simulated=False)
    code, sentence = table.refused(operations.OpenTable())
    assert code == "reading"
    assert "established_by must be chosen" in sentence
