"""`python -m controller`: the same as `cardshoe`, with the interpreter that runs it."""

from controller.commands.main import main

main(prog_name="cardshoe")
