"""Every catalogue has each text that the program uses, with the same arguments, and no other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from controller.language import Speaker, catalogue, languages
from controller.language.catalogue import CatalogueError, has_other_slots, read, read_file, texts
from firmware_bridge.messages import SLOT, counted, message
from tools import catalogue as tool
from tools.catalogue import CatalogueText

OTHERS = [language for language in languages() if language != catalogue.ENGLISH]
SAID_OTHERWISE = {
    "另放": "旁置",
    "托盘": "出牌槽",
    "玩家": "客人或闲家",
    "牌副": "这副牌",
    "点得": "清点",
    "应有": "应为",
    "应剩": "应为",
    "翻为": "翻回",
    "手工": "人工",
    "机外": "人工",
    "限额": "限红",
    "裁决": "裁定",
    "顺序": "次序",
    "卡牌": "牌卡住",
    "维护人员": "技术员",
    "恢复服务": "恢复使用",
    "发牌": "派牌",
    "翻成": "翻回",
    "搁置": "旁置",
    "线缆": "电缆",
}
"""Words that the Chinese catalogue does not use, with the one that it has for the same thing."""
ENTRY = 'msgid "{name} looks."\nmsgstr "{name}看牌。"\n'
HEADER = 'msgid ""\nmsgstr ""\n"Language: xx\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'


def test_each_text_is_in_every_catalogue_and_none_is_unused() -> None:
    """`python -m tools.catalogue` adds and removes entries; a person translates the texts."""
    used = tool.texts()
    for language in OTHERS:
        path = catalogue.FOLDER / f"{language}{catalogue.SUFFIX}"
        after, lacking = tool.updated(path, used)
        assert [f"{tool.where(text, used)}: {path.name} lacks {text.id!r}" for text in lacking] == []
        kept = {(one.id, one.context) for one in after}
        unused = [one for one in read_file(path) if (one.id, one.context) not in kept]
        assert [f"{path.name}:{one.lineno}: unused: {one.id}" for one in unused] == []
        assert tool.written(after) == path.read_bytes(), "run `python -m tools.catalogue`"


def test_an_empty_file_becomes_the_catalogue_of_its_language(tmp_path: Path) -> None:
    """Polish has three plural forms, and pages a text for each of them."""
    path = tmp_path / "pl.po"
    path.touch()
    used: tool.Uses = {
        CatalogueText("1 card", "{count} cards"): {},
        CatalogueText("{n} try left", key="tries.one"): {},
    }
    used |= {CatalogueText("{n} tries left", key="tries.other"): {}}
    made, lacking = tool.updated(path, used)
    assert {text.key for text in lacking} == {"", "tries.one", "tries.few", "tries.many", "tries.other"}
    path.write_bytes(tool.written(made))
    assert read_file(path).num_plurals == 3
    assert tool.written(tool.updated(path, used)[0]) == path.read_bytes()


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_arguments_of_its_text(language: str) -> None:
    path = catalogue.FOLDER / f"{language}{catalogue.SUFFIX}"
    assert [f"{path}:{one.lineno}: {one.id}" for one in read_file(path) if has_other_slots(one)] == []


def test_the_chinese_catalogue_has_one_word_for_one_thing() -> None:
    said = "".join(str(entry.string) for entry in read_file(catalogue.FOLDER / "zh-Hans.po"))
    assert {word: better for word, better in SAID_OTHERWISE.items() if word in said} == {}


def texts_made() -> Iterator[tuple[str, ast.expr]]:
    """Yield each text of a message, with its place in the source."""
    for path in tool.files():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                place = f"{path.relative_to(tool.ROOT)}:{node.lineno}"
                if name == tool.COUNTED and len(node.args) == 3:
                    yield from ((place, text) for text in node.args[:2])
                elif name == "message" or (
                    name in tool.CALLS and isinstance(node.args[tool.CALLS[name]], ast.JoinedStr | ast.BinOp)
                ):
                    yield place, node.args[tool.CALLS[name]]


def is_written(text: ast.expr) -> bool:
    if isinstance(text, ast.IfExp):
        return is_written(text.body) and is_written(text.orelse)
    return isinstance(text, ast.Constant) and isinstance(text.value, str)


def test_no_message_is_made_of_a_text_that_is_put_together() -> None:
    """A catalogue can only contain texts that are literals in the source."""
    assert [f"{place}: {ast.unparse(text)[:60]}" for place, text in texts_made() if not is_written(text)] == []


FORMS = 'msgid "1 card"\nmsgid_plural "{count} cards"\nmsgstr[0] "A"\nmsgstr[1] "B{count}"\nmsgstr[2] "C{count}"\n'


@pytest.mark.parametrize(
    "header",
    [
        "",
        '"Plural-Forms: nplurals=1; plural=0;\\n"\n',
        '"Plural-Forms: nplurals=2; plural=(1%n);\\n"\n',
        '"Plural-Forms: nplurals=1; plural=exit(1);\\n"\n',
        '"Plural-Forms: nplurals=99999999999; plural=(n@1\\n"\n',
    ],
)
def test_a_number_chooses_the_plural_form_of_the_language_whatever_the_header_says(tmp_path: Path, header: str) -> None:
    """Polish has three forms. Babel would make as many forms as a header names."""
    (tmp_path / "pl.po").write_text(f"{HEADER.replace('xx', 'pl')}{header}\n{FORMS}", "utf-8")
    found = read("pl", tmp_path)
    said = [found.text_of(counted("1 card", "{count} cards", count)) for count in (1, 3, 5)]
    assert said == ["A", "B{count}", "C{count}"]


UNREADABLE = {
    "a line without a keyword": (f"{HEADER}\n{ENTRY}nonsense\n", 8),
    "a keyword without a number": (f'{HEADER}\nmsgid "a"\nmsgstr[x] "b"\n', 7),
    "an entry without a translation": (f'{HEADER}\nmsgid "a"\n', 6),
    "a language without letters": (HEADER.replace("xx", "!"), 5),  # where the header ends
    "more forms than the language has": (f"{HEADER}\n{FORMS}", 6),
    "another charset than UTF-8": (f"{HEADER}\n{ENTRY.replace('看', chr(0xDCBF))}", 7),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_catalogue_that_cannot_be_read_is_named_with_its_line(tmp_path: Path, what: str) -> None:
    text, line = UNREADABLE[what]
    (tmp_path / "xx.po").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CatalogueError, match=rf"^xx\.po, line {line}: "):
        read("xx", tmp_path)


def test_a_language_whose_catalogue_cannot_be_read_is_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xx.po").write_text("nonsense\n", "utf-8")
    (tmp_path / "en.json").write_text("{}", "utf-8")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    texts.cache_clear()
    with capture_logs() as logs:
        assert Speaker("xx")(message("{name} looks.", name="Ann")) == "Ann looks."
    assert [log["event"] for log in logs] == ["language.catalogue_unreadable", "language.text_missing"]
    texts.cache_clear()


def test_a_translation_with_other_arguments_is_not_used_and_is_logged_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "xx.po").write_text(f"{HEADER}\n{ENTRY.replace('{name}看', '{nmae}看')}", "utf-8")
    with capture_logs() as logs:
        found = read("xx", tmp_path)
    assert found.text_of(message("{name} looks.", name="Ann")) == "{name} looks."
    assert [(log["event"], log["line"], log["id"]) for log in logs] == [
        ("language.arguments_differ", 6, "{name} looks.")
    ]


@pytest.mark.parametrize(
    ("one", "other", "wrong"),
    [("1 Karte", "{count} Karten", False), ("eine", "Karten", True), ("1 Karte", "{cuont} Karten", True)],
)
def test_a_plural_form_for_one_may_leave_out_the_number(tmp_path: Path, one: str, other: str, wrong: bool) -> None:
    entry = f'msgid "1 card"\nmsgid_plural "{{count}} cards"\nmsgstr[0] "{one}"\nmsgstr[1] "{other}"\n'
    (tmp_path / "xx.po").write_text(f"{HEADER}\n{entry}", "utf-8")
    assert [has_other_slots(found) for found in read_file(tmp_path / "xx.po") if found.id] == [wrong]


def test_a_text_that_a_catalogue_lacks_is_english_and_is_logged_once() -> None:
    with capture_logs() as logs:
        for year in (2031, 2032):
            said = Speaker(OTHERS[0])(message("A text of {year} that no catalogue has.", year=year))
            assert said == f"A text of {year} that no catalogue has."
    assert logs == [
        {
            "event": "language.text_missing", "log_level": "warning", "language": OTHERS[0],
            "id": "A text of {year} that no catalogue has.", "arguments": ["year"],
        }
    ]  # fmt: skip


def test_a_text_is_not_also_the_text_for_a_number() -> None:
    """One entry would serve both, and a translation shows the number even for one."""
    used = tool.texts()
    counted_too = {text.id for text in used if text.many}
    assert [text.id for text in used if text.id in counted_too and not text.many and not text.key] == []


def test_a_message_has_an_argument_for_each_slot() -> None:
    """A slot without an argument would be shown as it is. The table and its games fill in some messages later."""
    later = (tool.ROOT / "controller/table", tool.ROOT / "controller/games")
    lacking = []
    for path in (one for one in tool.files() if not any(map(one.is_relative_to, later))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            given = {one.arg for one in node.keywords}
            if node.func.id not in ("message", tool.COUNTED) or None in given:
                continue
            given |= {"count"} if node.func.id == tool.COUNTED else set()
            for text in (str(one.value) for one in node.args if isinstance(one, ast.Constant)):
                if {name for name, _ in SLOT.findall(text)} - given:
                    lacking.append(f"{path.relative_to(tool.ROOT)}:{node.lineno}: {text}")
    assert lacking == []
