"""`cardshoe pin`: makes the `pin_hash` of a person.

`cardshoe init` asks for PINs in the same way.
"""

from __future__ import annotations

import secrets

import click

from controller.api.pins import SALT, hash_pin
from controller.commands.init.answers import ask_pin
from firmware_bridge.messages import message


@click.command()
def pin() -> None:
    """Make the pin_hash of a person for the configuration.

    Asks for the PIN twice, without showing it, and prints only the hash. The person must enter it in private.
    """
    click.echo(hash_pin(ask_pin(message("PIN")), secrets.token_bytes(SALT)))
