"""Made from the commands themselves: `cardshoe man`, a page for each from its `--help`; `cardshoe completion`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final

import click
from click.shell_completion import get_completion_class

from controller.commands.text import write_out
from controller.problems import BadInputError, ProblemError
from firmware_bridge.messages import message

SECTION: Final = "1"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_context
def man(ctx: click.Context, folder: Path) -> None:
    """Write the man pages of all commands into FOLDER, which is created.

    If FOLDER is called man1, MANPATH names the folder above it. The pages do not depend on the day or the machine.
    """
    root = ctx.find_root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for context in contexts(root.command, None, "cardshoe"):
            name = f"{context.command_path.replace(' ', '-')}.{SECTION}"
            (folder / name).write_text(page_of(context), encoding="utf-8")
            write_out(name)
    except OSError as error:
        raise BadInputError(
            message(
                "{path} cannot be written: {why}.", path=str(error.filename or folder), why=error.strerror or str(error)
            ),
            message("Name a folder that you may write to."),
        ) from error


def contexts(command: click.Command, parent: click.Context | None, name: str) -> Iterator[click.Context]:
    """Yield the command and all below it."""
    context = click.Context(command, parent=parent, info_name=name)
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None and not found.hidden:
                yield from contexts(found, context, below)


def page_of(context: click.Context) -> str:
    """Return the page in the format of man pages."""
    command, path = context.command, context.command_path
    title = path.replace(" ", "-")
    described = textwrap.dedent(command.help or "").strip().split("\n\n")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{_escaped(title.upper())}" "{SECTION}" "" "cardshoe {version("cardshoe")}" "cardshoe"',
        ".SH NAME",
        f"{_escaped(title)} \\- {_escaped(' '.join(described[0].split()).rstrip('.'))}",
        ".SH SYNOPSIS",
        f"\\fB{_escaped(path)}\\fR {_escaped(usage)}",
        ".SH DESCRIPTION",
        *(line for text in described for line in (".PP", _line(text))),
    ]
    records = [record for one in command.get_params(context) if (record := one.get_help_record(context)) is not None]
    lines += _entries("OPTIONS", records)
    if isinstance(command, click.Group):
        below = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
        lines += _entries("COMMANDS", [(f"{path} {name}", one.get_short_help_str(200)) for name, one in below if one])
    return "\n".join([*lines, *_exit_codes(context)]) + "\n"


def _entries(heading: str, records: list[tuple[str, str]]) -> list[str]:
    entries = [line for name, text in records for line in (".TP", f"\\fB{_escaped(name)}\\fR", _line(text))]
    return [f".SH {heading}", *entries] if entries else []


def _exit_codes(context: click.Context) -> list[str]:
    """Refer to the program's own page, which lists the exit codes."""
    return [] if context.parent is None else [".SH SEE ALSO", f"\\fBcardshoe\\fR({SECTION})"]


def _line(text: str) -> str:
    """Return a paragraph on one line, protected because a line that begins with a dot or a quote is a request."""
    return f"\\&{_escaped(' '.join(text.split()))}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("\b", "")


SHELLS: Final = ("bash", "zsh", "fish")
PROGRAM: Final = "cardshoe"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what SHELL reads to complete commands and options.

    bash: cardshoe completion bash > ~/.local/share/bash-completion/completions/cardshoe. zsh: into a file _cardshoe in
    a folder of $fpath. fish: into ~/.config/fish/completions/cardshoe.fish.
    """
    found = get_completion_class(shell)
    if found is None:
        raise ProblemError(
            message("This version of click has no completion for {shell}.", shell=shell),
            message("Install the pinned requirements."),
        )
    write_out(found(ctx.find_root().command, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source().strip())
