"""The inputs of a package: the files of the sources, their time, and Debian's own programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PYTHON: Final = "/usr/bin/python3.11"
"""The interpreter on which the package depends, and to which its environment links."""
NEEDED: Final = {"dpkg-deb": "dpkg", PYTHON: "python3 python3-venv"}
"""Programs, with Debian's packages that contain them."""
MADE: Final = ("__pycache__", "build", "dist")
"""Folders that tools create."""


class MissingError(Exception):
    """Raised when something that a build needs is missing. The text is a sentence with the next step."""


def run(*command: str | Path, env: Mapping[str, str] | None = None, folder: Path = ROOT) -> str:
    """Return the program's output. Raise `MissingError` with its messages if it fails."""
    words = [str(one) for one in command]
    done = subprocess.run(words, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise MissingError(f"{words[0]} failed with exit code {done.returncode}; its lines above say why.")
    return done.stdout


def check(*, signs: bool = False) -> None:
    """Raise `MissingError` if this machine cannot build the package, or with `signs` if it cannot sign it."""
    needed = NEEDED | ({"git": "git"} if _is_cloned() else {}) | ({"openssl": "openssl"} if signs else {})
    lacking = [packages for program, packages in needed.items() if shutil.which(program) is None]
    if not lacking and subprocess.run([PYTHON, "-c", "import ensurepip"], check=False, capture_output=True).returncode:  # noqa: S603
        lacking = [NEEDED[PYTHON]]
    if lacking:
        raise MissingError(f"This needs a Debian 12 with more packages: apt-get install {' '.join(lacking)}")


def version() -> str:
    """Return the program's version, from pyproject.toml."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def package_version() -> str:
    """Return the package's version: the program's, with the time and the commit of the sources, so that apt installs a
    package that was made from later sources.
    """
    later = f"{version()}+{datetime.fromtimestamp(epoch(), UTC):%Y%m%d%H%M%S}"
    return f"{later}.{_git('rev-parse', '--short=8', 'HEAD').strip()}" if _is_cloned() else later


def epoch() -> int:
    """Return the time of all files, in seconds: `SOURCE_DATE_EPOCH`, or the commit's or that of the newest file which
    was changed since. For unpacked sources it is that of the newest file.
    """
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    if not _is_cloned():
        return _newest(names())
    changed = [name for name in _git("diff", "--name-only", "-z", "HEAD").split("\0") if name]
    return max(int(_git("log", "-1", "--format=%ct")), _newest(changed))


def _newest(names: Iterable[str]) -> int:
    return max((int((ROOT / one).stat().st_mtime) for one in names if (ROOT / one).exists()), default=0)


def export(folder: Path) -> None:
    """Copy the files of the sources in their present state."""
    for name in names():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


def names() -> list[str]:
    """Return the files that git knows; for unpacked sources, all files except those that tools create."""
    if _is_cloned():
        return [name for name in _git("ls-files", "-z").split("\0") if name]
    found = []
    for path, folders, files in os.walk(ROOT):
        folders[:] = [one for one in folders if not one.startswith(".") and one not in MADE]
        found += [str((Path(path) / one).relative_to(ROOT)) for one in files]
    return sorted(found)


def _is_cloned() -> bool:
    return (ROOT / ".git").exists()


def _git(*words: str) -> str:
    """Run git, even if the sources belong to another user, as in CI."""
    return run("git", "-c", f"safe.directory={ROOT}", *words, folder=ROOT)


def sign(path: Path, key: Path) -> None:
    """Write an Ed25519 signature next to the file, as NAME.sig. It is always the same for the same file. `key` is the
    private key, as PEM.
    """
    run("openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", path, "-out", path.with_name(f"{path.name}.sig"))


def build_environment(**more: str) -> dict[str, str]:
    """Return an environment without Python variables that a shell may have set, and with sets in a fixed order."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return kept | {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"} | more
