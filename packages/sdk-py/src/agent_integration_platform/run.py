"""One run, as its agent sees it: `Run` blocks, `AsyncRun` runs on the event loop."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, Union, cast

from ._answer import check_sendable
from .client import Api, AsyncApi
from .errors import PlatformError, RunEnded, Suspended

Json = dict[str, Any]
T = TypeVar("T")

RENEW_BEFORE_SECONDS = 120
LONGEST_POLL_SECONDS = 10.0
FIRST_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class ToolOutcome:
    """Result of a tool. A person can refuse calls that need approval."""

    status: Literal["ok", "rejected"]
    result: Json = field(default_factory=lambda: {})
    receipt: str | None = None


@dataclass(frozen=True)
class Answer:
    """A person's answer to a question. `content` has the fields of the schema if the action is `accept`."""

    action: Literal["accept", "decline", "cancel"]
    content: Json = field(default_factory=lambda: {})


@dataclass(frozen=True)
class Call:
    """Calls the API with the run's token."""

    method: str
    path: str
    body: object = None


@dataclass(frozen=True)
class Wait:
    """Waits for some seconds, or until the run ends."""

    seconds: float


Story = Generator[Union[Call, Wait], Any, T]


class Stories:
    """What a run does, without I/O. Both kinds of runs share it."""

    def __init__(self, request: Json, *, resumes: bool) -> None:
        self.request = request
        self.resumes = resumes
        self.path = f"/api/v1/runs/{request['run']['id']}"
        self.completed = False
        self._steps: list[Json] | None = None
        self._replayed: set[str] = set()

    def step(self, step: str | Json) -> Story[None]:
        body = {"type": "message", "output": {"text": step}} if isinstance(step, str) else step
        yield Call("POST", f"{self.path}/steps", body)

    def complete(self, answer: Json) -> Story[None]:
        yield Call("POST", f"{self.path}/complete", answer)
        self.completed = True

    def tool(self, name: str, arguments: Json) -> Story[ToolOutcome]:
        decided = yield from self._decided_earlier(name, arguments)
        if decided is not None:
            return decided
        wait = FIRST_POLL_SECONDS
        while True:
            # The same call returns the decision once it is there.
            outcome: Json = yield Call("POST", f"/api/v1/tools/{name}/invoke", {"arguments": arguments})
            if outcome["status"] != "awaiting_approval":
                return ToolOutcome(outcome["status"], outcome.get("result") or {}, outcome.get("receipt"))
            if self.resumes:
                raise Suspended
            yield Wait(wait)
            wait = min(2 * wait, LONGEST_POLL_SECONDS)

    def ask(self, message: str, schema: Json | None, key: str | None) -> Story[Answer]:
        name = key or f"q_{hashlib.sha256(message.encode()).hexdigest()[:24]}"
        resumed = _member(_member(self.request, "resume"), "input").get(name)
        if resumed is not None:
            return _answer(resumed)
        steps = yield from self._earlier_steps()
        before = _answer_in(steps, name)
        if isinstance(before, Answer):
            return before
        if before == "unasked":
            question = {"message": message, **({"schema": schema} if schema is not None else {})}
            yield Call("POST", f"{self.path}/input-requests", {"input_requests": {name: question}})
        if self.resumes:
            raise Suspended
        wait = FIRST_POLL_SECONDS
        while True:
            run: Json = yield Call("GET", self.path)
            if run["finished_at"] is not None:
                raise RunEnded
            answer = _answer_in(run.get("steps") or [], name)
            if isinstance(answer, Answer):
                return answer
            yield Wait(wait)
            wait = min(2 * wait, LONGEST_POLL_SECONDS)

    def approve(self, message: str, key: str | None) -> Story[bool]:
        schema = {
            "type": "object",
            "properties": {"approved": {"type": "boolean", "title": "Approve"}},
            "required": ["approved"],
        }
        answer = yield from self.ask(message, schema, key)
        return answer.action == "accept" and answer.content.get("approved") is True

    def result_of(self, name: str, arguments: Json) -> Story[Json]:
        outcome = yield from self.tool(name, arguments)
        return outcome.result if outcome.status == "ok" else {"error": "rejected"}

    def _earlier_steps(self) -> Story[list[Json]]:
        """Returns the run's steps, read once per resumption: earlier decisions and answers are in them."""
        if not self.request.get("resume"):
            return []
        if self._steps is None:
            run: Json = yield Call("GET", self.path)
            self._steps = cast("list[Json]", run.get("steps") or [])
        return self._steps

    def _decided_earlier(self, name: str, arguments: Json) -> Story[ToolOutcome | None]:
        """Returns the result of the same call if it was decided before the agent was called again."""
        resume: Json = self.request.get("resume") or {}
        steps = yield from self._earlier_steps()
        for step in steps:
            if step["type"] != "approval" or step.get("tool") != name or step["id"] in self._replayed:
                continue
            output: Json = step.get("output") or {}
            if output.get("clipped") or _canonical(output.get("arguments")) != _canonical(arguments):
                continue
            current = resume.get("step_id") == step["id"]
            receipt = resume.get("receipt") if current else None
            if step["status"] == "rejected":
                self._replayed.add(step["id"])
                return ToolOutcome("rejected", receipt=receipt)
            if step["status"] not in ("executed", "approved"):
                continue
            result = resume.get("result") if current else output.get("result")
            if result is None:
                continue
            self._replayed.add(step["id"])
            return ToolOutcome("ok", result, receipt)
        return None


def _member(value: Json, name: str) -> Json:
    return cast(Json, value.get(name) or {})


def _answer(response: Json) -> Answer:
    return Answer(response["action"], response.get("content") or {})


def _answer_in(steps: list[Json], key: str) -> Answer | Literal["unasked", "pending"]:
    for step in steps:
        if step["type"] != "input_request":
            continue
        output: Json = step.get("output") or {}
        response = _member(output, "responses").get(key)
        if response is not None:
            return _answer(response)
        if key in _member(output, "input_requests"):
            return "pending"
    return "unasked"


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def base_url_of(request: Json) -> str:
    """Returns the platform's address. The paths of the API's operations include `/api/v1`."""
    return cast(str, request["callback"]["base_url"]).removesuffix("/").removesuffix("/api/v1")


class _Shared:
    """The parts of a run that need no I/O."""

    def __init__(self, request: Json, stories: Stories, traceparent: str | None) -> None:
        self.request: Json = request
        """The whole request, with installation, actor, task, conversation and chain."""
        self.id: str = request["run"]["id"]
        self.input: Json = request["run"].get("input") or {}
        """If another agent calls one of the agent's tools, the input is the tool's arguments."""
        self.settings: Json = request["installation"].get("settings") or {}
        """Values of the installation's settings, with decrypted secrets."""
        self.called_tool: str | None = request.get("tool")
        """The tool of this agent that another agent calls."""
        self.traceparent = traceparent
        """W3C trace context of the request, which the run's own calls carry on."""
        self._stories = stories
        self._token: str = request["callback"]["token"]
        self._expires_at = time.monotonic() + float(request["callback"]["expires_in"])

    def _is_due(self) -> bool:
        return self._expires_at - time.monotonic() <= RENEW_BEFORE_SECONDS

    def _take(self, renewed: Json) -> None:
        self._token = renewed["token"]
        self._expires_at = time.monotonic() + float(renewed["expires_in"])

    @property
    def completed(self) -> bool:
        """Whether `complete` ended the run."""
        return self._stories.completed


class Run(_Shared):
    """One run, for agents whose code blocks."""

    def __init__(self, request: Json, *, resumes: bool, traceparent: str | None = None) -> None:
        super().__init__(request, Stories(request, resumes=resumes), traceparent)
        self.ended = threading.Event()
        """Set when the run ends without this agent. Look at it in everything that takes long."""
        self._renewing = threading.Lock()
        base_url = base_url_of(request)
        self.api = Api(base_url, token=self._current, traceparent=traceparent)
        """The API with this run's token, which is renewed as long as the run is active."""
        self._renewal = Api(base_url, token=lambda: self._token, traceparent=traceparent)

    def step(self, step: str | Json) -> None:
        """Reports progress: a text, or a step with a type of its own (`{'type': …, 'output': …}`)."""
        self._tell(self._stories.step(step))

    def tool(self, name: str, arguments: Json) -> ToolOutcome:
        """Calls a tool of the platform, and waits for a person's decision if the call needs one.

        With `runtime.resume` in the manifest, the agent is called again with the decision instead.
        """
        return self._tell(self._stories.tool(name, arguments))

    def ask(self, message: str, *, schema: Json | None = None, key: str | None = None) -> Answer:
        """Asks the people of the workspace, and waits for the answer like `tool`.

        Args:
            message: up to 4,000 characters.
            schema: a flat JSON Schema object, the form that people fill in. Default: one text.
            key: identifies the question in the run. Required if the agent asks the same text twice.
        """
        return self._tell(self._stories.ask(message, schema, key))

    def approve(self, message: str, *, key: str | None = None) -> bool:
        """Asks people for a yes. The platform's dangerous tools ask by themselves."""
        return self._tell(self._stories.approve(message, key))

    def delegate(self, task: Json) -> Json:
        """Delegates a task to another agent."""
        return self._tell(self._stories.result_of("delegate_task", task))

    def ask_agent(self, call: Json) -> Json:
        """Calls a tool of another agent. The answer is untrusted: don't follow instructions in it."""
        return self._tell(self._stories.result_of("ask_agent", call))

    def complete(self, output: Json | None = None, *, cost_units: float | None = None) -> None:
        """Ends the run before the agent's function returns."""
        units = {} if cost_units is None else {"cost_units": cost_units}
        answer: Json = {"status": "succeeded", "output": output or {}, **units}
        check_sendable(answer)
        self._tell(self._stories.complete(answer))

    def finish(self, answer: Json) -> None:
        """Sends the final answer."""
        self._tell(self._stories.complete(answer))

    def look(self) -> None:
        """Renews the token if it is due, and notices that the run has ended."""
        if self._is_due():
            self._current()
        if self.api.get(self._stories.path)["finished_at"] is not None:
            self.ended.set()

    def close(self) -> None:
        """Closes the connections."""
        self.api.close()
        self._renewal.close()

    def _tell(self, story: Story[T]) -> T:
        answer: Any = None
        while True:
            if self.ended.is_set():
                raise RunEnded
            try:
                effect = story.send(answer)
            except StopIteration as end:
                return cast(T, end.value)
            except RunEnded:
                self.ended.set()
                raise
            if isinstance(effect, Wait):
                self.ended.wait(effect.seconds)
                answer = None
                continue
            try:
                answer = self.api.request(effect.method, effect.path, effect.body)
            except PlatformError as error:
                self._notice(error)
                raise

    def _notice(self, error: PlatformError) -> None:
        if error.code == "run_already_finished":
            self.ended.set()
            raise RunEnded from error

    def _current(self) -> str:
        with self._renewing:
            if self._is_due():
                self._take(self._renewal.post(f"{self._stories.path}/callback-token"))
            return self._token


class AsyncRun(_Shared):
    """One run, for agents on the event loop. Their task is cancelled when the run ends without them."""

    def __init__(self, request: Json, *, resumes: bool, traceparent: str | None = None) -> None:
        super().__init__(request, Stories(request, resumes=resumes), traceparent)
        self.ended = asyncio.Event()
        """Set when the run ends without this agent."""
        self._renewing = asyncio.Lock()
        base_url = base_url_of(request)
        self.api = AsyncApi(base_url, token=self._current, traceparent=traceparent)
        """The API with this run's token, which is renewed as long as the run is active."""
        self._renewal = AsyncApi(base_url, token=self._stored, traceparent=traceparent)

    async def step(self, step: str | Json) -> None:
        """Reports progress: a text, or a step with a type of its own (`{'type': …, 'output': …}`)."""
        await self._tell(self._stories.step(step))

    async def tool(self, name: str, arguments: Json) -> ToolOutcome:
        """Calls a tool of the platform, and waits for a person's decision if the call needs one.

        With `runtime.resume` in the manifest, the agent is called again with the decision instead.
        """
        return await self._tell(self._stories.tool(name, arguments))

    async def ask(self, message: str, *, schema: Json | None = None, key: str | None = None) -> Answer:
        """Asks the people of the workspace, and waits for the answer like `tool`. See `Run.ask`."""
        return await self._tell(self._stories.ask(message, schema, key))

    async def approve(self, message: str, *, key: str | None = None) -> bool:
        """Asks people for a yes. The platform's dangerous tools ask by themselves."""
        return await self._tell(self._stories.approve(message, key))

    async def delegate(self, task: Json) -> Json:
        """Delegates a task to another agent."""
        return await self._tell(self._stories.result_of("delegate_task", task))

    async def ask_agent(self, call: Json) -> Json:
        """Calls a tool of another agent. The answer is untrusted: don't follow instructions in it."""
        return await self._tell(self._stories.result_of("ask_agent", call))

    async def complete(self, output: Json | None = None, *, cost_units: float | None = None) -> None:
        """Ends the run before the agent's function returns."""
        units = {} if cost_units is None else {"cost_units": cost_units}
        answer: Json = {"status": "succeeded", "output": output or {}, **units}
        check_sendable(answer)
        await self._tell(self._stories.complete(answer))

    async def finish(self, answer: Json) -> None:
        """Sends the final answer."""
        await self._tell(self._stories.complete(answer))

    async def look(self) -> None:
        """Renews the token if it is due, and notices that the run has ended."""
        if self._is_due():
            await self._current()
        if (await self.api.get(self._stories.path))["finished_at"] is not None:
            self.ended.set()

    async def close(self) -> None:
        """Closes the connections."""
        await self.api.close()
        await self._renewal.close()

    async def _tell(self, story: Story[T]) -> T:
        answer: Any = None
        while True:
            if self.ended.is_set():
                raise RunEnded
            try:
                effect = story.send(answer)
            except StopIteration as end:
                return cast(T, end.value)
            except RunEnded:
                self.ended.set()
                raise
            if isinstance(effect, Wait):
                await _within(self.ended.wait(), effect.seconds)
                answer = None
                continue
            try:
                answer = await self.api.request(effect.method, effect.path, effect.body)
            except PlatformError as error:
                if error.code == "run_already_finished":
                    self.ended.set()
                    raise RunEnded from error
                raise

    async def _stored(self) -> str:
        return self._token

    async def _current(self) -> str:
        async with self._renewing:
            if self._is_due():
                self._take(await self._renewal.post(f"{self._stories.path}/callback-token"))
            return self._token


async def _within(work: Awaitable[object], seconds: float) -> None:
    try:
        await asyncio.wait_for(work, seconds)
    except asyncio.TimeoutError:
        pass


OnRun = Callable[[Run], Union[Json, None]]
OnAsyncRun = Callable[[AsyncRun], Awaitable[Union[Json, None]]]
