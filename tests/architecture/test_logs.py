"""No exception is logged as a whole, because its text may name a card. Its type and its place are logged."""

from __future__ import annotations

import ast

from tests.architecture.sources import PACKAGES, modules


def _logs_a_whole_exception(call: ast.Call) -> bool:
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "exception"
    return any(word.arg == "exc_info" for word in call.keywords) or (named and bool(call.args))


def test_no_exception_is_logged_as_a_whole() -> None:
    assert not [
        (module.name, node.lineno)
        for module in modules(*PACKAGES)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and _logs_a_whole_exception(node)
    ]
