"""Commands that show a table use the language of the locale, or the language given with an option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from controller.api.in_language import in_language
from controller.api.narration import line_of
from controller.api.view import LinkView, view_of
from controller.commands.language import of_locale
from controller.commands.main import main
from controller.commands.operate.help_text import OWN_WORDS, write_about
from controller.commands.screen import render
from controller.commands.table_display import how_it_stands
from controller.commands.text import Page
from controller.games import GAMES
from controller.games.specification import Kind
from controller.language import Speaker, catalogue
from controller.people_words import WORDS
from controller.people_words.reading import read_line
from controller.people_words.tokens import UnreadableLineError
from controller.table import events
from controller.table.phases import Phase
from firmware_bridge.discovery import Lists
from simulators.demo.account import RunAccount
from simulators.demo.command import introduction
from tests.table.harness import TableHarness


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh-Hans"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "tlh_KX.UTF-8"}, "en"),
    ],
)
def test_the_locale_chooses_the_language(environment: dict[str, str], language: str) -> None:
    assert of_locale(environment) == language


def drawn(table: TableHarness) -> str:
    view = in_language(view_of(table.state, LinkView("ready")), Speaker("zh-Hans"))
    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        console.print(render(view, [], language="zh-Hans"))
    return captured.get()


def english_in(page: str) -> set[str]:
    """Return the English words, without the ids of people, devices and tables."""
    return set(re.findall(r"[A-Za-z]{3,}", page)) - {"dealer", "pit", "supervisor"}


def test_the_live_screen_has_no_english_words() -> None:
    table = TableHarness(hands={"B1": "KS KD KC"}).start().to_dealing().deal().expose_all()
    page = drawn(table)
    assert not english_in(page), page
    assert all(word in page for word in ("下一步", "位置", "1号位", "庄家", "赢", "可更正", "免佣三公"))
    table.report(Kind.FOREIGN_CARD)
    assert not english_in(drawn(table)), drawn(table)
    table.confirm()
    page = drawn(table)
    assert not english_in(page), page
    assert "已作废" in page


def test_the_ids_of_people_stay_also_where_they_are_the_name_of_a_rank() -> None:
    people = [{"id": "dealer", "role": "dealer"}, {"id": "sam", "role": "pit_supervisor"}]
    configuration = {"program": "1", "device": {"url": "sim://x"}, "people": people}
    line = line_of({"event": "configuration_recorded", "configuration": configuration})
    assert line is not None
    assert Speaker("zh-Hans")(line).endswith("人员：dealer（荷官）、sam（区域主管）")


def test_every_event_has_a_line_or_is_only_for_machines() -> None:
    """`line = None` says that only machines read the event."""
    assert [kind.__name__ for kind in events.ALL if not hasattr(kind, "line")] == []


def test_the_demonstration_is_introduced_and_summed_up_in_that_language() -> None:
    said = introduction(GAMES["NC"], 3000, "shuffler", fast=True, language="zh-Hans")
    assert said.splitlines()[:2] == ["免佣三公：3000局，使用模拟洗牌机。", "需时约15分钟；按 Ctrl-C 结束。"]
    assert not re.search("[a-z]{3,}", RunAccount([]).summary(Speaker("zh-Hans")))


def test_phases_have_the_words_of_the_console() -> None:
    chinese = Speaker("zh-Hans")
    assert not any(chinese.keyed(f"phase.{phase}").isascii() for phase in Phase)
    view = view_of(TableHarness().start().to_betting().state, LinkView())
    assert chinese.keyed(f"phase.{view.phase}") in how_it_stands(view, "zh-Hans")
    assert "Betting" in how_it_stands(view)


@pytest.mark.parametrize(
    ("options", "environment", "said"),
    [
        ([], {"LANG": "C.UTF-8"}, "It cannot be read: No such file or directory."),
        ([], {"LANG": "zh_CN.UTF-8"}, "无法读取：No such file or directory。"),
        (["--language", "zh-Hans"], {"LANG": "C.UTF-8"}, "无法读取：No such file or directory。"),
        (["--language", "en"], {"LANG": "zh_CN.UTF-8"}, "It cannot be read: No such file or directory."),
    ],
)
def test_a_problem_has_the_language_of_the_option_or_the_locale(
    options: list[str], environment: dict[str, str], said: str
) -> None:
    """The words of the operating system stay as it says them."""
    environment |= {"LC_ALL": "", "LC_MESSAGES": ""}
    refused = CliRunner().invoke(main, [*options, "config", "check", "/nowhere.toml"], env=environment)
    assert refused.exit_code == 78
    assert said in refused.stderr.splitlines()[0]
    assert bool(english_in(refused.stderr.splitlines()[1])) is said.isascii()


def test_what_a_command_prints_has_the_language_of_the_option() -> None:
    shown = CliRunner().invoke(main, ["--language", "zh-Hans", "devices"], obj=Lists(tuple, tuple, tuple))
    assert shown.exit_code == 0
    assert "已连接的设备" in shown.stdout
    assert not english_in(shown.stdout.replace("--url", ""))


def test_the_words_of_the_prompt_are_explained_in_that_language() -> None:
    """The words themselves and the names in their forms are the same in every language."""
    for word, one in (*WORDS.items(), *((own, None) for own in OWN_WORDS)):
        paper = Page(None, Speaker("zh-Hans"))
        write_about(paper, word)
        explained = str(paper).splitlines()[0].removeprefix(one.form if one else word)
        assert not english_in(re.sub("`[a-z]+`|deal all|open all|settle|conclude|Ctrl-D", "", explained)), explained


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("setle", "“setle”不是步骤；最接近：settle；`help` 列出全部"),
        ("deal some", "要派的组数或张数须为数字，不能是“some”；请写 `deal NUMBER`或`deal all`"),
        (
            "report exposed_card B12",
            "末尾有多余文字：“B12”；请写 `report KIND [PLACE] [card NUMBER] [counted NUMBER] [earlier]`",
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_refused_in_that_language(line: str, said: str) -> None:
    with pytest.raises(UnreadableLineError) as refused:
        read_line(line.split(), WORDS, people=True)
    assert Speaker("zh-Hans")(refused.value.message) == said


def test_a_command_without_a_readable_catalogue_prints_english_and_logs_to_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["evaluate", "NC", "--player", "10D KH 6D", "--dealer", "7D 9C 10S"]
    english = CliRunner().invoke(main, ["--language", "en", *asked]).stdout
    (tmp_path / "zh-Hans.po").write_text("nonsense\n", "utf-8")
    (tmp_path / "en.json").write_bytes((catalogue.FOLDER / "en.json").read_bytes())
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    catalogue.texts.cache_clear()
    printed = CliRunner().invoke(main, ["--language", "zh-Hans", *asked])
    catalogue.texts.cache_clear()
    assert (printed.exit_code, printed.stdout) == (0, english)
    assert "zh-Hans.po, line 1" in printed.stderr
