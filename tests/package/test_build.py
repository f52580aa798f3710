"""The package itself: reproducible to the byte, and every file of it where Debian wants it."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import subprocess
import tarfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from controller.commands.main import main
from controller.commands.man import SHELLS, contexts, page_of
from deb import sources
from deb.documents import changelog
from tests.architecture.sources import ROOT
from tests.package.bare_root import PACKAGE
from tests.package.conftest import OLDER, Made

pytestmark = PACKAGE

PLACES = (
    "opt/cardshoe/packaged/",
    "usr/bin/cardshoe",
    "usr/lib/cardshoe/check-files",
    "usr/lib/cardshoe/old-versions",
    "usr/lib/systemd/system/cardshoe@.service",
    "usr/lib/sysusers.d/cardshoe.conf",
    "usr/lib/udev/rules.d/70-cardshoe.rules",
    "usr/share/bash-completion/completions/cardshoe",
    "usr/share/doc/cardshoe/",
    "usr/share/fish/vendor_completions.d/cardshoe.fish",
    "usr/share/man/man1/cardshoe",
    "usr/share/zsh/vendor-completions/_cardshoe",
)
PROGRAMS = {"opt/cardshoe/packaged/bin/cardshoe", "usr/lib/cardshoe/check-files", "usr/lib/cardshoe/old-versions"}
PACKAGES = "opt/cardshoe/packaged/lib/python3.11/site-packages"
SHIPPED = ("controller", "firmware_bridge", "shuffle_audit", "simulators")
UNCHECKED = 1
"""The flags of a compiled module (PEP 552): it goes by the module's digest, and that is not compared."""
TABLE_FILES = ("cardshoe@.service", "70-cardshoe.rules", "cardshoe.sysusers.conf", "no-network.conf")


def test_two_builds_are_identical(made: Made) -> None:
    """They are built in other folders, with another umask, another time zone and another hash seed."""
    assert made.package != made.again
    assert made.package.read_bytes() == made.again.read_bytes()


def test_another_version_is_another_package(made: Made) -> None:
    assert made.package.name.startswith(f"cardshoe_{sources.package_version()}_")
    assert made.older.name.startswith(f"cardshoe_{OLDER}_")
    assert made.older.read_bytes() != made.package.read_bytes()


def members(package: Path) -> Iterator[tarfile.TarInfo]:
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as packed:
        assert packed.stdout is not None
        with tarfile.open(fileobj=packed.stdout, mode="r|") as archive:
            yield from archive


def test_every_file_has_its_place_owner_mode_and_the_commits_time(made: Made) -> None:
    epoch = sources.epoch()
    for one in members(made.package):
        name = one.name.removeprefix("./")
        assert one.isdir() or name.startswith(PLACES), name
        assert (one.uid, one.gid, one.mtime) == (0, 0, epoch), name
        assert one.isfile() or one.isdir() or one.issym(), name
        wanted = 0o777 if one.issym() else 0o755 if one.isdir() or name in PROGRAMS else 0o644
        assert one.mode == wanted, name
    assert not [one.name for one in members(made.package) if one.name.startswith("./etc")], "that is the site's"


def test_no_trace_of_the_build_machine_is_left(tree: Path, made: Made) -> None:
    traces = [b"cardshoe-deb-", str(made.package.parent).encode(), str(ROOT).encode()]
    for path in files(tree):
        content = path.read_bytes()
        assert not [one for one in traces if one in content], path
    names = {path.name for path in files(tree)}
    assert not names & {"pip", "direct_url.json", "RECORD", "hatchling", "activate"}
    assert not [one for one in (tree / PACKAGES).iterdir() if re.match(r"pip|setuptools|hatchling", one.name)]


def files(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file() and not one.is_symlink()]


def test_the_environment_is_one_of_debians_python_under_the_folder_that_runs(tree: Path) -> None:
    home = tree / "opt/cardshoe/packaged"
    configuration = (home / "pyvenv.cfg").read_text()
    assert "home = /usr/bin\n" in configuration
    assert {str((home / "bin" / name).readlink()) for name in ("python", "python3")} == {"/usr/bin/python3.11"}
    first = (home / "bin/cardshoe").read_text().splitlines()[0]
    (name,) = re.findall(r"^name=(\S+)$", (tree / "DEBIAN/postinst").read_text(), re.MULTILINE)
    assert first == f"#!/opt/cardshoe/{name}/bin/python3 -I"
    assert re.fullmatch(rf"{re.escape(sources.package_version())}-[0-9a-f]{{12}}", name)
    assert (tree / "usr/bin/cardshoe").readlink() == Path("/opt/cardshoe/bin/cardshoe")


def test_every_module_is_compiled_and_no_time_of_a_file_is_in_it(tree: Path) -> None:
    modules = sorted((tree / PACKAGES).rglob("*.py"))
    assert len(modules) > 500
    for module in modules:
        compiled = module.parent / "__pycache__" / f"{module.stem}.cpython-311.pyc"
        assert compiled.read_bytes()[4:8] == UNCHECKED.to_bytes(4, "little"), module


def test_the_systems_files_are_those_of_the_sources(tree: Path) -> None:
    packaged = {path.name: path for path in files(tree) if PACKAGES not in str(path)}
    packaged["cardshoe.sysusers.conf"] = tree / "usr/lib/sysusers.d/cardshoe.conf"
    for name in TABLE_FILES:
        assert packaged[name].read_bytes() == (ROOT / "udev" / name).read_bytes(), name


def test_it_contains_the_program_without_build_or_test_tools(tree: Path) -> None:
    pinned = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    there = {one.name.split("-")[0].lower().replace("_", "-") for one in (tree / PACKAGES).glob("*.dist-info")}
    assert there <= pinned | {"cardshoe"}
    assert {"aiohttp", "cryptography", "msgspec", "libusb-package", "paho-mqtt"} <= there
    assert not there & {"hatchling", "pathspec", "pluggy", "trove-classifiers", "pip", "setuptools"}


@pytest.mark.tool("groff")
def test_every_command_has_its_page(tree: Path) -> None:
    pages = tree / "usr/share/man/man1"
    for context in contexts(main, None, "cardshoe"):
        path = pages / f"{context.command_path.replace(' ', '-')}.1.gz"
        assert gzip.decompress(path.read_bytes()).decode().startswith(page_of(context).partition(".SH")[0])
    page = gzip.decompress((pages / "cardshoe-run.1.gz").read_bytes())
    shown = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, check=True)
    assert shown.stderr == b""


def test_every_shell_has_its_completion(tree: Path) -> None:
    places = [tree / place for place in PLACES if "complet" in place]
    assert len(places) == len(SHELLS)
    assert all("_CARDSHOE_COMPLETE" in place.read_text() for place in places)


def test_the_sums_are_those_of_the_files(tree: Path) -> None:
    lines = (tree / "DEBIAN/md5sums").read_text().splitlines()
    assert {line[34:] for line in lines} == {
        str(one.relative_to(tree)) for one in files(tree) if "DEBIAN" not in one.parts
    }
    for line in lines:
        assert hashlib.md5((tree / line[34:]).read_bytes()).hexdigest() == line[:32]  # noqa: S324  # as dpkg does


def test_the_packages_metadata(tree: Path) -> None:
    said = dict(re.findall(r"^([A-Z][A-Za-z-]+): (.*)$", (tree / "DEBIAN/control").read_text(), re.MULTILINE))
    assert said["Package"] == "cardshoe"
    assert said["Version"] == sources.package_version()
    assert {"python3 (>= 3.11)", "python3 (<< 3.12)"} <= set(said["Depends"].split(", "))
    assert 20_000 < int(said["Installed-Size"]) < 120_000
    names = {one.name for one in (tree / "DEBIAN").iterdir()}
    assert names == {"control", "md5sums", "preinst", "postinst", "prerm", "postrm"}, "and no conffiles"
    rights = (tree / "usr/share/doc/cardshoe/copyright").read_text()
    for one in (tree / PACKAGES).iterdir():
        known = one.name.endswith(".dist-info") or f"site-packages/{one.name}" in rights or one.name == "__pycache__"
        assert known or one.name in SHIPPED, one.name


def test_the_changelog_is_in_debians_form(tree: Path) -> None:
    text = gzip.decompress((tree / "usr/share/doc/cardshoe/changelog.Debian.gz").read_bytes()).decode()
    assert text.startswith(f"cardshoe ({sources.package_version()}) bookworm; urgency=medium\n\n")
    allowed = re.compile(
        r"cardshoe \(\S+\) bookworm; urgency=medium|  .*|"
        r" -- .+ <\S+@\S+>  [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000|"
    )
    assert not [line for line in text.splitlines() if not allowed.fullmatch(line)]
    two = changelog("# Changelog\n\n## 2.0 (unreleased)\n\n- a\n  b\n\n## 1.0\n\nText.\n- c\n", "2.0~1", 0)
    assert two.startswith("cardshoe (2.0~1) bookworm; urgency=medium\n\n  * a b\n\n -- ")
    assert "\ncardshoe (1.0) bookworm; urgency=medium\n\n  Text.\n  * c\n\n -- " in two
    assert max(len(line) for line in text.splitlines() if not line.startswith(" -- ")) <= 80


def test_sources_that_were_unpacked_are_those_that_git_knows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sources.export(tmp_path / "unpacked")
    monkeypatch.setattr(sources, "ROOT", tmp_path / "unpacked")
    (tmp_path / "unpacked/.venv").mkdir()
    (tmp_path / "unpacked/.venv/mine").touch()
    for path in files(tmp_path / "unpacked"):
        os.utime(path, (86_400, 86_400))
    sources.export(tmp_path / "again")
    names = [{one.relative_to(tmp_path / name) for one in files(tmp_path / name)} for name in ("unpacked", "again")]
    assert {one for one in names[0] if ".ci" not in one.parts and ".venv" not in one.parts} == names[1] > set()
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert sources.epoch() == 86_400
    assert sources.package_version() == f"{sources.version()}+19700102000000"


def test_a_package_of_later_sources_is_a_later_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """apt does not install a file whose version is installed."""
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\n')
    made = [sources.package_version()]
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "pyproject.toml"], check=True)
    for day in ("2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z"):
        dated = os.environ | {"GIT_COMMITTER_DATE": day}
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, env=dated)
        made.append(sources.package_version())
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\n\n')
    os.utime(tmp_path / "pyproject.toml", (1_900_000_000, 1_900_000_000))
    made.append(sources.package_version())
    assert [one.split(".")[2] for one in made[1:3]] == ["0+20300101000000", "0+20300102000000"]
    for earlier, later in pairwise(made):
        subprocess.run(["dpkg", "--compare-versions", earlier, "lt", later], check=True)


def test_the_pages_are_in_the_package_and_their_links_lead_to_files(tree: Path) -> None:
    folder = tree / "usr/share/doc/cardshoe"
    for name in ("docs/install.md", "docs/faults.md", "udev/README.md", "deployment/prometheus/alerts.yml"):
        assert (folder / name).is_file(), name
    for page in folder.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists() or link.endswith(".png"), (page, link)


def test_a_machine_without_debians_python_shows_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from deb.__main__ import main as build

    monkeypatch.setattr(sources, "NEEDED", {"/nonexistent/python3.11": "python3 python3-venv"})
    monkeypatch.setattr("sys.argv", ["deb", os.devnull])
    assert build() == 1
    assert capsys.readouterr().err.endswith("apt-get install python3 python3-venv\n")
