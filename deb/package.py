"""Puts all files of the Debian package in their places, and builds the package."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from deb import sources
from deb.documents import changelog, control, copyright_of
from deb.environment import HOME, Environment, make
from deb.sources import ROOT, build_environment, run

SCRIPTS: Final = Path(__file__).parent / "scripts"
MAINTAINER_SCRIPTS: Final = ("preinst", "postinst", "prerm", "postrm")
HELPERS: Final = ("check-files", "old-versions")
SYSTEM_FILES: Final = {
    "cardshoe@.service": "usr/lib/systemd/system/cardshoe@.service",
    "70-cardshoe.rules": "usr/lib/udev/rules.d/70-cardshoe.rules",
    "cardshoe.sysusers.conf": "usr/lib/sysusers.d/cardshoe.conf",
    "no-network.conf": "usr/share/doc/cardshoe/examples/no-network.conf",
}
COMPLETIONS: Final = {
    "bash": "usr/share/bash-completion/completions/cardshoe",
    "zsh": "usr/share/zsh/vendor-completions/_cardshoe",
    "fish": "usr/share/fish/vendor_completions.d/cardshoe.fish",
}
DOCUMENTS: Final = "usr/share/doc/cardshoe"
PAGES: Final = (
    "*.md", "*/README.md", "*/*/README.md", "docs/*.md", "docs/*.jsonl", "docs/*.lua", "docs/*.py", "udev/*.*",
    "udev/apart/*", "deployment/*/*",
)  # fmt: skip
"""The pages, and the files that they name."""
RUNNABLE: Final = ("bin", "scripts", "DEBIAN")
"""Folders whose files are executable."""


def build(folder: Path, version: str | None = None, key: Path | None = None) -> Path:
    """Build the package in `folder`. `version` defaults to the program's with date and commit. `key` is the private
    Ed25519 key that signs the manifest in the package, and the package in a file next to it. Raise `MissingError`.
    """
    sources.check(signs=key is not None)
    number = version or sources.package_version()
    epoch = sources.epoch()
    architecture = run("dpkg", "--print-architecture").strip()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cardshoe-deb-") as name:
        work, tree = Path(name), Path(name) / "tree"
        environment = make(work, number, key)
        tree.mkdir()
        _place_program(tree, environment)
        _place_documents(tree, environment, number, epoch)
        _place_control(tree, environment, number, architecture)
        _settle(tree, epoch)
        package = folder / f"cardshoe_{number}_{architecture}.deb"
        how = ("--root-owner-group", "--uniform-compression", "-Zxz", "-z1", "--threads-max=1")
        run("dpkg-deb", *how, "--build", tree, package, env=build_environment(SOURCE_DATE_EPOCH=str(epoch)))
    if key is not None:
        sources.sign(package, key)
    return package


def _place_program(tree: Path, environment: Environment) -> None:
    shutil.copytree(environment.folder, tree / f"{HOME}/packaged".lstrip("/"), symlinks=True)
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/cardshoe").symlink_to(f"{HOME}/bin/cardshoe")
    for name in HELPERS:
        _write(tree / "usr/lib/cardshoe" / name, (SCRIPTS / name).read_text("utf-8"))
        (tree / "usr/lib/cardshoe" / name).chmod(0o755)
    for name, place in SYSTEM_FILES.items():
        _write(tree / place, (ROOT / "udev" / name).read_text("utf-8"))
    env = build_environment(PYTHONDONTWRITEBYTECODE="1")
    command = (environment.python, "-m", "controller")
    for shell, place in COMPLETIONS.items():
        _write(tree / place, run(*command, "completion", shell, env=env, folder=environment.folder))
    pages = tree / "usr/share/man/man1"
    run(*command, "man", pages, env=env, folder=environment.folder)
    for page in pages.iterdir():
        _compress(page, page.read_text("utf-8"))
        page.unlink()


def _place_documents(tree: Path, environment: Environment, version: str, epoch: int) -> None:
    documents = tree / DOCUMENTS
    _write(documents / "copyright", copyright_of(environment.parts))
    written = changelog((ROOT / "CHANGELOG.md").read_text("utf-8"), version, epoch)
    _compress(documents / "changelog.Debian", written)
    known = {ROOT / name for name in sources.names()}
    for place in PAGES:  # with the folders of the sources, so that the links between them hold
        for path in sorted(known & set(ROOT.glob(place))):
            _write(documents / path.relative_to(ROOT), path.read_text("utf-8"))


def _place_control(tree: Path, environment: Environment, version: str, architecture: str) -> None:
    files = [one for one in sorted(tree.rglob("*")) if one.is_file() and not one.is_symlink()]
    sums = [f"{hashlib.md5(one.read_bytes()).hexdigest()}  {one.relative_to(tree)}" for one in files]  # noqa: S324
    kibibytes = sum(_kibibytes(one) for one in tree.rglob("*"))
    for name in MAINTAINER_SCRIPTS:
        _write(tree / "DEBIAN" / name, (SCRIPTS / name).read_text("utf-8").replace("@NAME@", environment.name))
        (tree / "DEBIAN" / name).chmod(0o755)
    _write(tree / "DEBIAN/md5sums", "\n".join(sums) + "\n")
    _write(tree / "DEBIAN/control", control(version, architecture, kibibytes))


def _kibibytes(path: Path) -> int:
    """Return the size as Debian's tools count it: 1 for a folder or a link."""
    return -(-path.stat().st_size // 1024) if path.is_file() and not path.is_symlink() else 1


def _settle(tree: Path, epoch: int) -> None:
    """Set modes and times that do not depend on a umask or a clock."""
    for path in _all(tree):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def _all(tree: Path) -> Iterator[Path]:
    yield from tree.rglob("*")
    yield tree


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _compress(path: Path, text: str) -> None:
    """Write the compressed text next to the path, without a name or a time in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
