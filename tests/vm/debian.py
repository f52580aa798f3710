"""Debian 12 for the machine: the root's files as an archive, its kernel and the initial file system.

The packages come from the apt sources of the host. This needs root. The kernel's package is unpacked and not installed:
nothing in the machine makes an initial file system, and few of its modules are needed.
"""

from __future__ import annotations

import lzma
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.vm.cache import kept, key_of
from tests.vm.machine import ADDRESS

SUITE: Final = "bookworm"
PACKAGES: Final = ("adduser", "dbus", "kmod", "python3", "systemd", "systemd-sysv", "udev", "usbip")
"""No libraries besides: what the program needs comes with its package, or is missing here, too. usbip is a bench's."""
LEFT_OUT: Final = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
MODULES: Final = (  # folders and files below the kernel's modules
    "kernel/crypto", "kernel/drivers/block", "kernel/drivers/char/hw_random", "kernel/drivers/char/virtio_console.ko",
    "kernel/drivers/hid", "kernel/drivers/net/net_failover.ko", "kernel/drivers/net/virtio_net.ko",
    "kernel/drivers/usb", "kernel/drivers/virtio", "kernel/fs/autofs", "kernel/fs/configfs", "kernel/fs/ext4",
    "kernel/fs/fuse", "kernel/fs/jbd2", "kernel/fs/mbcache.ko", "kernel/lib", "kernel/net/core",
    "kernel/arch/x86/crypto",
)  # fmt: skip
AT_BOOT: Final = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4", "virtio_console")  # its disk, the agent's port
UNWANTED: Final = (  # services that cost minutes of a machine's time and do not concern the program
    "apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service",
    "fstrim.timer", "getty@tty1.service", "modprobe@drm.service", "modprobe@efi_pstore.service",
    "proc-sys-fs-binfmt_misc.automount", "serial-getty@ttyS0.service", "systemd-binfmt.service",
    "systemd-hwdb-update.service", "systemd-pstore.service", "systemd-update-utmp.service",
)  # fmt: skip
MAGIC_OF_XZ: Final = b"\xfd7zXZ\0"
INSIDE: Final = Path(__file__).parent / "inside"
PUT_IN: Final = ("agent.py", "agent.service", "init")


class Debian(NamedTuple):
    """The files of a Debian system. `root`: a tar archive. `kernel`: an ELF file, which QEMU starts as it is."""

    root: Path
    kernel: Path
    initial: Path
    key: str


def debian(more: Sequence[str] = ()) -> Debian:
    """Return the machine's files from the cache, or make them. `more`: additional packages for
    another kind of machine.
    """
    kernel_package = _kernel_package()
    key = key_of((kernel_package, *_sources(), Path(__file__), *(INSIDE / name for name in PUT_IN), *more))
    kind = "server" if more else "debian"
    folder = kept(kind, key, lambda folder: _make(folder, kernel_package.partition("=")[0], (*PACKAGES, *more)))
    return Debian(folder / "root.tar", folder / "vmlinux", folder / "initial", key)


def _make(folder: Path, kernel_package: str, packages: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="cardshoe-debian-", dir=folder) as name:
        work = Path(name)
        root, unpacked = work / "root", work / "unpacked"
        _download((kernel_package, "busybox-static"), unpacked)
        run(["mmdebstrap", "--mode=root", "--variant=minbase", f"--include={','.join(packages)}",
             "--dpkgopt=force-unsafe-io",
             *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
             *(f"--aptopt={line}" for line in _apt_options()), SUITE, str(root), *_sources()])  # fmt: skip
        (kernel,) = (unpacked / "boot").glob("vmlinuz-*")
        extract_kernel(kernel, folder / "vmlinux")
        version = kernel.name.removeprefix("vmlinuz-")
        _copy_modules(unpacked / "lib/modules" / version, root / "usr/lib/modules" / version)
        run(["chroot", str(root), "depmod", version])
        modules = root / "usr/lib/modules" / version
        (folder / "initial").write_bytes(initial_file_system(unpacked / "bin/busybox", modules))
        _furnish(root)
        run(
            [
                "tar",
                "--create",
                "--numeric-owner",
                "--xattrs",
                "--file",
                str(folder / "root.tar"),
                "--directory",
                str(root),
                ".",
            ]
        )


def _furnish(root: Path) -> None:
    """Turn the root into a test machine: its name, its network, the agent, and no slow services."""
    units = root / "etc/systemd/system"
    for name in UNWANTED:
        (units / name).symlink_to("/dev/null")
    (root / "etc/hostname").write_text("table-pc\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n127.0.1.1 table-pc\n")
    (root / "etc/fstab").write_text("/dev/vda / ext4 defaults 0 0\n")
    (root / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    (root / "etc/systemd/network/10-wired.network").write_text(
        f"[Match]\nDriver=virtio_net\n[Network]\nAddress={ADDRESS}/24\n"
    )
    agent = root / "usr/local/lib/agent.py"
    shutil.copy(INSIDE / "agent.py", agent)
    shutil.copy(INSIDE / "agent.service", units)
    for wanted in ("agent.service", "/lib/systemd/system/systemd-networkd.service"):
        link = units / "multi-user.target.wants" / Path(wanted).name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(wanted if wanted.startswith("/") else f"../{wanted}")


# -- packages ------------------------------------------------------------------------------------------------------


def _kernel_package() -> str:
    """Return the kernel package to which `linux-image-amd64` refers, with its version: NAME=VERSION."""
    shown = run(["apt-cache", "show", "--no-all-versions", "linux-image-amd64"])
    (depends,) = (line for line in shown.splitlines() if line.startswith("Depends: "))
    name, _, version = depends.removeprefix("Depends: ").partition(" ")
    return f"{name}={version.strip('(= )')}"


def _download(packages: Iterable[str], into: Path) -> None:
    """Unpack packages without installing them."""
    debs = into.with_name("debs")
    debs.mkdir(mode=0o777)
    run(["apt-get", "download", "-qq", *packages], folder=debs)
    for deb in debs.iterdir():
        run(["dpkg-deb", "--extract", str(deb), str(into)])


def _sources() -> list[str]:
    """Return the host's apt sources of the suite, as lines of a sources.list."""
    wanted = "$(TARGET_OF) $(SITE) $(RELEASE) $(COMPONENT)"
    told = run(["apt-get", "indextargets", "--format", wanted, "Created-By: Packages"])
    lines = {line for line in told.splitlines() if line.startswith("deb ") and f" {SUITE}" in line}
    return sorted(lines)


def _apt_options() -> list[str]:
    """Return the host's apt options on the age of a source: a mirror of an earlier day is old."""
    told = run(["apt-config", "dump", "Acquire::Check-Valid-Until", "Acquire::Check-Date"])
    return told.splitlines()


# -- the kernel ----------------------------------------------------------------------------------------------------


def extract_kernel(compressed: Path, kernel: Path) -> None:
    """Extract the ELF file from a compressed kernel. It starts in half the time: no firmware, nothing to decompress."""
    data = compressed.read_bytes()
    at = data.index(MAGIC_OF_XZ)
    unpacked = lzma.LZMADecompressor().decompress(data[at:])
    if not unpacked.startswith(b"\x7fELF"):
        raise ValueError(f"{compressed.name} is not compressed with xz.")
    kernel.write_bytes(unpacked)


def _copy_modules(have: Path, into: Path) -> None:
    for name in (*MODULES, "modules.builtin", "modules.builtin.modinfo", "modules.order"):
        source, target = have / name, into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        elif source.is_file():
            shutil.copy(source, target)


def needed_modules(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the modules with their dependencies, in an order in which they can be loaded."""
    needs = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        module, _, others = line.partition(":")
        needs[module] = others.split()
    found: list[str] = []
    for name in names:
        for module in needs:
            if Path(module).name.removesuffix(".ko").replace("-", "_") == name:
                found += [one for one in (*reversed(needs[module]), module) if one not in found]
    return [folder / module for module in found]


def initial_file_system(busybox: Path, modules: Path) -> bytes:
    """Return the file system with which the kernel begins: it loads the disk's modules and continues with systemd on
    it.
    """
    loaded = needed_modules(modules, AT_BOOT)
    files = {"init": (INSIDE / "init").read_bytes(), "bin/busybox": busybox.read_bytes()}
    files |= {f"m/{module.name}": module.read_bytes() for module in loaded}
    files["modules"] = "".join(f"{module.name}\n" for module in loaded).encode()
    entries = [(name, 0o40755, b"") for name in ("bin", "dev", "m", "new", "proc", "sys")]
    entries += [(name, 0o100755, data) for name, data in files.items()]
    return _cpio(entries)


def _cpio(entries: Iterable[tuple[str, int, bytes]]) -> bytes:
    """Return an archive in the kernel's format "newc": names, modes, contents."""
    archive = bytearray()
    for number, (name, mode, data) in enumerate((*entries, ("TRAILER!!!", 0, b"")), start=1):
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        archive += b"070701" + b"".join(b"%08X" % field for field in fields)
        for part in (name.encode() + b"\0", data):
            archive += part
            archive += bytes(-len(archive) % 4)
    return bytes(archive)


def run(command: Sequence[str], *, folder: Path | None = None) -> str:
    """Run a command that must succeed. If it fails, the error contains its output."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout
