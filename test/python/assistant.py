"""A person's assistant on an official Python client: python assistant.py <client> <mode> <base> <slug>.

Prints what it saw as one JSON object a line. It prints an address that the person has to open, and reads where the browser was sent
back to, or a line that says that something was done."""

import asyncio
import json
import sys
import warnings
import webbrowser
from typing import Any, Literal

import fastmcp
import httpx2
import mcp_types as types
from fastmcp.client.auth import OAuth
from fastmcp.client.transports import StreamableHttpTransport
from mcp import Client
from mcp.client import ClaimContext, ClientExtension, ResultClaim
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

LIBRARY, MODE, BASE, SLUG = sys.argv[1:]
URL = f"{BASE}/mcp"
MODERN = MODE != "legacy"
# Fits every form of the agent.
ANSWER = {"name": "Alice", "username": "Alice", "email": "alice@example.com", "confirm": True}
has_left = False
warnings.simplefilter("ignore")


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


async def heard() -> str:
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


class Lost(Exception):
    """The person has to sign in again, and can't."""


class Task(types.Result):
    result_type: Literal["task"]
    task_id: str


class TaskState(types.Result):
    task_id: str
    status: str
    result: dict[str, Any] | None = None
    input_requests: dict[str, Any] | None = None


class Params(types.RequestParams):
    task_id: str
    input_responses: dict[str, Any] | None = None


class TaskRequest(types.Request[Params, str]):
    name_param = "taskId"


class Tasks(ClientExtension):
    """Follows tasks to their end, and answers their questions. The SDK has the hooks, and no client of tasks of its own."""

    identifier = "io.modelcontextprotocol/tasks"

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=Task, resolve=self.follow)]

    async def follow(self, task: Task, context: ClaimContext) -> types.CallToolResult:
        states: list[str] = []
        while True:
            request = TaskRequest(method="tasks/get", params=Params(task_id=task.task_id))
            state = await context.session.send_request(request, TaskState)
            if states[-1:] != [state.status]:
                states.append(state.status)
            if state.status == "input_required":
                responses = {key: {"action": "accept", "content": ANSWER} for key in state.input_requests or {}}
                params = Params(task_id=task.task_id, input_responses=responses)
                await context.session.send_request(TaskRequest(method="tasks/update", params=params), types.EmptyResult)
            elif state.status != "working":
                tell(states=states)
                return types.CallToolResult.model_validate(state.result)
            await asyncio.sleep(0.1)


class Memory(TokenStorage):
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def sends_person_to(address: str) -> None:
    if has_left:
        tell(lost=True)
        raise Lost
    tell(authorize=address)


async def opens(address: str) -> None:
    sends_person_to(address)


async def returns() -> AuthorizationCodeResult:
    query = httpx2.URL(await heard()).params
    return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def elicits(_context: Any, _params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content=ANSWER)


async def elicits_for_fastmcp(_message: str, _type: Any, _params: Any, _context: Any) -> Any:
    return ANSWER


def texts(result: Any) -> str:
    return json.dumps([block.text for block in result.content if block.type == "text"])


async def use(client: Any, auth: OAuthClientProvider) -> None:
    """What both clients do. They share the names of these methods, not their results."""

    async def call(tool: str, /, **arguments: Any) -> str:
        return texts(await client.call_tool(tool, arguments))

    names = await tools(client)
    tell(
        tools=[name for name in ("create_task", "message_agent", f"{SLUG}__greet", "http_fetch") if name in names],
        paged=len(names) > 100 and len(set(names)) == len(names),
    )
    tell(workspace="time_zone" in await call("workspace_info"))
    tell(greeted="Hello, Ada!" in await call(f"{SLUG}__greet", name="Ada"))
    asking = "test_input_required_result_elicitation" if MODERN else "test_elicitation"
    tell(answered="Alice" in await call(f"{SLUG}__{asking}", **({} if MODERN else {"message": "Who?"})))
    if MODERN:
        tell(computed="Computed" in await call(f"{SLUG}__slow_compute", seconds=1, label="mugs"))
        tell(confirmed="Deleted." in await call(f"{SLUG}__confirm_delete", filename="mugs.txt"))

    before = (auth.context.client_metadata.scope or "").split()
    tell(saved="note.txt" in await call("save_file", name="note.txt", content="Hello"))
    after = (auth.context.client_metadata.scope or "").split()
    tell(stepped_up=sorted(set(after) - set(before)), kept="runs:write" in after)

    held = auth.context.current_tokens
    assert held is not None
    auth.context.token_expiry_time = 1
    tell(refreshed="time_zone" in await call("workspace_info"))
    now = auth.context.current_tokens
    assert now is not None
    tell(rotated=now.refresh_token != held.refresh_token)

    global has_left
    has_left = True
    tell(leave=True)
    await heard()
    # The client asks the person to sign in. Each reports that this failed in a way of its own.
    await asyncio.wait_for(call("workspace_info"), 30)


async def tools(client: Any) -> list[str]:
    if LIBRARY == "fastmcp":
        return [tool.name for tool in await client.list_tools()]
    names: list[str] = []
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names


async def sdk() -> None:
    metadata = OAuthClientMetadata(
        client_name="Assistant",
        redirect_uris=[AnyUrl("http://127.0.0.1:9/callback")],
        token_endpoint_auth_method="none",
    )
    auth = OAuthClientProvider(URL, metadata, Memory(), opens, returns)
    async with httpx2.AsyncClient(auth=auth, timeout=60) as http:
        transport = streamable_http_client(URL, http_client=http)
        extensions = [Tasks()] if MODERN else []
        async with Client(transport, mode=MODE, elicitation_callback=elicits, extensions=extensions) as client:
            await use(client, auth)


async def with_fastmcp() -> None:
    # It opens a browser, and takes the answer with a server of its own.
    webbrowser.open = lambda address, *_: sends_person_to(address)
    auth = OAuth()
    transport = StreamableHttpTransport(URL, auth=auth)
    extensions = [Tasks()] if MODERN else []
    client = fastmcp.Client(transport, mode=MODE, elicitation_handler=elicits_for_fastmcp, extensions=extensions)
    async with client:
        await use(client, auth)


async def main() -> None:
    try:
        await (sdk if LIBRARY == "mcp" else with_fastmcp)()
    except BaseException:
        # A client whose sign-in failed may end with that failure.
        if not has_left:
            raise


asyncio.run(main())
