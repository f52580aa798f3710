"""`cardshoe`: finds its commands by name and turns errors into a sentence, a next step and an exit code."""

from __future__ import annotations

import os
import signal
import stat
import sys
from functools import partial
from typing import Any, Final

import click

from controller.commands.found_commands import FoundCommands
from controller.commands.language import language_option
from controller.commands.standard_streams import StandardStreams
from controller.problems import BadInputError
from firmware_bridge.messages import message

HOME, FOLDER = os.path.split(sys.prefix)  # without pathlib, for a fast --help
BUILD: Final = f" ({FOLDER})" if HOME == "/opt/cardshoe" else ""
"""The build of the installed package, by the name of its folder."""

OWN: Final = {  # name -> module:attribute, imported when it is used
    "run": ("controller.commands.run", "run"),
    "watch": ("controller.commands.watch", "watch"),
    "operate": ("controller.commands.operate.operate_command", "operate"),
    "devices": ("controller.commands.devices", "devices"),
    "rules": ("controller.commands.rules", "rules"),
    "evaluate": ("controller.commands.evaluate", "evaluate"),
    "odds": ("controller.commands.odds", "odds"),
    "capture": ("controller.commands.capture.capture_command", "capture"),
    "journal": ("controller.commands.journal.journal_command", "journal"),
    "pin": ("controller.commands.pin", "pin"),
    "completion": ("controller.commands.man", "completion"),
    "man": ("controller.commands.man", "man"),
    "status": ("controller.commands.status", "status"),
    "config": ("controller.commands.config.config_command", "config"),
    "init": ("controller.commands.init.init_command", "init"),
    "doctor": ("controller.commands.doctor.doctor_command", "doctor"),
    "floor": ("controller.commands.floor.floor_command", "floor"),
}
OTHERS: Final = "cardshoe.commands"  # entry points
SUMMARIES: Final = {
    "run": "Run the daemon of one table.",
    "watch": "Follow a running table.",
    "operate": "Operate a running table in words, at a prompt or by a script.",
    "devices": "List the devices plugged in, identify and pair them.",
    "rules": "Show how a game is read: clauses, settings, tables.",
    "evaluate": "Show classes, outcomes and wagers of given hands.",
    "odds": "Count the exact odds of every wager of a game.",
    "capture": "Record the bytes to and from a device, show them, play them back.",
    "journal": "Read what a table recorded: rounds, reports, exports, backups.",
    "pin": "Make the hash of a person's PIN for the configuration.",
    "completion": "Print what a shell reads to complete commands and options.",
    "man": "Write the man pages of all commands.",
    "status": "Show the state of a running table on one screen.",
    "config": "Check a configuration, show it, print an example.",
    "init": "Make the working folder of a table.",
    "doctor": "Find what is wrong on a table's PC, with the command that fixes it.",
    "floor": "Work with many tables: watch them, store and compare what they publish.",
    "audit": "Test how well a shuffler shuffles, by the orders of decks.",
    "bench": "Check that a device does what its driver promises, and measure it.",
    "demo": "Play a simulated table, live.",
    "simulate": "Run a simulated device alone, on a pseudo-terminal or a TCP port.",
}


class Commands(FoundCommands):
    """The group of all commands, including those of entry points."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command. A failure of standard output decides the exit code."""
        _reset_inherited()
        with StandardStreams():
            return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Report the end of input at a question, as without a terminal, in a sentence."""
        try:
            return super().invoke(ctx)
        except click.Abort as error:
            if not isinstance(error.__context__, EOFError):
                raise  # interrupted
            click.echo(err=True)  # ends the line of the question
            raise BadInputError(
                message("The input ended before the questions were answered."),
                message(
                    "Nothing was done. Answer the questions in a terminal, or with options; the command's --help lists "
                    "them."
                ),
            ) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(super().list_commands(ctx))


def _reset_inherited() -> None:
    """Reset what the program that started this one may have set: a umask that denies the owner, so that a command could
    not read what it writes; blocked signals, so that none would end it; ignored ends of processes, so that their exit
    codes would be lost.
    """
    os.umask(os.umask(0) & ~stat.S_IRWXU)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD))
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


@click.group(
    cls=Commands,
    found_in=OWN,
    summaries=SUMMARIES,
    others=OTHERS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="cardshoe", prog_name="cardshoe", message=f"%(prog)s, version %(version)s{BUILD}")
@partial(language_option, passed=False)
def main() -> None:
    """The host of an electronic card shoe or shuffler: knows the next hand, enforces the deal, reports irregularities.

    Exit codes: 0 done, 1 failed, 2 bad input, 3 device, 4 journal, 70 an audit without a result, 74 output not written,
    78 configuration, 141 the reader of the output has gone.
    """
    import logging  # here, because --help needs no log

    import structlog

    structlog.configure(  # for commands that say themselves what happened: only bugs, and not in their output
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
    )
    click.get_current_context().call_on_close(structlog.reset_defaults)
