"""`cardshoe doctor` at the port for screens: free, the daemon's, another program's; a proxy's names and certificate."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from controller.api.in_language import in_language
from controller.commands.doctor import network
from controller.commands.doctor.machine import CheckedTable, Machine, MachineFinding, Served, own_user, try_tls
from controller.commands.main import main
from controller.daemon.configuration import read_configuration
from controller.daemon.port_use import Ask, Reply, ask, use_of
from tests.end_to_end.stage import Stage, short_folder
from tests.support.as_user import NEEDS_ROOT

UNIT = "cardshoe@bench-1"


@pytest.fixture
def port() -> int:
    """Return a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "bench-1"
    assert CliRunner().invoke(main, ["init", str(folder), "--simulated", "--yes"]).exit_code == 0
    return folder / "table.toml"


def look(
    file: Path, port: int, *, hosts: str = "", asking: Ask = ask, tls: str = "", days: int = 90, **said: str
) -> list[MachineFinding]:
    """Run the check. `said`: outputs of programs by name. `days`: days left on the certificate."""
    written = file.with_name("screens.toml")
    text = file.read_text().split("[api.http]")[0]
    written.write_text(f"{text}\n[api.http]\nport = {port}\nhosts = [{hosts}]\n")
    user = own_user()
    machine = Machine(file.parent, lambda *command: said.get(command[0]), asking, lambda host: Served(tls, days))
    found = tuple(network.screens(CheckedTable(machine, written, read_configuration(written), user, user.name)))
    return list(in_language(found, None))


def worst(found: list[MachineFinding], what: str) -> MachineFinding:
    return max(
        (one for one in found if str(one.what) == what), key=lambda one: ("ok", "warning", "problem").index(one.level)
    )


def test_no_port(file: Path) -> None:
    user = own_user()
    table = CheckedTable(Machine(run=lambda *command: None), file, read_configuration(file), user, user.name)
    (found,) = network.screens(table)
    assert (found.level, str(found.what)) == ("ok", "port")


def test_a_free_port(file: Path, port: int) -> None:
    found = worst(look(file, port), "port")
    assert (found.level, found.sentence) == ("ok", f"Port {port} is free; the daemon opens it at its start.")
    found = worst(look(file, port, systemctl="active"), "port")
    assert (found.level, found.mend) == ("problem", f"systemctl restart {UNIT}")


def test_another_program_at_the_port_is_named(file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        other.settimeout(0)
        asking = [Reply(404, "no table"), None, Reply(200, "no JSON"), Reply(200, '{"table": "NC-02"}')]
        said = f'LISTEN 0 5 127.0.0.1:{port} 0.0.0.0:* users:(("python3",pid=4711,fd=3))'
        for reply, by in zip(asking, [" by python3 (process 4711)"] * 3 + [" by table NC-02"], strict=True):
            found = worst(look(file, port, asking=lambda *given, one=reply: one, ss=said), "port")
            assert found.level == "problem"
            assert found.sentence == f"Port {port} is in use{by}, and the daemon does not start."
            assert f"ss -ltnp sport = :{port}" in str(found.mend)
        found = worst(look(file, port, asking=lambda *given: None), "port")
        assert found.sentence == f"Port {port} is in use, and the daemon does not start."


def of_this_table(ready: Reply, unknown: bool = False) -> Ask:
    def answer(port: int, path: str, host: str = "") -> Reply:
        if path == "/v1/state":
            return Reply(200, '{"table": "bench-1", "phase": "idle", "warnings": ["The disk fills."]}')
        return Reply(421, "not by that name") if host and unknown else ready

    return answer


def test_the_daemon_has_it_and_whether_it_can_deal(file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as daemon:
        port = daemon.getsockname()[1]
        found = look(file, port, asking=of_this_table(Reply(200, "ready")))
        assert worst(found, "port").sentence == f"The daemon of this table listens on port {port}."
        assert worst(found, "ready").level == "ok"
        assert [one.sentence for one in found if str(one.what) == "table"] == ["The disk fills."]
        found = look(file, port, asking=of_this_table(Reply(503, "The table is closed.\n")))
        ready = worst(found, "ready")
        assert (ready.level, ready.sentence) == ("problem", "The table is closed.")
        assert f"cardshoe status --socket {file.parent}/api.sock" in str(ready.mend)


def test_the_names_of_a_proxy(file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as daemon:
        port = daemon.getsockname()[1]
        known = look(file, port, hosts='"table7.example"', asking=of_this_table(Reply(200, "")), getent="10.0.0.7 x")
        assert worst(known, "hosts").level == "ok"
        found = look(file, port, hosts='"table7.example"', asking=of_this_table(Reply(200, "")))
        assert "does not know the name table7.example" in str(worst(found, "hosts").sentence)
        found = look(file, port, hosts='"table7.example"', asking=of_this_table(Reply(200, ""), unknown=True))
        assert worst(found, "hosts").level == "problem"
        assert worst(found, "hosts").mend == f"systemctl restart {UNIT}"
    found = look(file, port, hosts='"table7.example"', getent="10.0.0.7 x", tls="certificate has expired")
    assert "https://table7.example/: certificate has expired" in str(worst(found, "hosts").sentence)
    found = look(file, port, hosts='"table7.example"', getent="10.0.0.7 x", days=13)
    assert worst(found, "hosts").level == "warning"
    assert "The certificate of https://table7.example/ expires in 13 days" in str(worst(found, "hosts").sentence)
    found = look(file, port, hosts='"table7.example"', getent="10.0.0.7 x", days=14)
    assert worst(found, "hosts").level == "ok"


def test_people_who_cannot_sign_on(file: Path, port: int) -> None:
    found = worst(look(file, port), "people")
    assert (found.level, found.mend) == ("warning", "`cardshoe pin` creates one.")
    assert "has no pin_hash and cannot sign on at a screen" in str(found.sentence)


async def test_at_a_real_daemon(port: int) -> None:
    """Both the doctor and the configuration check recognise their own table's port, and report another table's."""
    with short_folder() as folder:
        async with Stage(folder) as stage:
            stage.configure(law=f"[api.http]\nport = {port}\n")
            await stage.start_daemon()
            user, configuration = own_user(), read_configuration(stage.configuration)
            table = CheckedTable(
                Machine(run=lambda *command: None), stage.configuration, configuration, user, user.name
            )
            found = await asyncio.to_thread(lambda: list(network.screens(table)))
            assert worst(found, "port").level == "ok"
            ready = worst(found, "ready")
            assert ready.level == "problem"
            assert str(ready.sentence).startswith("The table is out of service: ")
            assert await stage.start("config", "check", str(stage.configuration)).ended() == 0
            text = stage.configuration.read_text().replace('"T-1"', '"T-2"')
            (folder / "other.toml").write_text(text)
            asked = stage.start("config", "check", str(folder / "other.toml"))
            assert await asked.ended() == 78
            assert f"[api.http] port: {port} is in use by table T-1." in "\n".join(asked.err)


class Other(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(404)
        self.end_headers()

    def log_message(self, *given: object) -> None:
        pass


def test_asking_a_real_program() -> None:
    server = HTTPServer(("127.0.0.1", 0), Other)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        assert ask(server.server_port, "/readyz") == Reply(404, "")
        found = use_of(server.server_port, lambda *command: None)
        assert (str(found.refused), found.holder) == ("is in use", "")
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
    assert ask(server.server_port, "/readyz") is None
    assert use_of(server.server_port, lambda *command: None).refused is None


def certificate(folder: Path, name: str, days: int) -> Path:
    """Return a file with a certificate that expires in `days` days, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    names = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    end = datetime.now(UTC) + timedelta(days=days, hours=12)
    made = (
        x509.CertificateBuilder().subject_name(names).issuer_name(names).public_key(key.public_key())
        .serial_number(1).not_valid_before(end - timedelta(days=300)).not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    path = folder / f"{name}-{days}.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


@contextmanager
def proxy(wrap: Callable[[socket.socket], socket.socket]) -> Iterator[int]:
    """Accept one connection."""

    def serve() -> None:
        peer, _ = listening.accept()
        with peer, suppress(OSError):
            wrap(peer).close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=serve)
        serving.start()
        yield listening.getsockname()[1]
        serving.join()


@pytest.mark.parametrize(
    ("name", "days", "served"),
    [
        ("table7.example", 30, Served(days=30)),
        ("table7.example", 1, Served(days=1)),
        ("table7.example", -1, Served("certificate has expired")),
        ("table8.example", 30, Served("Hostname mismatch, certificate is not valid for 'table7.example'")),
    ],
)
def test_a_certificate(tmp_path: Path, name: str, days: int, served: Served) -> None:
    file = certificate(tmp_path, name, days)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with proxy(lambda peer: context.wrap_socket(peer, server_side=True)) as port:
        assert try_tls("table7.example", port, file) == served


def test_no_proxy_and_one_without_tls(port: int) -> None:
    assert str(try_tls("table7.example", port).why) == f"no program answers at 127.0.0.1:{port} (Connection refused)"

    def plain(peer: socket.socket) -> socket.socket:
        peer.recv(1)
        peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        return peer

    with proxy(plain) as served:
        why = try_tls("table7.example", served).why
        assert str(why) == f"what answers at 127.0.0.1:{served} does not speak TLS"


async def test_without_a_port_the_socket_says_what_keeps_the_table_from_dealing() -> None:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            await stage.start_daemon()
            machine = Machine(folder, lambda *command: None)
            user = own_user()
            table = CheckedTable(machine, stage.configuration, read_configuration(stage.configuration), user, user.name)

            def found() -> list[MachineFinding]:
                return list(in_language(tuple(network.screens(table)), None))

            ready = next(one for one in await asyncio.to_thread(found) if one.what == "ready")
            assert ready.level == "problem"
            assert "device" in str(ready.sentence)
            await stage.daemon.end()
            assert [one.what for one in found()] == ["port"], "another check reports a daemon that does not run"


@NEEDS_ROOT
async def test_root_asks_the_socket_as_an_admitted_user() -> None:
    with short_folder() as folder:
        folder.chmod(0o711)
        async with Stage(folder) as stage:
            stage.configure(uid=os.getuid() + 4000)
            await stage.start_daemon()
            table = CheckedTable(
                Machine(folder, lambda *command: None), stage.configuration, read_configuration(stage.configuration),
                own_user(), "root",
            )  # fmt: skip
            found = await asyncio.to_thread(lambda: list(network.screens(table)))
            assert worst(list(in_language(tuple(found), None)), "ready").level == "problem"
            assert await stage.daemon.end() == 0
            assert b"refused_at_door" not in (stage.journal / "000001.journal").read_bytes()


def test_a_daemon_without_its_socket_is_a_problem(file: Path) -> None:
    written = file.with_name("no_port.toml")
    written.write_text(file.read_text().split("[api.http]")[0])
    user = own_user()
    machine = Machine(file.parent, lambda *command: {"is-active": "active"}.get(command[1]))
    found = network.screens(CheckedTable(machine, written, read_configuration(written), user, user.name))
    gone = next(one for one in in_language(tuple(found), None) if one.what == "socket")
    assert (gone.level, gone.mend) == ("problem", f"systemctl restart {UNIT}")
