"""`python -m tests.fuzz`: the long form, which runs each target for a number of seconds.

It prints executions and findings. A finding is an input to be added to `tests/fuzz/found.py` together with its fix.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from tests.fuzz.run import Finding, run_spoilt
from tests.fuzz.targets import BY_NAME, TARGETS, Target


def run_for(target: Target, seconds: float, seed: int) -> tuple[int, dict[tuple[str, str, int], Finding]]:
    ends_at = time.monotonic() + seconds
    findings: dict[tuple[str, str, int], Finding] = {}
    executions = 0
    for found in run_spoilt(target, seed):
        executions += 1
        if found is not None:
            findings.setdefault(found.place, found)
        if time.monotonic() >= ends_at:
            break
    return executions, findings


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz what reads others' input.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--only", choices=sorted(BY_NAME), help="this target alone")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the inputs; left out: another each time")
    asked = parser.parse_args()
    failed = 0
    for target in [BY_NAME[asked.only]] if asked.only else TARGETS:
        executions, findings = run_for(target, asked.seconds, asked.seed)
        print(f"{target.name:<22} {executions:>10,} executions  {len(findings)} findings", flush=True)  # noqa: T201  # its purpose
        for found in findings.values():
            print(f"  {found.data!r}", *traceback.format_exception(found.error)[-3:], sep="\n  ")  # noqa: T201  # its purpose
        failed += len(findings)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
