"""What the frameworks' wrappers share."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from .run import AsyncRun

Json = dict[str, Any]

TEXTS = ("text", "prompt", "question", "message", "query")
"""Names under which inputs usually have their text: `text` in chats, the others by custom."""

MAX_STEP_CHARS = 5_000
"""Steps have at most 16 KiB. Characters outside of ASCII take up to three bytes each."""


def prompt_of(run: AsyncRun) -> str:
    """Returns the run's input as a prompt: its text, or all of it as JSON. If another agent calls a tool, the call."""
    if run.called_tool is not None:
        return f"Carry out {run.called_tool} with these arguments: {json.dumps(run.input, ensure_ascii=False)}"
    for name in TEXTS:
        value = run.input.get(name)
        if isinstance(value, str) and value:
            return value
    return json.dumps(run.input, ensure_ascii=False)


def output_of(result: object) -> Json:
    """Returns a result as a run's output, which is an object. Models of Pydantic and dataclasses become objects."""
    dump = getattr(result, "model_dump", None)
    if callable(dump):
        result = dump(mode="json")
    if isinstance(result, dict):
        return cast(Json, result)
    return {"text": result} if isinstance(result, str) else {"result": result}


async def report_call(run: AsyncRun, tool: str, arguments: object) -> None:
    """Reports a call of one of the agent's own tools."""
    is_long = len(json.dumps(arguments, default=str)) > MAX_STEP_CHARS
    output: Json = {"tool": tool} if is_long else {"tool": tool, "arguments": arguments}
    await run.step({"type": "tool_call", "output": output})


async def approve_call(run: AsyncRun, key: str, tool: str, arguments: object) -> bool:
    """Asks people whether the agent may make a call. The question shows the whole call, because what can't be read can't be approved."""
    shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return await run.approve(f"May the agent call {tool} with {shown}?", key=key_of(key))


def key_of(identifier: str) -> str:
    """Makes a framework's id a key of a question: 1 to 64 of `A-Za-z0-9_-`."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", identifier)[-64:] or "call"


def parsed(text: str | None) -> object:
    """Returns JSON as a value, and other text as it is."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text
