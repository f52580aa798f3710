"""`cardshoe pin`: makes the `pin_hash` of a person."""

from __future__ import annotations

import secrets

import click

from controller.api.pins import SALT, hash_pin, mistake_of_pin
from controller.problems import BadInputError


@click.command()
def pin() -> None:
    """Make the pin_hash of a person for the configuration.

    Asks twice for the PIN, without showing it, and prints the hash alone. The person enters it, nobody else.
    """
    entered = click.prompt("PIN", hide_input=True, err=True)
    if mistake := mistake_of_pin(entered):
        raise BadInputError(mistake)
    if click.prompt("The same PIN again", hide_input=True, err=True) != entered:
        raise BadInputError("The two PINs differ; begin again.")
    click.echo(hash_pin(entered, secrets.token_bytes(SALT)))
