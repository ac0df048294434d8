"""Lists and calls tools with an agent framework: python tools.py <framework> <url> <token> <calls>

The calls are a JSON object with the arguments of each tool. Prints one JSON object: the names of the tools that the framework
offers a model, and the text that each called tool answered."""

import asyncio
import json
import re
import sys
import warnings
from typing import Any

FRAMEWORK, URL, TOKEN, CALLS = sys.argv[1:]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
CALLED: dict[str, dict[str, Any]] = json.loads(CALLS)
warnings.simplefilter("ignore")


def plain(name: str) -> str:
    """The name as smolagents and CrewAI write it, which make an identifier of it. CrewAI joins underscores, too."""
    return name.replace("-", "_")


def tell(names: list[str], answers: dict[str, str]) -> None:
    print(json.dumps({"names": sorted(names), "answers": answers}))


def crewai() -> None:
    from crewai_tools import MCPServerAdapter

    with MCPServerAdapter({"url": URL, "transport": "streamable-http", "headers": HEADERS}) as tools:
        tell([tool.name for tool in tools], {name: str(tools[plain(name).replace("__", "_")].run(**given)) for name, given in CALLED.items()})


def smolagents() -> None:
    from smolagents import MCPClient

    server = {"url": URL, "transport": "streamable-http", "headers": HEADERS}
    with MCPClient(server, structured_output=False) as tools:
        by_name = {tool.name: tool for tool in tools}
        tell(list(by_name), {name: str(by_name[plain(name)](**given)) for name, given in CALLED.items()})


async def autogen() -> None:
    from autogen_core import CancellationToken
    from autogen_ext.tools.mcp import StreamableHttpServerParams, create_mcp_server_session, mcp_server_tools

    server = StreamableHttpServerParams(url=URL, headers=HEADERS)
    # Without a session, each call connects again, and a few calls reach the rate limit.
    async with create_mcp_server_session(server) as session:
        await session.initialize()
        by_name = {tool.name: tool for tool in await mcp_server_tools(server, session=session)}
        answers = {}
        for name, given in CALLED.items():
            tool = by_name[name]
            answers[name] = tool.return_value_as_string(await tool.run_json(given, CancellationToken()))
    tell(list(by_name), answers)


async def semantic_kernel() -> None:
    from semantic_kernel import Kernel
    from semantic_kernel.connectors.mcp import MCPStreamableHttpPlugin

    async with MCPStreamableHttpPlugin(name="platform", url=URL, headers=HEADERS) as plugin:
        functions = Kernel().add_plugin(plugin).functions
        answers: dict[str, str] = {}
        for name, given in CALLED.items():
            result = await functions[name].invoke(Kernel(), **given)
            answers[name] = " ".join(str(part) for part in result.value)
        # A model gets the metadata of each function.
        tell([each.metadata.name for each in functions.values()], answers)


async def pydantic_ai() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    names: list[str] = []
    answers: dict[str, str] = {}

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        names[:] = [tool.name for tool in info.function_tools]
        for part in messages[-1].parts:
            if isinstance(part, ToolReturnPart):
                answers[part.tool_name] = str(part.content)
        rest = [name for name in CALLED if name not in answers]
        return ModelResponse(parts=[ToolCallPart(rest[0], CALLED[rest[0]]) if rest else TextPart("Done.")])

    async with Agent(FunctionModel(model), toolsets=[MCPToolset(URL, headers=HEADERS)]) as agent:
        await agent.run("Call the tools.")
    tell(names, answers)


def main() -> Any:
    return {
        "crewai": crewai,
        "smolagents": smolagents,
        "autogen": lambda: asyncio.run(autogen()),
        "semantic-kernel": lambda: asyncio.run(semantic_kernel()),
        "pydantic-ai": lambda: asyncio.run(pydantic_ai()),
    }[re.sub(r"==.*", "", FRAMEWORK)]()


main()
