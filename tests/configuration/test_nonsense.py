"""Invalid configurations: every mistake is reported together, with its place and the allowed values."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.unix_socket import LONGEST_PATH
from controller.daemon.configuration import Configuration, ConfigurationError, read_configuration

HASH = "scrypt$16384$8$1$" + "00" * 16 + "$" + "00" * 32
GOOD = f"""
[table]
name = "T-1"
game = "NC"
unit = "sets"
simulated = true
[device]
url = "serial:///dev/cardshoe/X"
key_file = "device.keys"
[journal]
folder = "journal"
key_file = "journal.key"
[api]
socket = "api.sock"
[[people]]
id = "dana"
name = "Dana"
role = "dealer"
uids = [1]
[[people]]
id = "mo"
name = "Mo"
role = "shift_manager"
pin_hash = "{HASH}"
"""


def read(folder: Path, *edits: tuple[str, str]) -> Configuration:
    text = GOOD
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "table.toml"
    path.write_text(text)
    return read_configuration(path)


def mistakes(folder: Path, *edits: tuple[str, str]) -> list[str]:
    """Return each reported mistake."""
    with pytest.raises(ConfigurationError) as raised:
        read(folder, *edits)
    first, *others = str(raised.value).splitlines()
    assert raised.value.hint
    return [line.removeprefix("  - ") for line in others] or [first.removeprefix(f"{folder / 'table.toml'}: ")]


def test_all_mistakes_are_reported_together(tmp_path: Path) -> None:
    told = mistakes(
        tmp_path,
        ('unit = "sets"', 'unit = "piles"\nboxes = -1\nburn = 7\nburns = 1'),
        ('url = "serial:///dev/cardshoe/X"', "url = 7"),
        ('folder = "journal"\n', ""),
        ('role = "dealer"', 'role = "emperor"'),
        ('role = "shift_manager"', 'role = "empress"\ncolour = "red"'),
    )
    assert told == [
        "burns is not a key of [table]; nearest: burn; known: name, game, unit, boxes, simulated, "
        "count_stub_by_hand, rounding, least_ms_between_draws, burn, hands_by_device, second_counter_signs.",
        "[table] unit must be one of sets, singles, not 'piles'.",
        "[table] boxes must be a whole number from 0 to 99, not -1.",
        "[table] burn must be a whole number from 0 to 5, not 7.",
        "[device] url must be a text, not 7. Put it between quotes.",
        "The key folder is missing in [journal].",
        "[[people]] dana role must be one of dealer, pit_supervisor, pit_manager, shift_manager, not 'emperor'.",
        "colour is not a key of [[people]] mo; known: id, name, role, pin_hash, uids.",
        "[[people]] mo role must be one of dealer, pit_supervisor, pit_manager, shift_manager, not 'empress'.",
    ]


def test_contradictions_between_sections_are_reported_with_the_rest(tmp_path: Path) -> None:
    told = mistakes(
        tmp_path,
        ("simulated = true", "simulated = false"),
        ("serial:///dev/cardshoe/X", "pigeon:///x"),
        (f'pin_hash = "{HASH}"', ""),
        ("[[people]]", '[readings]\nwrong_count = { option = "both" }\n[limits.moon]\nminimum = 1\n[[people]]'),
    )
    for place, words in (
        ("[device] url", "pigeon"),
        ("[readings]", "wrong_count is general or specific"),
        ("[readings]", "established_by must be chosen"),
        ("[limits] moon", "'moon'"),
        ("[[people]] mo", "has no pin_hash"),
    ):
        assert any(one.startswith(place) and words in one for one in told), (place, told)
    assert len(told) == 5, told


def test_a_section_that_cannot_be_read_hides_no_mistake_of_another(tmp_path: Path) -> None:
    row = '[[house]]\nrule = "H 1"\nauthority = "x"\ndisposition = "continue"\nbecause = "y"\nkind = "nothing"\n'
    reading = "[readings]\nwrong_count = 7\n"
    for section, other in ((row, '[readings]\ncured = { option = "both" }\n'), (reading, "")):
        told = mistakes(tmp_path, ("[[people]]", f"{section}{other}[limits.moon]\nminimum = 1\n[[people]]"))
        assert any(one.startswith("[limits] moon") for one in told), told
        assert any("cured" in one for one in told) is bool(other), told
        assert len(told) == (3 if other else 2), told


PEOPLE = GOOD[GOOD.index("[[people]]") :]
DEVICE = '[device]\nurl = "serial:///dev/cardshoe/X"\nkey_file = "device.keys"\n'


@pytest.mark.parametrize(
    ("edits", "told_too"),
    [
        ([(DEVICE, ""), ("[table]", "device = 3\n[table]"), ('role = "dealer"', 'role = "king"')],
         ["[device] must be a section with keys, not 3.", "[[people]] dana role must be"]),
        ([(PEOPLE, '[people]\nid = "dana"\nname = "Dana"\nrole = "king"\ncolour = 1\n')],
         ["[people] must be written as [[people]], once for each of them.", "colour is not a key of [[people]] dana",
          "[[people]] dana role must be"]),
        ([("[table]", "[[table]]"), ('unit = "sets"', 'unit = "piles"'), ("serial:///dev/cardshoe/X", "pigeon:///x")],
         ["[table] must be a section with keys, not a list.", "[table] unit must be", "[device] url: "]),
        ([('game = "NC"', "game = 4"), ("serial:///dev/cardshoe/X", "pigeon:///x"), (f'pin_hash = "{HASH}"', "")],
         ["[table] game must be", "[device] url: ", "[[people]] mo has no pin_hash"]),
        ([('game = "NC"\n', ""), ("serial:///dev/cardshoe/X", "pigeon:///x")],
         ["The key game is missing in [table].", "[device] url: "]),
        ([("serial:///dev/cardshoe/X", "pigeon:///x"), ('"device.keys"', '"device.keys"\nserial = 7')],
         ["[device] serial must be", "[device] url: "]),
        ([("serial:///dev/cardshoe/X", "pigeon:///x"), ('"device.keys"', "7")],
         ["[device] key_file must be", "[device] url: "]),
        ([('"journal.key"', '7\ntime_zone = "Moon/Base"')], ["[journal] key_file must be", "[journal] time_zone: "]),
        ([('"api.sock"', '"api.sock"\n[api.http]\nport = "x"\nhosts = ["localhost"]')],
         ["[api.http] port must be", "[api.http] hosts: localhost"]),
        ([('"api.sock"', f'"{"s" * LONGEST_PATH}"\nhttp = 3')], ["[api.http] must be", "[api] socket: "]),
        ([("[[people]]", "[limits]\nmain = 5\nmoon = { minimum = 1 }\n[[people]]")],
         ["[limits] main must be", "[limits] moon: "]),
        ([("[[people]]", "[readings]\nwrong_count = 7\ncured = { option = 'both' }\n[[people]]")],
         ["[readings] wrong_count must be", "[readings]: cured is"]),
        ([("simulated = true", "simulated = false"), ("[journal]", '[capture]\npath = "c"\nfiles = 0\n[journal]'),
          ("[[people]]", "[readings]\nestablished_by = 7\n[[people]]")],
         ["[readings] established_by must be", "[capture] files must be", "The key key_file is missing in [capture]"]),
    ],
    ids=str,
)  # fmt: skip
def test_a_section_with_mistakes_hides_no_other_and_invents_none(
    tmp_path: Path, edits: list[tuple[str, str]], told_too: list[str]
) -> None:
    told = mistakes(tmp_path, *edits)
    for words in told_too:
        assert any(one.startswith(words) for one in told), (words, told)
    assert len(told) == len(told_too), told


def test_keys_outside_of_sections_are_reported_one_by_one(tmp_path: Path) -> None:
    added = "".join(f"[{name}]\nwrnog = 1\n" for name in ("capture", "limits.main", "api.http", "readings.cured"))
    told = mistakes(
        tmp_path,
        ("[table]", "wrnog = 1\n[table]\nwrnog = 1"),
        *((f"[{name}]", f"[{name}]\nwrnog = 1") for name in ("device", "journal", "api", "[people]")),
        (f'pin_hash = "{HASH}"\n', f'pin_hash = "{HASH}"\n[[readers]]\nwrnog = 1\n[[house]]\nwrnog = 1\n{added}'),
    )
    assert len([one for one in told if one.startswith("wrnog is not a key")]) == 12, told


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("uids = [1]", "uids = [-1]", "-1 is not a valid uid"),
        ("uids = [1]", f"uids = [{2**40}]", f"{2**40} is not a valid uid"),
        ("uids = [1]", f"uids = [{2**32 - 1}]", "is not a valid uid"),
        ("uids = [1]", 'uids = ["root"]', "[[people]] dana uids must be a whole number, not 'root'"),
        ("uids = [1]", "uids = 1", "[[people]] dana uids must be a list, not 1"),
        (
            "simulated = true",
            f"simulated = true\nleast_ms_between_draws = {2**80}",
            "from 0 to 60000, not 120892581961",
        ),
        ("simulated = true", f"simulated = true\nboxes = {2**80}", "from 0 to 99"),
        ("simulated = true", "simulated = 1", "[table] simulated must be true or false, not 1"),
        ("[journal]", f"[limits.main]\nmaximum = {2**80}\n[journal]", "[limits] main maximum must be a whole number"),
        ("[journal]", "[limits.main]\nminimum = -1\n[journal]", "[limits] main minimum must be a whole number"),
        ("[journal]", "[limits]\nmain = 5\n[journal]", "[limits] main must be a section with keys, not 5"),
        ("[journal]", f'[capture]\npath = "c"\nmegabytes = {2**80}\n[journal]', "[capture] megabytes must be"),
        ("[journal]", f"serial = 5{'0' * 5000}\n[journal]", "It is not valid TOML"),
        ("[journal]", f"x = {'[' * 100_000}\n[journal]", "It is not valid TOML"),
        ('name = "Dana"', r'name = "Da\u001b[2Jna"', "[[people]] dana name must be a text"),
        ('name = "Dana"', r'name = "Da\u202ena"', r"'Da\u202ena'"),
        ('name = "Dana"', f'name = "{"D" * 60_000}"', "at most 500 printable characters"),
        ('id = "dana"', r'id = "da\u0000na"', "a text of at most"),
        ('"journal"', r'"jour\u0000nal"', "[journal] folder must be the path of a file"),
        ('"journal"', '""', "[journal] folder must be the path of a file"),
        ('"api.sock"', '"api.sock"\n[api.http]', "The key port is missing in [api.http]"),
        ('"api.sock"', '"api.sock"\nhttp = 8080', "[api.http] must be a section with keys, not 8080"),
        (
            '"api.sock"',
            '"api.sock"\n[api.http]\nport = 65536',
            "[api.http] port must be a whole number from 0 to 65535",
        ),
        (
            '"api.sock"',
            '"api.sock"\n[api.http]\nport = 80\nhost = "x"',
            "host is not a key of [api.http]; nearest: hosts; known: port, hosts, shift_hours",
        ),
        ('"api.sock"', '"api.sock"\n[api.http]\nport = 80\nshift_hours = 0', "a whole number from 1 to 24, not 0"),
        ('"api.sock"', '"api.sock"\n[api.http]\nport = 80\nhosts = ["https://x"]', "without scheme and port"),
        ('"api.sock"', '"api.sock"\n[api.http]\nport = 80\nhosts = ["x:8443"]', "without scheme and port"),
        ('"api.sock"', '"api.sock"\n[api.http]\nport = 80\nhosts = ["Table7"]', "in small letters"),
        (
            '"api.sock"',
            '"api.sock"\n[api.http]\nport = 80\nhosts = ["localhost"]',
            "is this machine itself, which is always allowed.",
        ),
    ],
)
def test_an_impossible_value_is_refused_with_its_place(tmp_path: Path, old: str, new: str, words: str) -> None:
    (told,) = mistakes(tmp_path, (old, new))
    assert words in told
    assert told.isprintable(), "a mistake is shown in terminals"
    assert len(told) < 400


def test_a_socket_path_that_the_kernel_does_not_take_is_named_with_its_length(tmp_path: Path) -> None:
    room = LONGEST_PATH - len(str(tmp_path)) - 1
    assert len(str(read(tmp_path, ("api.sock", "s" * room)).api.socket)) == LONGEST_PATH
    (told,) = mistakes(tmp_path, ("api.sock", "s" * (room + 1)))
    assert "is 108 bytes long, and the system allows at most 107" in told
    letters = room // 2 + 1  # two bytes each
    assert f"allows at most {LONGEST_PATH}" in mistakes(tmp_path, ("api.sock", "é" * letters))[0]


def test_people_have_to_find_a_real_table(tmp_path: Path) -> None:
    http = ('"api.sock"', '"api.sock"\n[api.http]\nport = 0')
    told = mistakes(tmp_path, ("simulated = true", "simulated = false"), http)
    assert "[api.http] port: 0 means any free port, and people have to find the table. Name one, such as 8080." in told


def test_a_table_has_screens_if_configured(tmp_path: Path) -> None:
    assert read(tmp_path).api.http is None
    hosts = 'hosts = ["table7.example", "10.0.0.7"]'
    http = read(tmp_path, ('"api.sock"', f'"api.sock"\n[api.http]\nport = 8080\n{hosts}')).api.http
    assert http is not None
    assert (http.port, http.hosts, http.shift_hours) == (8080, ("table7.example", "10.0.0.7"), 10)


def test_a_file_that_never_ends_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="larger than a megabyte"):
        read_configuration(Path("/dev/zero"))


def test_a_mistake_in_one_section_hides_none_in_another(tmp_path: Path) -> None:
    told = mistakes(
        tmp_path,
        ('name = "T-1"', 'name = "T 1"'),
        ('game = "NC"', 'game = "XX"'),
        ("simulated = true", ""),
        ("serial:///dev/cardshoe/X", "sim:///shuffler"),
        ('role = "dealer"', 'role = "king"'),
        (f'pin_hash = "{HASH}"', f'pin_hash = "{HASH}"\nuids = [-1]'),
    )
    places = (
        "[table] name",
        "[[people]] dana role",
        "[table] game",
        "[device] url: a sim device",
        "-1 is not a valid uid",
    )
    assert [one for one in told if not one.startswith(places)] == []
    assert len(told) == len(places)


def test_a_number_that_python_does_not_write_is_one_mistake(tmp_path: Path) -> None:
    (told,) = mistakes(tmp_path, ("simulated = true", f"simulated = true\nboxes = 0x{'f' * 5000}"))
    assert told == "[table] boxes must be a whole number from 0 to 99, not a very long number."


@pytest.mark.parametrize(
    ("old", "new", "sentence", "hint"),
    [
        ('name = "T-1"', "name = T-1", "It is not valid TOML", "between two quotes"),
        ('name = "T-1"', 'name = "T-1', "It is not valid TOML", "between two quotes"),
        ('name = "T-1"', "name = \u201cT-1\u201d", "It is not valid TOML", "Use plain quotes"),
        ('name = "T-1"', 'name: "T-1"', "It is not valid TOML", "with an equals sign"),
        ('name = "T-1"', "name = # T-1", "It is not valid TOML", "Write a value after the equals sign"),
        ('name = "T-1"', 'name = "T\\q"', "It is not valid TOML", "for each backslash"),
        ('name = "T-1"', "name =", "It is not valid TOML", "Write a value"),
        ('name = "T-1"', 'name = "T-1"\nname = "T-2"', "It is not valid TOML", "remove one of the two lines"),
        ("simulated = true", "simulated = True", "It is not valid TOML", "Write true or false"),
        ("simulated = true", "simulated = yes", "It is not valid TOML", "Write true or false"),
        ("simulated = true", "boxes = 07", "It is not valid TOML", "leading zeros"),
        ('name = "T-1"', 'name = "T-1";', "It is not valid TOML", "Leave the semicolon out"),
        ('"journal"', '"journal"\nday_begins = 06:30', "It is not valid TOML", "the time of day between two quotes"),
        (f'"{HASH}"', "03430060", "It is not valid TOML", "never the PIN"),
        (f'"{HASH}"', "43430060", "must be a text", "`cardshoe pin` creates one"),
        ("[device]", "[device]\n[table]", "Cannot declare [table] twice", "one heading"),
        ("[[people]]", "[[people]", "It is not valid TOML", "as many brackets"),
        ("uids = [1]", "uids = [1 2]", "It is not valid TOML", "commas between"),
        ("name =", "name\u00a0=", "It is not valid TOML", "U+00A0 (no-break space)"),
        ("name =", "na\u200bme =", "It is not valid TOML", "U+200B (zero width space)"),
        ("simulated = true", "simulated = true\0", "It is not valid TOML", "U+0000 (control character)"),
        ("[table]\n", "[table]\r", "It is not valid TOML", "U+000D"),
        ('name = "T-1"', 'name = "\u0422-1"', "[table] name must be", "U+0422 (cyrillic capital letter te)"),
        ("uids = [1]", "uids = 1", "must be a list, not 1", "numbers in brackets"),
        ("uids = [1]", "uids = root", "It is not valid TOML", "`id -u NAME`"),
        ("uids = [1]", 'uids = "root"', "must be a list, not 'root'", "`id -u NAME`"),
        ('"journal"', '"$HOME/journal"', "a path that is written out, without ~ or $", "config check"),
        ("simulated = true", 'simulated = "true"', "must be true or false, not 'true'", "Omit the quotes."),
        ("simulated = true", 'boxes = "7"', "from 0 to 99, not '7'", "Omit the quotes."),
        ("uids = [1]", 'uids = ["1"]', "must be a whole number, not '1'", "Omit the quotes."),
        ("uids = [1]", 'uids = ["root"]', "must be a whole number, not 'root'", "`id -u NAME`"),
        ('name = "T-1"', "name = 7", "not 7", "Put it between quotes."),
        ('"journal"', '"journal"\nday_begins = 06:30:00', "as in 06:00, not 06:30:00", "Put it between quotes."),
        ('"journal"', '"journal"\nday_begins = 2026-01-01', "as in 06:00, not 2026-01-01", "config check"),
        ('unit = "sets"', 'unit = "Sets"', "one of sets, singles, not 'Sets'", 'Write "sets".'),
        ('role = "dealer"', 'role = "manager"', "not 'manager'", 'Write "pit_manager".'),
        (f'"{HASH}"', f'"{HASH[:60]}"', "the pin_hash is not whole", "config check"),
    ],
)
def test_a_mistake_has_its_own_next_step(tmp_path: Path, old: str, new: str, sentence: str, hint: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read(tmp_path, (old, new))
    assert sentence in str(raised.value)
    assert hint in str(raised.value.hint)


@pytest.mark.parametrize(
    "written", ["48291523", "4829.1523", "48:29:15", "[48291523]", "'48291523'", "true", "x48291523"]
)
def test_a_pin_in_place_of_its_hash_is_not_shown(tmp_path: Path, written: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read(tmp_path, (f'"{HASH}"', written))
    said = str(raised.value.with_hint)
    assert "4829" not in said
    assert "48:29" not in said


def test_a_key_in_place_of_its_file_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read(tmp_path, ('"journal.key"', f'"{"c9" * 32}"'))
    assert "not the key itself" in str(raised.value)
    assert "c9c9" not in str(raised.value.with_hint)


def test_a_games_id_is_accepted_in_any_case(tmp_path: Path) -> None:
    assert read(tmp_path, ('"NC"', '"nc"')).table.game == "NC"
