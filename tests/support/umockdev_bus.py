"""A Linux that has attached a USB/IP device, without its kernel: umockdev's testbed with usbfs and a serial port.

Run as `umockdev-wrapper /usr/bin/python3 tests/support/umockdev_bus.py`, because Debian's python3-gi works only with
that Python. It imports the device from a USB/IP server, as vhci_hcd does; enumerates it, as the USB core does; answers
the ioctls of usbfs with transfers on that connection; and moves the bytes of /dev/ttyACM0, as cdc_acm does. Programs
that it starts see the testbed's /sys and /dev, and use the real libusb.

Standard input has a JSON object a line: {"attach": PORT}, {"run": [program, ...]}, {"tell": "a line"}. Standard output
has {"attached": ADDRESS}, {"detached": ADDRESS}, {"out": "a line of the program"}, {"err": ...}, {"exit": CODE}.

Not modelled: checks of the kernel, claims of other programs, hubs, suspend, DTR; a descriptor of usbfs has no hang-up.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import GLib, UMockdev  # noqa: E402  # after its version is chosen

# ioctls of usbfs on 64 bits, from linux/usbdevice_fs.h
CAPABILITIES, SUBMIT, DISCARD, REAP = 0x8004551A, 0x8038550A, 0x550B, 0x4008550D
CLAIM, RELEASE, CLEAR_HALT, DRIVER, RESET = 0x8004550F, 0x80045510, 0x80045515, 0x41045508, 0x5514
CONTROL, URB_SIZE = 2, 56
SERIAL_OUT, SERIAL_IN = 0x04, 0x84
USB_PATH = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1"


def say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


class Import:
    """The connection on which a device was imported. Its reader's thread calls `on_done(status, data)`."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lock = threading.Lock()
        self._seqnum = 0
        self._waiting: dict[int, Any] = {}
        self._socket.sendall(struct.pack(">HHI32s", 0x0111, 0x8003, 0, b"1-1"))
        if self._exactly(8) != struct.pack(">HHI", 0x0111, 3, 0):
            raise SystemExit("the server does not give its device")
        self._exactly(312)
        self.on_gone: Any = lambda: None

    def start(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def submit(self, endpoint: int, length: int, data: bytes, setup: bytes, on_done: Any) -> int:
        inward = endpoint >> 7
        with self._lock:
            self._seqnum += 1
            seqnum = self._seqnum
            self._waiting[seqnum] = (inward, on_done)
            head = struct.pack(">IIIII", 1, seqnum, 0x10002, inward, endpoint & 0x7F)
            self._send(head + struct.pack(">Iiiii8s", 0, length, 0, -1, 0, setup) + data)
        return seqnum

    def unlink(self, victim: int) -> None:
        with self._lock:
            self._seqnum += 1
            self._waiting[self._seqnum] = (victim, None)
            self._send(struct.pack(">IIIIII24x", 2, self._seqnum, 0x10002, 0, 0, victim))

    def control(self, setup: bytes, data: bytes = b"") -> tuple[int, bytes]:
        """Do a control transfer and wait for its end. Return its status and data."""
        ended, found = threading.Event(), []
        length = struct.unpack_from("<H", setup, 6)[0]

        def done(*what: Any) -> None:
            found.append(what)
            ended.set()

        self.submit(0x80 if setup[0] & 0x80 else 0, length, data, setup, done)
        ended.wait()
        return found[0]

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # the reader notices
            self._socket.sendall(data)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def _read(self) -> None:
        try:
            while True:
                self._take(self._exactly(48))
        except (EOFError, OSError):
            pass
        self._socket.close()
        with self._lock:
            left, self._waiting = self._waiting, {}
        for _, on_done in left.values():
            if on_done is not None:
                on_done(-errno.ESHUTDOWN, b"")
        self.on_gone()

    def _take(self, head: bytes) -> None:
        code, seqnum = struct.unpack_from(">II", head)
        status, actual = struct.unpack_from(">ii", head, 20)
        with self._lock:
            about, on_done = self._waiting.pop(seqnum, (0, None))
            if code == 4:
                _, on_done = self._waiting.pop(about, (0, None)) if status else (0, None)
                status, actual, about = -errno.ENOENT, 0, 1
        data = self._exactly(actual) if code == 3 and about and actual else b""
        if on_done is not None:
            on_done(status, data if about else bytes(max(0, actual)))


class Usbfs:
    """The node of a device: it carries out its ioctls as transfers on the connection."""

    def __init__(self, imported: Import) -> None:
        self._import = imported
        self._lock = threading.RLock()
        self._ended: list[Any] = []
        self._under_way: dict[int, int] = {}  # the number of each URB by its address in the program
        self.gone = False
        self.handler = UMockdev.IoctlBase()
        self.handler.connect("handle-ioctl", self._ioctl)

    def _ioctl(self, handler: Any, client: Any) -> bool:
        request, arg = client.get_request() & 0xFFFFFFFF, client.get_arg()
        result, number = 0, 0
        if request == REAP:
            with self._lock:
                fill = self._ended.pop(0) if self._ended else None
            if fill is not None:
                arg.resolve(0, 8).set_ptr(0, fill())
            else:
                result, number = -1, errno.ENODEV if self.gone else errno.EAGAIN
        elif self.gone:
            result, number = -1, errno.ENODEV
        elif request == CAPABILITIES:
            arg.resolve(0, 4).update(0, bytes(4))
        elif request == SUBMIT:
            self._submit(arg.resolve(0, URB_SIZE))
        elif request == DISCARD:
            victim = self._under_way.get(struct.unpack_from("<Q", bytes(arg.retrieve()))[0])
            if victim is None:
                result, number = -1, errno.EINVAL
            else:
                self._import.unlink(victim)
        elif request == CLEAR_HALT:
            (endpoint,) = struct.unpack("<I", bytes(arg.resolve(0, 4).retrieve()))
            self._import.control(struct.pack("<BBHHH", 2, 1, 0, endpoint, 0))
        elif request == DRIVER:
            result, number = -1, errno.ENODATA
        elif request not in (CLAIM, RELEASE, RESET):
            result, number = -1, errno.ENOTTY
        client.complete(result, number)
        return True

    def _submit(self, urb: Any) -> None:
        raw = bytes(urb.retrieve())
        kind, endpoint = raw[0], raw[1]
        (size,) = struct.unpack_from("<i", raw, 24)
        buffer = urb.resolve(16, size)
        content = bytes(buffer.retrieve())
        setup, skip = (content[:8], 8) if kind == CONTROL else (bytes(8), 0)
        inward = bool((setup[0] if kind == CONTROL else endpoint) & 0x80)
        where = urb.client_addr

        def fill(status: int, data: bytes) -> Any:
            if inward and data:
                buffer.update(skip, data)
            urb.update(4, struct.pack("<i", status))
            urb.update(28, struct.pack("<i", len(data)))
            return urb

        def done(status: int, data: bytes) -> None:
            """Keep the result. Only the thread of the ioctls touches the program's memory."""
            with self._lock:
                self._under_way.pop(where, None)
                self._ended.append(lambda: fill(status, data))

        with self._lock:
            self._under_way[where] = self._import.submit(
                (endpoint & 0x7F) | (0x80 if inward else 0), size - skip, b"" if inward else content[skip:], setup, done
            )


class SerialPort:
    """/dev/ttyACM0 or a higher number while the device is attached. It moves bytes between the terminal and the CDC
    data interface.
    """

    def __init__(self, testbed: Any, name: str, imported: Import) -> None:
        self._import = imported
        self._master = testbed.get_dev_fd(f"/dev/{name}")
        folder = Path(testbed.get_root_dir()) / "dev"
        terminal = str((folder / name).readlink())
        self._known_as = (
            folder / ".ptymap" / terminal.replace("/", "_")
        )  # otherwise the next terminal with that number fails
        self._read_on(0, b"")
        threading.Thread(target=self._write_on, daemon=True).start()

    def _read_on(self, status: int, data: bytes) -> None:
        if data:
            os.write(self._master, data)
        if status == 0:
            self._import.submit(SERIAL_IN, 4096, b"", bytes(8), self._read_on)

    def _write_on(self) -> None:
        poll = threading.Event()
        while True:
            try:
                data = os.read(self._master, 4096)
            except OSError:
                if poll.wait(0.01):  # no program has it open
                    return
                continue
            if not data:
                return
            self._import.submit(SERIAL_OUT, len(data), data, bytes(8), lambda status, moved: None)

    def hang_up(self) -> None:
        """Give the testbed an end of file under the same descriptor, which it closes itself."""
        self._known_as.unlink()
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, self._master)
        os.close(null)


class Bus:
    """The testbed and the one device that may be attached."""

    def __init__(self) -> None:
        self.testbed = UMockdev.Testbed.new()
        self._address = 1
        self._tty = ""  # the testbed reuses no name, as Linux reuses none while a program has it open
        self._paths: list[str] = []
        self._program: Any = None

    def attach(self, port: int) -> None:
        imported = Import(port)
        self._address += 1
        usbfs = Usbfs(imported)
        self._tty = f"ttyACM{self._address - 2}"
        address, node = self._address, f"bus/usb/001/{self._address:03}"
        gone = threading.Event()
        imported.on_gone = gone.set
        imported.start()
        ttys = self._enumerate(imported, node)
        self.testbed.attach_ioctl(f"/dev/{node}", usbfs.handler)
        port_of = SerialPort(self.testbed, self._tty, imported) if ttys else None
        threading.Thread(target=self._detach_later, args=(gone, usbfs, port_of, address), daemon=True).start()
        say(attached=address)

    def _enumerate(self, imported: Import, node: str) -> bool:
        """Enumerate as the USB core does: descriptors, configuration, a device for each interface. Return whether there
        is a tty.
        """
        device = imported.control(bytes((0x80, 6, 0, 1, 0, 0, 18, 0)))[1]
        size = struct.unpack_from("<H", imported.control(bytes((0x80, 6, 0, 2, 0, 0, 9, 0)))[1], 2)[0]
        configuration = imported.control(struct.pack("<BBHHH", 0x80, 6, 0x0200, 0, size))[1]
        serial = imported.control(struct.pack("<BBHHH", 0x80, 6, 0x0300 | device[16], 0x0409, 255))[1][2:]
        imported.control(bytes((0, 9, configuration[5], 0, 0, 0, 0, 0)))
        vendor, product = struct.unpack_from("<HH", device, 8)
        named = {
            "idVendor": f"{vendor:04x}", "idProduct": f"{product:04x}", "serial": serial.decode("utf-16-le"),
            "busnum": "1", "devnum": str(self._address), "speed": "12", "bConfigurationValue": str(configuration[5]),
            "bNumConfigurations": "1", "bNumInterfaces": str(configuration[4]), "devpath": "1",
        }  # fmt: skip
        minor = self._address - 1
        lines = [
            f"P: {USB_PATH[4:]}", f"N: {node}", f"E: DEVNAME=/dev/{node}", "E: DEVTYPE=usb_device",
            "E: SUBSYSTEM=usb", "E: BUSNUM=001", f"E: DEVNUM={self._address:03}", "E: MAJOR=189", f"E: MINOR={minor}",
            *(f"A: {name}={value}\\n" for name, value in named.items()),
            f"H: descriptors={(device + configuration).hex().upper()}",
        ]  # fmt: skip
        self._add(lines)
        return self._add_interfaces(configuration)

    def _add_interfaces(self, raw: bytes) -> bool:
        ttys = False
        while raw:
            if raw[1] == 4:
                path = f"{USB_PATH[4:]}/1-1:1.{raw[2]}"
                about = [
                    f"P: {path}", "E: SUBSYSTEM=usb", "E: DEVTYPE=usb_interface",
                    f"A: bInterfaceNumber={raw[2]:02x}\\n", f"A: bInterfaceClass={raw[5]:02x}\\n",
                ]  # fmt: skip
                self._add(about)
                if raw[5] == 2:
                    ttys = True
                    tty, minor = self._tty, self._tty.removeprefix("ttyACM")
                    about = [
                        f"P: {path}/tty/{tty}", f"N: {tty}", f"E: DEVNAME=/dev/{tty}", "E: SUBSYSTEM=tty",
                        "E: MAJOR=166", f"E: MINOR={minor}", f"A: dev=166:{minor}",
                        f"L: device=../../../1-1:1.{raw[2]}",
                    ]  # fmt: skip
                    self._add(about)
            raw = raw[raw[0] :]
        return ttys

    def _add(self, lines: list[str]) -> None:
        self.testbed.add_from_string("\n".join(lines) + "\n")
        self._paths.append("/sys" + lines[0].removeprefix("P: "))

    def _detach_later(self, gone: threading.Event, usbfs: Usbfs, serial_port: SerialPort | None, address: int) -> None:
        gone.wait()
        usbfs.gone = True
        if serial_port is not None:
            serial_port.hang_up()
        while self._paths:  # the last one added goes first
            path = self._paths.pop()
            self.testbed.uevent(path, "remove")
            self.testbed.remove_device(path)
        for node in (f"dev/{self._tty}", f"dev/bus/usb/001/{address:03}"):
            (Path(self.testbed.get_root_dir()) / node).unlink(missing_ok=True)
        say(detached=address)

    def run(self, program: list[str]) -> None:
        self._program = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )  # fmt: skip
        threading.Thread(target=self._follow, args=(self._program,), daemon=True).start()

    def _follow(self, program: Any) -> None:
        errors = threading.Thread(target=self._follow_errors, args=(program,), daemon=True)
        errors.start()
        for line in program.stdout:
            say(out=line.rstrip("\n"))
        errors.join()
        say(exit=program.wait())

    def _follow_errors(self, program: Any) -> None:
        for line in program.stderr:
            say(err=line.rstrip("\n"))

    def tell(self, line: str) -> None:
        self._program.stdin.write(line + "\n")
        self._program.stdin.flush()

    def stop(self, at_once: bool) -> None:
        """Let the program end normally, or kill it."""
        if at_once:
            self._program.kill()
        else:
            self._program.stdin.close()

    def end(self) -> None:
        if self._program is not None and self._program.poll() is None:
            self._program.kill()
        shutil.rmtree(self.testbed.get_root_dir(), ignore_errors=True)


def main() -> None:
    bus = Bus()
    loop = GLib.MainLoop.new(None, False)
    threading.Thread(target=loop.run, daemon=True).start()
    for line in sys.stdin:
        for name, value in json.loads(line).items():
            getattr(bus, name)(value)
    bus.end()
    os._exit(0)


if __name__ == "__main__":
    main()
