"""Shell completion and man pages of every command, read by the programs that they are made for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from controller.commands.main import main
from controller.commands.man import contexts, page_of

BIN = Path(sys.executable).parent
PATHS = [context.command_path for context in contexts(main, None, "cardshoe")]
COMPLETES = """
source "$1"
COMP_WORDS=(cardshoe oper)
COMP_CWORD=1
_cardshoe_completion cardshoe
echo "${COMPREPLY[@]}"
COMPREPLY=()
COMP_WORDS=(cardshoe operate --scr)
COMP_CWORD=2
_cardshoe_completion cardshoe
echo "${COMPREPLY[@]}"
"""


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(main, arguments, prog_name="cardshoe")
    assert done.exit_code == 0, done.output
    return done.output


def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    file = tmp_path / "cardshoe"
    file.write_text(printed("completion", "bash"))
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", COMPLETES, "bash", str(file)], capture_output=True, text=True, env=environment
    )
    assert (done.stdout.splitlines(), done.stderr) == (["operate", "--script"], "")


@pytest.mark.parametrize(("shell", "begins"), [("zsh", "#compdef cardshoe"), ("fish", "function _cardshoe_completion")])
def test_the_other_shells_get_a_script_that_asks_the_program(shell: str, begins: str) -> None:
    text = printed("completion", shell)
    assert text.startswith(begins)
    assert f"_CARDSHOE_COMPLETE={shell}_complete" in text


def test_a_shell_that_is_not_known_is_refused() -> None:
    done = CliRunner().invoke(main, ["completion", "dash"])
    assert done.exit_code == 2
    assert "'dash' is not one of 'bash', 'zsh', 'fish'" in done.output


def test_every_command_has_a_page_that_names_it_and_its_options(tmp_path: Path) -> None:
    listed = printed("man", str(tmp_path / "man1")).split()
    assert listed == [f"{path.replace(' ', '-')}.1" for path in PATHS]
    for context in contexts(main, None, "cardshoe"):
        text = (tmp_path / "man1" / f"{context.command_path.replace(' ', '-')}.1").read_text()
        assert text == page_of(context), "nothing of the day or the machine stands in it"
        for parameter in context.command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.opts[0].replace("-", "\\-") in text


@pytest.mark.tool("groff")
@pytest.mark.parametrize("path", PATHS)
def test_groff_formats_a_page_without_a_warning(path: str, tmp_path: Path) -> None:
    context = next(one for one in contexts(main, None, "cardshoe") if one.command_path == path)
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou"], input=page_of(context), capture_output=True, text=True
    )
    assert done.stderr == ""
    assert "SYNOPSIS" in done.stdout
    assert f"cardshoe {' '.join(path.split()[1:])}".strip() in " ".join(done.stdout.split())


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = CliRunner().invoke(main, ["man", str(tmp_path / "file")])
    assert done.exit_code == 2
    assert "cannot be written" in done.output
