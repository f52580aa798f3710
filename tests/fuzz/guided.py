"""`python -m tests.fuzz.guided NAME [-max_total_time=600 ...]`: one target, guided by the code that inputs reach.

It needs atheris. The other arguments are options of libFuzzer, which ends the process at the first finding.
"""

from __future__ import annotations

import sys
from importlib import import_module


def main() -> None:
    atheris = import_module("atheris")
    with atheris.instrument_imports(include=["firmware_bridge", "controller", "simulators"]):
        targets = import_module("tests.fuzz.targets")
    name, *options = sys.argv[1:]
    target = targets.BY_NAME[name]
    corpus = targets.folder() / "corpus"
    corpus.mkdir()
    for number, data in enumerate(target.seeds()):
        (corpus / str(number)).write_bytes(data)

    def run(data: bytes) -> None:
        try:
            target.run(data)
        except target.contract:
            return

    atheris.Setup([sys.argv[0], *options, str(corpus)], run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
