"""QEMU without KVM, started from a disk or from a saved state, with its monitor and the serial port of the agent.

KVM is used only where the processor itself virtualises. A host that is itself virtual may offer /dev/kvm and run only
kernels of its own kind.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from tests.vm.guest import Guest

MEMORY: Final = 640  # MiB
PATIENCE: Final = 300.0  # seconds of real time for a wait: the machine is slow, and others use the host
LINES: Final = 32 << 20  # bytes of the longest line that the agent or the monitor may write
FORWARDED: Final = 7000  # the port of the guest on which the proxy for the table's socket listens
ADDRESS: Final = "10.0.2.15"  # inside; QEMU's user network
HOST: Final = "10.0.2.2"  # the host's loopback, as it is seen from inside
BOOT: Final = "console=ttyS0 panic=-1 no_timer_check quiet net.ifnames=0 systemd.show_status=0"


class Parts(NamedTuple):
    """The parts from which a machine is started. `disk`: as QEMU's `-drive` takes it, without the interface."""

    kernel: Path
    initial: Path
    disk: str
    memory: Path | None = None  # a saved state; without one the machine boots


def accelerator() -> str:
    """Return KVM where it can run any kernel, else QEMU's own translation."""
    flags = re.findall(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)[:1]
    virtualises = bool({"vmx", "svm"} & set(" ".join(flags).split()))
    if virtualises and Path("/dev/kvm").exists() and not Path("/sys/module/kvm_pvm").exists():
        return "kvm"
    return "tcg,thread=multi"


def file_drive(disk: Path, *, changed: bool) -> str:
    """Return a disk in a file. Unless it is to be changed, writes go to an unnamed file of QEMU's."""
    return f"file={disk},format=raw,discard=unmap" + ("" if changed else ",snapshot=on")


def command(parts: Parts, folder: Path) -> list[str]:
    """Return the command that starts it. It dies with the process that started it."""
    drive = f"{parts.disk},if=none,id=root"
    arguments = [
        "-accel", accelerator(), "-M", "pc", "-smp", "2", "-m", str(MEMORY), "-nodefaults", "-no-reboot",
        "-display", "none",
        "-serial", f"file:{folder / 'console'}", "-qmp", f"unix:{folder / 'monitor'},server=on,wait=off",
        "-kernel", str(parts.kernel), "-initrd", str(parts.initial), "-append", BOOT,
        "-drive", drive, "-device", "virtio-blk-pci,drive=root,write-cache=on",
        "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={folder / 'agent'},server=on,wait=off",
        "-device", "virtserialport,chardev=agent,name=agent", "-device", "virtio-rng-pci",
        "-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile=", "-device", "qemu-xhci,id=xhci",
    ]  # fmt: skip
    if parts.memory is not None:
        arguments += ["-incoming", f"exec:cat {shlex.quote(str(parts.memory))}"]
    return ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", *arguments]


class Machine:
    """A machine, as an async context manager: leaving the context ends it. `folder` must be empty, with a path short
    enough for sockets.
    """

    def __init__(self, parts: Parts, folder: Path) -> None:
        self._parts = parts
        self._folder = folder

    async def __aenter__(self) -> Self:
        with (self._folder / "qemu.log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command(self._parts, self._folder), stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            await self._connect()
        except BaseException:
            await self.cut_power()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cut_power()
        if isinstance(error, Exception):
            error.add_note(f"the machine's console:\n{self.console()[-6000:]}\n{self.said()[-2000:]}")

    async def _connect(self) -> None:
        self._monitor = await self._open("monitor")
        await self._monitor[0].readline()  # its greeting
        await self.ask("qmp_capabilities")
        self.guest = Guest(*await self._open("agent"), PATIENCE)
        if self._parts.memory is not None:
            async with asyncio.timeout(PATIENCE):
                while (await self.ask("query-status"))["status"] == "inmigrate":  # noqa: ASYNC110  # another process
                    await asyncio.sleep(0.02)
            await self.ask("cont")  # it was stopped when it was saved
        await self.guest.run("true")

    async def _open(self, name: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(OSError):
                    return await asyncio.open_unix_connection(self._folder / name, limit=LINES)
                if self._process.returncode is not None:
                    raise RuntimeError(f"QEMU ended with {self._process.returncode}: {self.said()}")
                await asyncio.sleep(0.02)

    async def ask(self, execute: str, **arguments: Any) -> Any:
        """Return an answer of QEMU's monitor."""
        reader, writer = self._monitor
        writer.write(json.dumps({"execute": execute, "arguments": arguments}).encode() + b"\n")
        async with asyncio.timeout(PATIENCE):
            while True:
                answer = json.loads(await reader.readline())
                if "error" in answer:
                    raise RuntimeError(f"{execute}: {answer['error']}")
                if "return" in answer:
                    return answer["return"]

    async def _say(self, line: str) -> str:
        """Send a command of the human monitor."""
        told: str = await self.ask("human-monitor-command", **{"command-line": line})
        return told

    async def forward(self) -> int:
        """Return a port of the host's loopback that is forwarded to `FORWARDED` in the guest."""
        await self._say(f"hostfwd_add tcp:127.0.0.1:0-{ADDRESS}:{FORWARDED}")
        told = await self._say("info usernet")
        found = re.search(rf"HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)\s+\S+\s+{FORWARDED}\b", told)
        assert found is not None, told
        return int(found[1])

    async def save(self, memory: Path) -> None:
        """Stop, and write all but the disk to a file. The machine does not continue."""
        await self.ask("stop")
        await self.ask("migrate-set-parameters", **{"max-bandwidth": 8 << 30})
        await self.ask("migrate", uri=f"exec:cat > {shlex.quote(str(memory))}")
        async with asyncio.timeout(PATIENCE):
            while (told := await self.ask("query-migrate")).get("status") != "completed":
                assert told.get("status") != "failed", told
                await asyncio.sleep(0.05)
        await self.ask("quit")
        await self.ended()

    async def power_off(self) -> None:
        """Shut down normally: services are stopped, the disk is written."""
        await self.guest.begin("systemctl poweroff")
        await self.ended()

    async def ended(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._process.wait()

    async def cut_power(self) -> None:
        """Cut the power: what the machine held in memory is lost."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        for writer in (getattr(self, "_monitor", (None, None))[1], getattr(self, "guest", None)):
            if writer is not None:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    def console(self) -> str:
        """Return what the kernel wrote."""
        path = self._folder / "console"
        return path.read_text(errors="replace") if path.exists() else ""

    def said(self) -> str:
        """Return what QEMU itself wrote."""
        return (self._folder / "qemu.log").read_text(errors="replace")
