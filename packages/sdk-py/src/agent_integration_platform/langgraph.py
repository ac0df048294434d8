"""Runs graphs of LangGraph, agents of LangChain's `create_agent` included. Needs the package `langgraph`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, cast

from ._framework import Json, approve_call, key_of, output_of, prompt_of, report_call
from .errors import AgentError
from .run import AsyncRun, OnAsyncRun


def langgraph(
    graph: Any,
    *,
    input: Callable[[AsyncRun], Any] | None = None,
    output: Callable[[Json], Json] | None = None,
    answer: Callable[[AsyncRun, Any, str], Awaitable[Any]] | None = None,
    config: Json | None = None,
) -> OnAsyncRun:
    """Runs a graph: `create_async_agent(secret=…, on_run=langgraph(graph))`.

    The nodes that ran and the tools that were called are the run's steps. `interrupt` asks the people of the workspace, and goes
    on with their answer; it needs a checkpointer, whose thread is the run. A cancelled run cancels the graph.

    Args:
        graph: a compiled graph.
        input: its input for a run; default: `messages` with the text in the input, or with the input as JSON.
        output: the run's output from the last state; default: `structured_response`, the last message's text, or the whole state.
        answer: the value that an interrupt gets; default: people's answer to its text, or their decisions on the calls in it.
        config: more configuration of the graph, such as `recursion_limit`.
    """
    # Not a dependency, so pyright doesn't know its types.
    make_command: Any = import_module("langgraph.types").Command
    begin = input or _messages_of
    result_of = output or _result_of
    ask = answer or _ask_people

    async def on_run(run: AsyncRun) -> Json:
        given: Any = begin(run)
        given_config: Json = config or {}
        options: Json = {**given_config, "configurable": {**(given_config.get("configurable") or {}), "thread_id": run.id}}
        # A node that asks twice has the same id both times.
        rounds = 0
        while True:
            state, interrupts = await _pass(run, graph, given, options)
            if not interrupts:
                return result_of(state)
            rounds += 1
            answers: dict[str, Any] = {}
            for one in interrupts:
                # Several interrupts of one node have one id, and take one answer at a time. The others come again.
                if one.id not in answers:
                    answers[one.id] = await ask(run, one.value, key_of(f"{rounds}_{one.id}"))
            # A graph with several interrupts takes the answers by their ids.
            given = make_command(resume=answers if len(interrupts) > 1 else answers[interrupts[0].id])

    return on_run


async def _pass(run: AsyncRun, graph: Any, given: Any, options: Json) -> tuple[Json, list[Any]]:
    """Runs the graph until it ends or waits."""
    state: Json = {}
    interrupts: list[Any] = []
    async for mode, chunk in graph.astream(given, options, stream_mode=["updates", "values"]):
        if mode == "values":
            # When the graph waits, its state may be left out.
            if "__interrupt__" not in chunk:
                state = chunk
            continue
        for node, update in cast(Json, chunk).items():
            if node == "__interrupt__":
                interrupts.extend(update)
            else:
                await _report(run, node, update)
    return state, interrupts


def _messages_in(state: Any) -> list[Any]:
    messages: Any = cast(Json, state).get("messages") if isinstance(state, dict) else None
    return cast("list[Any]", messages) if isinstance(messages, list) else []  # type: ignore[redundant-cast]


async def _report(run: AsyncRun, node: str, update: Any) -> None:
    calls: list[Json] = []
    for message in _messages_in(update):
        calls.extend(cast(list[Json], getattr(message, "tool_calls", None) or []))
    for call in calls:
        await report_call(run, call["name"], call["args"])
    if not calls:
        await run.step({"type": "node", "output": {"node": node}})


def _messages_of(run: AsyncRun) -> Json:
    return {"messages": [{"role": "user", "content": prompt_of(run)}]}


def _result_of(state: Json) -> Json:
    if state.get("structured_response") is not None:
        return output_of(state["structured_response"])
    messages = _messages_in(state)
    if not messages:
        return output_of(state)
    text: Any = getattr(messages[-1], "text", None)
    return output_of(str(text) if isinstance(text, str) else messages[-1].content)


async def _ask_people(run: AsyncRun, value: Any, key: str) -> Any:
    """Calls that LangChain's human-in-the-loop middleware holds back are approved one by one. Anything else is a question."""
    requests: Any = cast(Json, value).get("action_requests") if isinstance(value, dict) else None
    if isinstance(requests, list):
        decisions: list[Json] = []
        for number, request in enumerate(cast(list[Json], requests)):
            approved = await approve_call(run, f"{key}_{number}", request["name"], request["args"])
            if not approved:
                _require_rejectable(cast(Json, value), request["name"])
            decisions.append({"type": "approve" if approved else "reject"})
        return {"decisions": decisions}
    answered = await run.ask(_question_in(value), key=key)
    return answered.content.get("text") if answered.action == "accept" else None


def _require_rejectable(value: Json, name: str) -> None:
    """Raises for a call that the agent doesn't go on without, if people refused it."""
    for review in cast(list[Json], value.get("review_configs") or []):
        if review.get("action_name") == name and "reject" not in review.get("allowed_decisions", ["reject"]):
            raise AgentError(
                "call_refused", f"A person refused the call of {name}, and the agent doesn’t continue without it."
            )


def _question_in(value: Any) -> str:
    if isinstance(value, str):
        return value
    fields = cast(Json, value) if isinstance(value, dict) else {}
    text = fields.get("question") or fields.get("message")
    return text if isinstance(text, str) else json.dumps(value, ensure_ascii=False, default=str)
