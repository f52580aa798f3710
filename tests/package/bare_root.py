"""A bare Debian 12 in a folder, in which programs run with separate processes, devices and mounts, and no network."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.architecture.sources import ROOT

PACKAGE = [pytest.mark.package, pytest.mark.tool("dpkg-deb"), pytest.mark.tool("/usr/bin/python3.11")]
"""The marks of every test here."""
SHARES = ("--mount", "--pid", "--net", "--fork", "--kill-child")
ENTER = """
root=$1 user=$2
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=0755 dev "$root/dev"
for node in null zero full random urandom tty; do
    : > "$root/dev/$node"
    mount --bind "/dev/$node" "$root/dev/$node"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
cd "$root"
exec chroot --userspec="$user" "$root" /bin/sh -euc "$3"
"""
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
INCLUDED = "python3,systemd"
"""What the package depends on, so that its installation needs no network."""
CHANGING = ("proc", "dev", "sys", "run", "tmp", "var/lib/dpkg", "var/log", "var/cache")


def may_enter() -> bool:
    """Return whether this process may make namespaces and mounts: as root, and not in every container."""
    tried = ["unshare", *SHARES, "sh", "-c", "mount -t proc proc /proc"]
    return os.geteuid() == 0 and subprocess.run(tried, capture_output=True, check=False).returncode == 0


NEEDS_ROOT = pytest.mark.skipif(not may_enter(), reason="a Debian in a folder is entered as root, who may mount")


def debootstrap(tarball: Path, log: Path) -> subprocess.Popen[bytes]:
    """Make the tar file of a bare Debian 12, from the host's own package sources."""
    options = ["--variant=apt", "--dpkgopt=force-unsafe-io", f"--include={INCLUDED}"]
    options += [f"--aptopt={line}" for line in apt_options()]
    with log.open("wb") as said:
        command = ["mmdebstrap", *options, "bookworm", str(tarball), *mirrors()]
        return subprocess.Popen(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL)


def apt_options() -> list[str]:
    """Return the host's apt options: proxies, and whether the age of lists counts."""
    said = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    wanted = ("Acquire::http", "Acquire::https", "Acquire::Check-", "Acquire::Retries")
    return [line for line in said.splitlines() if line.startswith(wanted) and not line.endswith('"";')]


def mirrors() -> list[str]:
    """Return mirrors of Debian 12 as sources. If there are none, mmdebstrap uses its own."""
    form = "$(ORIGIN)|$(CODENAME)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)|$(CREATED_BY)"
    said = subprocess.run(["apt-get", "indextargets", "--format", form], capture_output=True, text=True, check=True)
    rows = [line.split("|") for line in said.stdout.splitlines()]
    found = [row[2] for row in rows if row[0] == "Debian" and row[1].startswith("bookworm") and row[3] == "Packages"]
    return list(dict.fromkeys(one for one in found if one.endswith(" main")))


class BareRoot(NamedTuple):
    """A bare Debian in a folder. Each test has its own copy."""

    path: Path

    def copied(self, to: Path) -> BareRoot:
        subprocess.run(["cp", "-a", "--reflink=auto", str(self.path), str(to)], check=True)
        return BareRoot(to)

    def run(self, script: str, user: str = "root", *, fails: bool = False) -> str:
        """Run a shell script, and return its output with errors. With `fails` its exit code must not be 0."""
        command = ["unshare", *SHARES, "sh", "-euc", ENTER, "sh", str(self.path), user, script]
        done = subprocess.run(
            command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600
        )
        assert (done.returncode != 0) is fails, done.stdout
        return done.stdout

    def take(self, package: Path) -> str:
        """Copy a package into the root. Return its name there."""
        shutil.copy(package, self.path / "tmp")
        return f"/tmp/{package.name}"  # noqa: S108  # in the root

    def write(self, name: str, text: str, mode: int = 0o644) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def files(self) -> set[str]:
        """Return all paths but those of the system's own records."""
        found: set[str] = set()
        for folder, folders, files in os.walk(self.path):
            below = Path(folder).relative_to(self.path)
            folders[:] = [one for one in folders if str(below / one) not in CHANGING]
            found |= {str(below / one) for one in (*folders, *files)}
        return found

    def users(self) -> set[str]:
        lines = (self.path / "etc/passwd").read_text().splitlines()
        return {line.partition(":")[0] for line in lines}


def build(folder: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    """Build the package with the documented command."""
    env = os.environ | environment
    command = ["/usr/bin/python3.11", "-m", "deb", str(folder), *options]
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
