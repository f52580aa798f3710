"""`cardshoe pin`: makes the `pin_hash` of a person.

It is short because the API has the hash and its rules.
"""

from __future__ import annotations

import secrets

import click

from controller.api.pins import SALT, hash_pin, mistake_of_pin
from controller.problems import BadInputError


@click.command()
def pin() -> None:
    """Make the pin_hash of a person for the configuration.

    Asks for the PIN twice, without showing it, and prints only the hash. The person must enter it in private.
    """
    entered = click.prompt("PIN", hide_input=True, err=True)
    if mistake := mistake_of_pin(entered):
        raise BadInputError(mistake)
    if click.prompt("Repeat the PIN", hide_input=True, err=True) != entered:
        raise BadInputError("The two PINs differ; start again.")
    click.echo(hash_pin(entered, secrets.token_bytes(SALT)))
