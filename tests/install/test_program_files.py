"""The program compares its own files with their manifest, and serves no real table where they differ."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from controller.api.client import ApiClient
from controller.manifest import MANIFEST, SIGNATURE, manifest_of
from controller.program_files import Program, ProgramError, examine, verify
from deb.sources import ROOT, sign
from tests.end_to_end.stage import Stage, short_folder
from tests.end_to_end.test_other_ways import make_real

pytestmark = pytest.mark.tool("openssl")
CHECK: Final = ROOT / "deb/scripts/check-files"
PROGRAM: Final = ("controller", "firmware_bridge", "shuffle_audit", "simulators")
SITE: Final = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def make_key(folder: Path, name: str) -> tuple[Path, Path]:
    """Return a private key and its public half."""
    private, public = folder / f"{name}.key", folder / f"{name}.pem"
    openssl("genpkey", "-algorithm", "ed25519", "-out", private)
    openssl("pkey", "-in", private, "-pubout", "-out", public)
    return private, public


class Installed:
    """An installed environment like the package's. Everything else that it needs comes from the tests' environment."""

    def __init__(self, folder: Path) -> None:
        self.prefix = folder / "opt"
        self.site = self.prefix / SITE
        for name in PROGRAM:
            shutil.copytree(ROOT / name, self.site / name, ignore=shutil.ignore_patterns("__pycache__"))
        (self.site / "needed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        (self.prefix / "bin").mkdir()
        (self.prefix / "bin/python3").symlink_to(Path(sys.executable).resolve())
        home = Path(sys.executable).resolve().parent
        (self.prefix / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
        self.private, self.public = make_key(folder, "maker")
        (self.prefix / MANIFEST).write_text(manifest_of(self.prefix), "utf-8")
        sign(self.prefix / MANIFEST, self.private)

    def look(self, key: Path | None = None) -> Program:
        return examine(key or self.public, self.prefix)

    def check(self, key: Path) -> subprocess.CompletedProcess[str]:
        """Do what the package's script does before this version becomes the one that starts."""
        return subprocess.run([CHECK, self.prefix, key], capture_output=True, text=True, check=False)


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    return Installed(tmp_path)


def change_a_byte(one: Installed) -> None:
    path = one.site / "controller/table/dealing.py"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)


def remove_a_file(one: Installed) -> None:
    (one.site / "controller/games/nc/game.py").unlink()


def add_a_file(one: Installed) -> None:
    (one.site / "sitecustomize.py").write_text("import os\n")


def empty_the_manifest(one: Installed) -> None:
    (one.prefix / MANIFEST).write_text("\n")
    sign(one.prefix / MANIFEST, one.private)


def write_the_manifest_again(one: Installed) -> None:
    """Write the manifest again, as someone could who has the files and not the key."""
    change_a_byte(one)
    (one.prefix / MANIFEST).write_text(manifest_of(one.prefix), "utf-8")


def take_the_signature_away(one: Installed) -> None:
    (one.prefix / SIGNATURE).unlink()


def test_a_signed_build_may_serve(installed: Installed) -> None:
    found = installed.look()
    verify(found, development=False)
    assert (found.how, found.signed, len(found.digest)) == ("package", True, 64)
    assert "signed" in str(found.sentence)
    assert {"python", "sqlite", "aiohttp", "msgspec"} <= dict(found.parts).keys()
    assert installed.check(installed.public).returncode == 0


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (change_a_byte, "dealing.py was changed"),
        (remove_a_file, "game.py is missing"),
        (add_a_file, "sitecustomize.py does not belong to it"),
        (empty_the_manifest, "its manifest lists nothing"),
        (write_the_manifest_again, "signed by someone other"),
        (take_the_signature_away, "is not signed"),
    ],
)
def test_changed_files_serve_no_real_table(
    installed: Installed, spoil: Callable[[Installed], None], sentence: str
) -> None:
    spoil(installed)
    with pytest.raises(ProgramError, match=sentence) as refused:
        verify(installed.look(), development=True)
    assert refused.value.hint


@pytest.mark.parametrize(
    "spoil", [change_a_byte, remove_a_file, empty_the_manifest, write_the_manifest_again, take_the_signature_away]
)
def test_such_a_package_does_not_become_the_one_that_starts(
    installed: Installed, spoil: Callable[[Installed], None]
) -> None:
    spoil(installed)
    done = installed.check(installed.public)
    assert done.returncode == 1
    assert "nothing was installed" in done.stderr


def test_the_manifest_of_another_maker_is_refused(installed: Installed, tmp_path: Path) -> None:
    _, other = make_key(tmp_path, "other")
    with pytest.raises(ProgramError, match="signed by someone other"):
        verify(installed.look(other), development=False)
    assert installed.check(other).returncode == 1


def test_without_a_key_the_maker_is_unknown(installed: Installed, tmp_path: Path) -> None:
    done = installed.check(tmp_path / "none.pem")
    assert (done.returncode, "was not checked" in done.stderr) == (0, True)


@pytest.mark.parametrize("written", ["", "no key", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"])
def test_an_unreadable_key_is_refused(installed: Installed, tmp_path: Path, written: str) -> None:
    key = tmp_path / "bad.pem"
    key.write_text(written)
    with pytest.raises(ProgramError, match="not a readable public Ed25519 key"):
        verify(installed.look(key), development=False)


def test_sources_serve_a_real_table_only_where_that_is_admitted_by_name(tmp_path: Path) -> None:
    found = examine(None, tmp_path)
    assert found.how == "sources"
    verify(found, development=True)
    with pytest.raises(ProgramError, match="runs from sources") as refused:
        verify(found, development=False)
    assert "[program]" in str(refused.value.hint)


@pytest.mark.parametrize("changed", [False, True], ids=["as built", "one byte changed"])
async def test_the_daemon_refuses_a_real_table_with_a_file_that_was_changed_by_one_byte(
    installed: Installed, changed: bool
) -> None:
    if changed:
        change_a_byte(installed)
    with short_folder() as folder:
        async with Stage(folder) as stage:
            stage.configure(url="tcp://127.0.0.1:9/")
            make_real(stage)
            by_key = f'public_key_file = "{installed.public}"'
            stage.configuration.write_text(stage.configuration.read_text().replace("development = true", by_key))
            doctor = await started(installed, folder, "doctor", "--no-journal", "--config", stage.configuration)
            told, _ = await doctor.communicate()
            assert (b"dealing.py was changed" in told) is changed, told
            daemon = await started(installed, folder, "run", "--config", stage.configuration)
            assert daemon.stderr is not None
            said = b""
            async for line in daemon.stderr:
                said += line
                if b"daemon.started" in line:
                    await names_its_program(stage, installed.look())
                    daemon.terminate()
            assert await daemon.wait() == (78 if changed else 0), said
            assert (b"dealing.py was changed" in said) is changed
            assert stage.journal.exists() is not changed


async def names_its_program(stage: Stage, expected: Program) -> None:
    """Check that `status` shows the running program, and that the journal has the whole digest of its manifest."""
    status = stage.start("status", "--socket", str(stage.socket))
    await status.ended()
    line = f"{expected.version} package {expected.digest[:12]} signed"
    assert any("program" in row and line in row for row in status.out), status.out
    async with ApiClient(stage.socket) as client:
        (found,) = (await stage.events_until(client, "configuration_recorded"))[-1:]
    record = found["configuration"]
    assert (record["program_digest"], record["program_signed"]) == (expected.digest, True)
    assert dict(record["program_parts"]) == dict(expected.parts)


async def started(one: Installed, folder: Path, *words: str | Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        one.prefix / "bin/python3", "-B", "-m", "controller", *words,
        cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
