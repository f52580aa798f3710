"""Every clause of every document has code and tests, or a reason why it is out of scope, and no
other clause is cited.
"""

from __future__ import annotations

import re

import pytest

from controller.games import GAMES
from controller.games.specification import Provision
from tests.clauses.citations import cited, cited_in_name
from tests.clauses.numbers import CLAUSES, DOCUMENTS, clauses
from tools.pages import clause_coverage as coverage
from tools.pages.clause_coverage import Citation, in_source

HOW_MANY = {"TP": 41, "RTP": 73, "NC": 80, "P3": 55, "F3": 18}  # counted in the documents
PROVISIONS = [provision for document in DOCUMENTS for provision in GAMES[document].provisions]
HOW_TO = "put the clause numbers of {} into tests/games/<id>/clauses.py (docs/a_new_game.md)"


def test_the_numbers_match_the_count_and_are_unique() -> None:
    assert {document: len(clauses(document)) for document in HOW_MANY} == HOW_MANY
    assert len(CLAUSES) == sum(len(clauses(document)) for document in DOCUMENTS)


def test_every_game_has_its_clause_numbers() -> None:
    without = sorted(set(GAMES) - set(DOCUMENTS))
    assert not without, HOW_TO.format(" and ".join(without))


@pytest.mark.parametrize(
    ("document", "first", "some", "last"),
    [
        ("TP", "TP 1.1", ("TP 3.8", "TP 3.8.1", "TP 3.8.1.1", "TP 3.9"), "TP Diagram B"),
        (
            "RTP",
            "RTP 1.1",
            ("RTP 1.1.4.2", "RTP 1.1.4.2.1", "RTP 1.1.4.2.2", "RTP 1.1.4.2.3", "RTP 1.1.4.3"),
            "RTP App. B",
        ),
        ("NC", "NC 1.1", ("NC 2.1.1", "NC 2.1.1.a", "NC 2.2", "NC 2.2.1", "NC 3.1"), "NC App. C"),
        ("P3", "P3 1.1", ("P3 4.3", "P3 5.1", "P3 5.1.1", "P3 5.1.2", "P3 5.2"), "P3 Diagram C"),
        ("F3", "F3 PM1", ("F3 PM5", "F3 item 1"), "F3 X2"),
    ],
)
def test_the_numbers_are_in_the_order_of_the_document(
    document: str, first: str, some: tuple[str, ...], last: str
) -> None:
    every = clauses(document)
    start = every.index(some[0])
    assert (every[0], every[start : start + len(some)], every[-1]) == (first, some, last)


@pytest.mark.parametrize("clause", ["NC 5.18", "NC 5.5.6", "NC 5.9.1", "NC 6.1", "NC 3", "F3 item 9", "TP App. A"])
def test_the_numbers_are_not_open_ended(clause: str) -> None:
    assert clause not in CLAUSES


@pytest.mark.parametrize(
    ("text", "clauses_cited"),
    [
        ("see RTP 5.8.1.", ("RTP 5.8.1",)),
        ("(NC 5.17(b))", ("NC 5.17",)),
        ("NC 2.1.1.a", ("NC 2.1.1.a",)),
        ("NC 3.13.1 to 3.13.3", ("NC 3.13.1", "NC 3.13.2", "NC 3.13.3")),
        ("TP 3.8-3.10", ("TP 3.8", "TP 3.9", "TP 3.10")),
        ("TP 3.8, RTP 3.17, NC 3.2", ("TP 3.8", "RTP 3.17", "NC 3.2")),
        ("NC 1.9, 3.2,\n    3.3 and 5.1", ("NC 1.9", "NC 3.2", "NC 3.3", "NC 5.1")),
        ("NC 5.1, or\n\n5.2; RTP 6.1", ("NC 5.1", "NC 5.2", "RTP 6.1")),
        ("F3 item 7, PM2 and X1", ("F3 item 7", "F3 PM2", "F3 X1")),
        ("F3 items 4, 7 and 8", ("F3 item 4", "F3 item 7", "F3 item 8")),
        ("F3 items 1 to 3", ("F3 item 1", "F3 item 2", "F3 item 3")),
        ("F3 PM1 to PM3", ("F3 PM1", "F3 PM2", "F3 PM3")),
        ("NC Appendix C, NC App. C", ("NC App. C", "NC App. C")),
        ("NC 3.3 and Appendix C", ("NC 3.3", "NC App. C")),
        ("NC Appendices A and B", ("NC App. A", "NC App. B")),
        ("P3 Diagrams A to C", ("P3 Diagram A", "P3 Diagram B", "P3 Diagram C")),
        ("NC 5.18 to 5.20", ("NC 5.18", "NC 5.20")),
        ("F3 item 7, 8 cards", ("F3 item 7",)),
        ("NC 5.7 asks 52 people 2.5 times", ("NC 5.7",)),
        ("NC has 5.7", ()),
        ("XTP 3.8 and x.NC 3.2", ()),
    ],
)
def test_citations_are_found_in_a_text(text: str, clauses_cited: tuple[str, ...]) -> None:
    assert cited(text) == clauses_cited


@pytest.mark.parametrize(
    ("name", "clauses_cited"),
    [
        ("test_nc_5_5_1_a_foreign_card_voids", ("NC 5.5.1",)),
        ("test_nc_5_5_4_5_5_5_and_5_9_a_wrong_count", ("NC 5.5.4", "NC 5.5.5", "NC 5.9")),
        ("test_nc_3_13_1_to_3_13_3_who_wins", ("NC 3.13.1", "NC 3.13.2", "NC 3.13.3")),
        ("test_nc_3_3_all_22100_hands_fall_into_the_classes", ("NC 3.3",)),
        ("test_tp_3_8_rtp_3_17_points", ("TP 3.8", "RTP 3.17")),
        ("test_rtp_1_1_4_2_1_is_any_king", ("RTP 1.1.4.2.1",)),
        ("test_nc_appendix_c_names_31_classes", ("NC App. C",)),
        ("test_p3_diagram_a_and_diagram_b", ("P3 Diagram A", "P3 Diagram B")),
        ("test_f3_item_7_and_pm2_the_deal", ("F3 item 7", "F3 PM2")),
        ("test_f3_items_4_7_and_8", ("F3 item 4", "F3 item 7", "F3 item 8")),
        ("test_f3_o2_half", ("F3 O2",)),
        ("test_nc_5_5_6_is_unknown", ("NC 5.5.6",)),
        ("test_the_3_cards_of_nc", ()),
    ],
)
def test_citations_are_found_in_the_name_of_a_test(name: str, clauses_cited: tuple[str, ...]) -> None:
    assert cited_in_name(name) == clauses_cited


SOURCE = '''"""Of NC 5.1."""
import os  # NC 5.2
TABLE = (  # NC 5.3
    "NC 5.4",
)
@mark("NC 5.5")
def test_nc_5_6_holds():
    f"{TABLE} NC 5.7"
class Thing:
    """NC 5.8"""
'''


def test_strings_and_comments_of_the_program_are_read_and_placed() -> None:
    places = [(found.clause, found.line) for found in in_source("a.py", SOURCE, of_tests=False)]
    assert places == [
        ("NC 5.1", 1),
        ("NC 5.2", 2),
        ("NC 5.3", 3),
        ("NC 5.4", 4),
        ("NC 5.5", 6),
        ("NC 5.7", 8),
        ("NC 5.8", 10),
    ]


def test_of_a_test_the_name_is_read_and_comments_are_not() -> None:
    found = {found.clause for found in in_source("a.py", SOURCE, of_tests=True)}
    assert found == {"NC 5.1", "NC 5.4", "NC 5.5", "NC 5.6", "NC 5.7", "NC 5.8"}


def test_an_unknown_clause_is_named_with_its_place() -> None:
    known, strange = Citation("NC 5.1", "a.py", 3), Citation("NC 5.99", "b.py", 7)
    assert coverage.unknown([known, strange]) == ["b.py:7: NC 5.99"]


def test_every_clause_that_is_cited_is_in_its_document() -> None:
    assert coverage.unknown([*coverage.in_program(), *coverage.in_tests()]) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_clause_has_a_provision_in_the_document_s_order_and_nothing_else_has(document: str) -> None:
    provided, counted = [provision.clause for provision in GAMES[document].provisions], list(clauses(document))
    for what, found in (
        ("without a provision", set(counted) - set(provided)),
        ("unknown", set(provided) - set(counted)),
    ):
        assert not found, f"{what}: {', '.join(sorted(found))}; a clause counts also where it has sub-clauses"
    assert provided == counted


@pytest.mark.parametrize("provision", PROVISIONS, ids=lambda provision: provision.clause)
def test_a_clause_is_either_carried_or_outside_with_a_reason(provision: Provision) -> None:
    assert bool(provision.reading) is not bool(provision.outside)


@pytest.mark.parametrize("provision", PROVISIONS, ids=lambda provision: provision.clause)
def test_a_reading_states_what_the_program_does(provision: Provision) -> None:
    assert not re.search(r"\bno (version|operation)\b|\b(does|do|is|are) not \w+( \w+)? yet\b", str(provision.reading))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_carried_clause_is_cited_by_code_and_tests(document: str) -> None:
    assert coverage.lacking(document) == []


def test_every_clause_has_its_row_on_the_page() -> None:
    _, *sections = re.split(r"^## (\w+): .*$", coverage.page(), flags=re.MULTILINE)
    rows = {
        f"{document} {number}": row
        for document, section in zip(sections[::2], sections[1::2], strict=True)
        for row in section.splitlines()
        if row.startswith("| ") and not row.startswith("| clauses |")
        for number in row[2:].partition(" | ")[0].split(", ")
    }
    assert rows.keys() == {provision.clause for provision in PROVISIONS}
    for provision in PROVISIONS:
        assert ("*outside*" in rows[provision.clause]) is bool(provision.outside)
