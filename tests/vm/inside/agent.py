"""Runs the commands of the tests in the machine, which come and are answered over a virtual serial port.

Each line is a command in JSON: its `id`, a `script` for sh, and `within`, a number of seconds. Each answer is a line
with the `id`, the exit `code`, and the output `out` in base64.
"""

import base64
import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

PORT = "agent"


def find_port() -> str:
    for port in Path("/sys/class/virtio-ports").iterdir():
        if (port / "name").read_text().strip() == PORT:
            return f"/dev/{port.name}"
    raise SystemExit("There is no port for the agent.")


def run(asked: dict[str, Any]) -> dict[str, Any]:
    try:
        done = subprocess.run(
            ["sh", "-c", asked["script"]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=asked["within"],
        )
        code, out = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        code, out = 124, late.output or b""
    return {"id": asked["id"], "code": code, "out": base64.b64encode(out).decode()}


def main() -> None:
    descriptor = os.open(find_port(), os.O_RDWR)
    writing = threading.Lock()

    def answer(line: bytes) -> None:
        data = json.dumps(run(json.loads(line))).encode() + b"\n"
        with writing:
            while data:
                data = data[os.write(descriptor, data) :]

    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    rest = b""
    while True:
        rest += os.read(descriptor, 65536)
        *lines, rest = rest.split(b"\n")
        for line in lines:
            threading.Thread(target=answer, args=(line,), daemon=True).start()


main()
