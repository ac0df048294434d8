"""Runs agents of the OpenAI Agents SDK. Needs the package `openai-agents`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ._framework import Json, approve_call, output_of, parsed, prompt_of, report_call
from .run import AsyncRun, OnAsyncRun


def openai_agents(
    agent: Any,
    *,
    prompt: Callable[[AsyncRun], Any] = prompt_of,
    context: Callable[[AsyncRun], Any] | None = None,
    **options: Any,
) -> OnAsyncRun:
    """Runs an agent: `create_async_agent(secret=…, on_run=openai_agents(agent))`.

    The tools that it calls are the run's steps. Tools with `needs_approval` ask the people of the workspace. The final output is
    the run's output, and a cancelled run cancels the agent.

    Args:
        agent: an `Agent` of the package `openai-agents`.
        prompt: the input for a run, a text or items; default: the text in the input, or the input as JSON.
        context: the context that the agent's tools get.
        options: more arguments of `Runner.run`, such as `run_config` or `max_turns`.
    """
    # Not a dependency, so pyright doesn't know its types.
    agents: Any = import_module("agents")

    class Steps(agents.RunHooks):  # type: ignore[misc]
        def __init__(self, run: AsyncRun) -> None:
            self._run = run

        async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
            await report_call(self._run, tool.name, parsed(getattr(context, "tool_arguments", None)))

    runner: Any = agents.Runner

    async def on_run(run: AsyncRun) -> Json:
        begin: Json = {} if context is None else {"context": context(run)}
        result: Any = await runner.run(agent, prompt(run), hooks=Steps(run), **options, **begin)
        while result.interruptions:
            state: Any = result.to_state()
            for item in result.interruptions:
                raw: Any = item.raw_item
                key: str = getattr(raw, "call_id", None) or getattr(raw, "id", None) or str(item.name)
                if await approve_call(run, key, str(item.name), item.arguments or "{}"):
                    state.approve(item)
                else:
                    state.reject(item)
            # The state has the context, with the decisions in it.
            result = await runner.run(agent, state, hooks=Steps(run), **options)
        return output_of(result.final_output)

    return on_run
