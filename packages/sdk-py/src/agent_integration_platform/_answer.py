"""Answers that can be sent."""

from __future__ import annotations

import json
import math
from typing import Any, cast

from .errors import AgentError

Json = dict[str, Any]

MAX_BYTES = 1024 * 1024


class UnsendableAnswer(AgentError):
    """The agent's answer can't be sent."""

    def __init__(self, problem: str) -> None:
        super().__init__("agent_invalid_response", f"The agent’s answer can’t be sent: {problem}")


def check_sendable(answer: Json) -> None:
    """Raises `UnsendableAnswer` unless the output is JSON and has at most 1 MiB."""
    output: object = answer.get("output")
    problem = _problem_in(output, "output", [])
    if problem is not None:
        raise UnsendableAnswer(problem)
    size = len(json.dumps(output, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise UnsendableAnswer(f"output has {size} bytes, more than 1 MiB.")


def failed_with(error: AgentError) -> Json:
    """Returns the answer for an error of the agent's own, shortened to what the platform takes."""
    return {
        "status": "failed",
        "error_code": error.code[:100] or "agent_failed",
        "error_message": error.message[:4_000],
    }


def refused_with(error: Exception) -> Json:
    """Returns the answer in place of one that the platform refused."""
    return failed_with(UnsendableAnswer(str(error)))


def _problem_in(value: object, path: str, above: list[int]) -> str | None:
    """Says what JSON can't carry."""
    if value is None or isinstance(value, (bool, int, str)):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{path} is {value}."
    if not isinstance(value, (dict, list, tuple)):
        return f"{path} is a {type(value).__name__}. Make it a text, a number, a list or a dict."
    if id(cast(object, value)) in above:
        return f"{path} contains itself."
    inside = [*above, id(cast(object, value))]
    if isinstance(value, dict):
        for name, inner in cast("dict[object, object]", value).items():
            if not isinstance(name, str):
                return f"{path} has the key {name!r}, which isn’t a text."
            problem = _problem_in(inner, f"{path}.{name}", inside)
            if problem is not None:
                return problem
        return None
    for number, inner in enumerate(cast("list[object]", value)):
        problem = _problem_in(inner, f"{path}[{number}]", inside)
        if problem is not None:
            return problem
    return None
