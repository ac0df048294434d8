"""Agents: `create_agent` for code that blocks, `create_async_agent` for the event loop."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, Union

from ._answer import UnsendableAnswer, check_sendable, failed_with, refused_with
from .errors import AgentError, PlatformError, RunEnded, Suspended
from .run import AsyncRun, OnAsyncRun, OnRun, Run
from .verify import is_signed

Json = dict[str, Any]
Secret = Union[str, Sequence[str]]
log = logging.getLogger("agent_integration_platform")

MAX_BODY_BYTES = 4 * 1024 * 1024
KEPT_RUNS = 1_000
"""Number of runs whose answers are kept, for requests that arrive again."""


@dataclass(frozen=True)
class Response:
    """An answer to the platform."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {})

    @staticmethod
    def json(status: int, body: object) -> Response:
        return Response(status, json.dumps(body).encode(), {"content-type": "application/json"})


Outcome = Union[Json, None]
"""The final answer. None stands for "accepted": the run goes on, or was completed through the API."""



class _HasOutcome(Protocol):
    @property
    def outcome(self) -> Future[Outcome] | asyncio.Task[Outcome]: ...


J = TypeVar("J", bound=_HasOutcome)


@dataclass(frozen=True)
class Options:
    """What both kinds of agents are created with."""

    secret: Secret | Callable[[], Secret]
    resumes: bool
    answer_within: float
    watch_every: float
    on_error: Callable[[BaseException, str], None]


class _Door(Generic[J]):
    """Verifies requests, and remembers what was done with them."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._jobs: OrderedDict[str, J] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, method: str, headers: Mapping[str, str], body: bytes) -> Response | Json:
        """Returns the request, or the response with which it is refused."""
        if method.upper() != "POST":
            return Response(405, headers={"allow": "POST"})
        if len(body) > MAX_BODY_BYTES:
            return Response(413)
        if not is_signed(self._secret(), headers, body):
            return Response.json(401, {"error": "The signature is missing, wrong or too old."})
        try:
            request = json.loads(body)
        except ValueError:
            request = None
        if not isinstance(request, dict) or request.get("type") != "run.execute":  # pyright: ignore[reportUnknownMemberType]
            return Response.json(400, {"error": "Not a run.execute request."})
        return request  # pyright: ignore[reportUnknownVariableType]

    def _secret(self) -> Secret:
        """Reads the secret at a request, so that it may be missing where the agent is only imported."""
        given = self.options.secret
        secret = given() if callable(given) else given
        if not secret:
            raise TypeError("The agent has no signing secret. Set the app’s secret (agsec_…) where the agent runs.")
        return secret

    def job(self, request: Json, start: Callable[[], J]) -> J:
        """Returns the job of a request. One that arrives again gets the same answer, and starts nothing."""
        resume: Json = request.get("resume") or {}
        key = f"{request['run']['id']} {resume.get('step_id', '')}"
        with self._lock:
            known = self._jobs.get(key)
            if known is None:
                known = self._jobs[key] = start()
                if len(self._jobs) > KEPT_RUNS:
                    self._forget_oldest()
            return known

    def _forget_oldest(self) -> None:
        """Forgets the oldest job that is over. One that still works must not begin a second time."""
        for key, job in self._jobs.items():
            if job.outcome.done():
                del self._jobs[key]
                return


def _outcome_of(error: BaseException, completed: bool, ended: bool) -> tuple[Outcome, bool]:
    """Returns the answer for an error of the agent's code, and whether the error has to be reported."""
    # A run that ended has nothing left to answer, and one that waits is sent again.
    if ended or isinstance(error, (Suspended, RunEnded)):
        return None, False
    if isinstance(error, AgentError):
        return failed_with(error), isinstance(error, UnsendableAnswer)
    if completed:
        return None, True
    return {"status": "failed", "error_message": "The agent failed unexpectedly."}, True


def _succeeded_with(output: Json | None) -> Json:
    answer: Json = {"status": "succeeded", "output": output or {}}
    check_sendable(answer)
    return answer


def _is_refusal(error: Exception) -> bool:
    """Reports whether the answer was refused, and would be again. A value that can't be encoded raises `ValueError`."""
    if isinstance(error, PlatformError):
        return error.status in (400, 413, 422)
    return isinstance(error, (TypeError, ValueError))


def _response_of(outcome: Outcome) -> Response:
    return Response(202) if outcome is None else Response.json(200, outcome)


def _log_error(error: BaseException, run_id: str) -> None:
    log.error("Run %s failed", run_id, exc_info=error)


class _Job:
    """A run in a thread of its own."""

    def __init__(self, options: Options, on_run: OnRun, request: Json, traceparent: str | None) -> None:
        self._options = options
        self._on_run = on_run
        self._run = Run(request, resumes=options.resumes, traceparent=traceparent)
        self._later = False
        self._decided = False
        self._lock = threading.Lock()
        self.outcome: Future[Outcome] = Future()
        threading.Thread(target=self._deliver, name=f"run {self._run.id}", daemon=True).start()

    def answer_later(self) -> bool:
        """Marks the answer for sending through the API, because the response is gone. False if the answer is there already."""
        with self._lock:
            if not self._decided:
                self._later = True
            return self._later

    def _execute(self) -> Outcome:
        try:
            output = self._on_run(self._run)
            return None if self._run.completed else _succeeded_with(output)
        except BaseException as error:
            outcome, unexpected = _outcome_of(error, self._run.completed, self._run.ended.is_set())
            if unexpected:
                self._options.on_error(error, self._run.id)
            return outcome

    def _deliver(self) -> None:
        stop = threading.Event()
        if self._options.watch_every > 0:
            threading.Thread(target=self._watch, args=(stop,), daemon=True).start()
        outcome = self._execute()
        with self._lock:
            self._decided = True
            later = self._later
        try:
            if later and outcome is not None:
                self._finish(outcome)
                outcome = None
        except RunEnded:
            outcome = None
        except Exception as error:
            self._options.on_error(error, self._run.id)
            outcome = None
        finally:
            stop.set()
            self.outcome.set_result(outcome)
            self._run.close()

    def _finish(self, answer: Json) -> None:
        """Ends the run. If the platform refuses the answer, the run fails instead of going on until its deadline."""
        try:
            self._run.finish(answer)
        except Exception as error:
            if not _is_refusal(error):
                raise
            self._options.on_error(error, self._run.id)
            self._run.finish(refused_with(error))

    def _watch(self, stop: threading.Event) -> None:
        while not stop.wait(self._options.watch_every):
            try:
                self._run.look()
            except PlatformError as error:
                # Without the scope runs:read, the end is noticed at the next call.
                if error.status == 403:
                    return
            except Exception:
                # The next look makes up for this one.
                continue


class Agent(_Door[_Job]):
    """An agent whose code blocks. Runs are executed in threads."""

    def __init__(self, options: Options, on_run: OnRun) -> None:
        super().__init__(options)
        self._on_run = on_run

    def handle(self, method: str, headers: Mapping[str, str], body: bytes) -> Response:
        """Answers a request of the platform. Every adapter ends here."""
        request = self.open(method, headers, body)
        if isinstance(request, Response):
            return request
        traceparent = {name.lower(): value for name, value in headers.items()}.get("traceparent")
        job = self.job(request, lambda: _Job(self.options, self._on_run, request, traceparent))
        try:
            return _response_of(job.outcome.result(timeout=self.options.answer_within))
        except (FutureTimeout, TimeoutError):
            return Response(202) if job.answer_later() else _response_of(job.outcome.result())


class _AsyncJob:
    """A run in a task of its own."""

    def __init__(self, options: Options, on_run: OnAsyncRun, request: Json, traceparent: str | None) -> None:
        self._options = options
        self._on_run = on_run
        self._run = AsyncRun(request, resumes=options.resumes, traceparent=traceparent)
        self._later = False
        self._decided = False
        self.outcome: asyncio.Task[Outcome] = asyncio.ensure_future(self._deliver())

    def answer_later(self) -> bool:
        """Marks the answer for sending through the API, because the response is gone. False if the answer is there already."""
        if not self._decided:
            self._later = True
        return self._later

    async def _execute(self) -> Outcome:
        work = asyncio.ensure_future(self._on_run(self._run))
        ended = asyncio.ensure_future(self._run.ended.wait())
        try:
            await asyncio.wait({work, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
            output = await work
            return None if self._run.completed else _succeeded_with(output)
        except BaseException as error:
            outcome, unexpected = _outcome_of(error, self._run.completed, self._run.ended.is_set())
            if unexpected:
                self._options.on_error(error, self._run.id)
            return outcome
        finally:
            ended.cancel()

    async def _deliver(self) -> Outcome:
        watching = asyncio.ensure_future(self._watch()) if self._options.watch_every > 0 else None
        outcome = await self._execute()
        self._decided = True
        try:
            if self._later and outcome is not None:
                await self._finish(outcome)
                return None
            return outcome
        except RunEnded:
            return None
        except Exception as error:
            self._options.on_error(error, self._run.id)
            return None
        finally:
            if watching is not None:
                watching.cancel()
            await self._run.close()

    async def _finish(self, answer: Json) -> None:
        """Ends the run. If the platform refuses the answer, the run fails instead of going on until its deadline."""
        try:
            await self._run.finish(answer)
        except Exception as error:
            if not _is_refusal(error):
                raise
            self._options.on_error(error, self._run.id)
            await self._run.finish(refused_with(error))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._options.watch_every)
            try:
                await self._run.look()
            except PlatformError as error:
                # Without the scope runs:read, the end is noticed at the next call.
                if error.status == 403:
                    return
            except Exception:
                # The next look makes up for this one.
                continue


class AsyncAgent(_Door[_AsyncJob]):
    """An agent on the event loop. Runs are executed in tasks."""

    def __init__(self, options: Options, on_run: OnAsyncRun) -> None:
        super().__init__(options)
        self._on_run = on_run

    async def handle(self, method: str, headers: Mapping[str, str], body: bytes) -> Response:
        """Answers a request of the platform. Every adapter ends here."""
        request = self.open(method, headers, body)
        if isinstance(request, Response):
            return request
        traceparent = {name.lower(): value for name, value in headers.items()}.get("traceparent")
        job = self.job(request, lambda: _AsyncJob(self.options, self._on_run, request, traceparent))
        done, _ = await asyncio.wait({job.outcome}, timeout=self.options.answer_within)
        if not done and job.answer_later():
            return Response(202)
        return _response_of(await job.outcome)


def _resumes(manifest: Json | None) -> bool:
    runtime: Json = (manifest or {}).get("runtime") or {}
    return runtime.get("resume") is True


def create_agent(
    *,
    secret: Secret | Callable[[], Secret],
    on_run: OnRun,
    manifest: Json | None = None,
    answer_within: float = 20.0,
    watch_every: float = 15.0,
    on_error: Callable[[BaseException, str], None] = _log_error,
) -> Agent:
    """Creates an agent from the function that does its work.

    Args:
        secret: the app's signing secret, `agsec_…`; several while you rotate. It is read at the first request, so it may be missing
            where the agent is only imported, or come from a function.
        on_run: does the work. Its result is the run's output. Raise an `AgentError` to fail the run with a code of your own.
        manifest: the agent's manifest. It says whether the agent is called again after decisions (`runtime.resume`).
        answer_within: seconds after which a run is accepted with 202 and completed later. The platform waits 30 seconds.
        watch_every: seconds between two looks at whether a run still goes on. 0 turns them off.
        on_error: learns of errors of the agent's own code, with the run's id. Default: the logger `agent_integration_platform`.
    """
    return Agent(Options(secret, _resumes(manifest), answer_within, watch_every, on_error), on_run)


def create_async_agent(
    *,
    secret: Secret | Callable[[], Secret],
    on_run: OnAsyncRun,
    manifest: Json | None = None,
    answer_within: float = 20.0,
    watch_every: float = 15.0,
    on_error: Callable[[BaseException, str], None] = _log_error,
) -> AsyncAgent:
    """Creates an agent from the coroutine function that does its work. Takes what `create_agent` takes."""
    return AsyncAgent(Options(secret, _resumes(manifest), answer_within, watch_every, on_error), on_run)
