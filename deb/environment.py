"""The virtual environment of the package: the program, the packages that it needs to run, and nothing else."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final, NamedTuple

from controller.manifest import MANIFEST, manifest_of
from deb.sources import PYTHON, build_environment, export, run, sign

HOME: Final = "/opt/cardshoe"
PACKAGES: Final = "lib/python3.11/site-packages"
PROGRAM: Final = "cardshoe"
LEFT_OUT: Final = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
"""Files of a distribution in which pip notes how it installed it. RECORD also has digests of files that are not
packaged.
"""
CONFIGURATION: Final = "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11\n"
STARTER: Final = """\
#!{python} -I
import os
import sys

for name in [one for one in os.environ if one.startswith("PYTHON")]:
    del os.environ[name]  # -I ignores PYTHONHOME and its like here, and this in the processes that the program starts

from controller.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
"""


class Environment(NamedTuple):
    """An environment. `folder` is the folder in which it was made. `name` is its folder under /opt/cardshoe, which
    differs for each content.
    """

    folder: Path
    name: str
    parts: tuple[Distribution, ...]

    @property
    def python(self) -> Path:
        """The interpreter that runs the program where it was made, even if it is not installed."""
        return self.folder / "bin/python3"


def make(work: Path, version: str, key: Path | None = None) -> Environment:
    """Make an environment in a subfolder of `work`. `key` signs its manifest; with None it is not signed."""
    site = _installed(work)
    parts = tuple(sorted(_needed(site), key=lambda one: one.name))
    folder = work / "environment"
    for part in parts:
        _copy(part, site, folder / PACKAGES)
    (folder / "pyvenv.cfg").write_text(CONFIGURATION)
    (folder / "bin").mkdir()
    for link in ("python", "python3"):
        (folder / "bin" / link).symlink_to(PYTHON)
    name = f"{version}-{_digest(folder)}"
    starter = folder / "bin" / PROGRAM
    starter.write_text(STARTER.format(python=f"{HOME}/{name}/bin/python3"))
    starter.chmod(0o755)
    _compile(folder, f"{HOME}/{name}")
    (folder / MANIFEST).write_text(manifest_of(folder), "utf-8")
    if key is not None:
        sign(folder / MANIFEST, key)
    return Environment(folder, name, parts)


def _installed(work: Path) -> Path:
    """Return the site-packages of an environment into which pip installed the tested versions and the program."""
    sources, made = work / "sources", work / "pip"
    export(sources)
    env = build_environment()
    run(PYTHON, "-m", "venv", made, env=env)
    install = (made / "bin/python3", "-m", "pip", "install", "-q", "--no-cache-dir", "--no-compile", "--no-deps")
    named = ("-r", sources / "requirements.txt", "-r", sources / "requirements-build.txt")
    run(*install, "--require-hashes", *named, env=env)
    run(*install, "--no-build-isolation", sources, env=env, folder=sources)
    return made / PACKAGES


def _needed(site: Path) -> Iterator[Distribution]:
    """Yield the program and the packages that it needs to run, without pip and the packages that build it."""
    there = {_plain(one.name): one for one in distributions(path=[str(site)])}
    todo, done = [PROGRAM], set()
    while todo:
        name = todo.pop()
        if name in done or name not in there:  # a requirement of another system or version of Python
            continue
        done.add(name)
        yield there[name]
        wanted = (one for one in there[name].requires or () if "extra ==" not in one)
        todo += [_plain(re.split(r"[^A-Za-z0-9._-]", one, maxsplit=1)[0]) for one in wanted]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _copy(part: Distribution, site: Path, to: Path) -> None:
    for file in part.files or ():
        path = site / file
        if ".." in file.parts or file.suffix == ".pyc" or (file.name in LEFT_OUT and ".dist-info" in file.parts[0]):
            continue
        (to / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to / file)


def _digest(folder: Path) -> str:
    """Return a digest of names and contents, so that two builds with one version number get different folders."""
    found = hashlib.sha256()
    for path in sorted(one for one in folder.rglob("*") if one.is_file() and not one.is_symlink()):
        found.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def _compile(folder: Path, final: str) -> None:
    """Compile to bytecode that is loaded without checking its module, so that it contains no file time. Only root could
    write it later, and every start would otherwise compile everything again.
    """
    modules = folder / PACKAGES
    how = ("-q", "-j", "1", "--invalidation-mode", "unchecked-hash", "-s", folder, "-p", final)
    run(PYTHON, "-m", "compileall", *how, modules, env=build_environment(), folder=folder)
