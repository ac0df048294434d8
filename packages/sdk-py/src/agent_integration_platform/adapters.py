"""Serves agents with ASGI and WSGI servers, Django, FastAPI, Flask and Starlette."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any, Union, cast

from .agent import MAX_BODY_BYTES, Agent, AsyncAgent, Response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response as StarletteResponse

AnyAgent = Union[Agent, AsyncAgent]


async def _answer(agent: AnyAgent, method: str, headers: dict[str, str], body: bytes) -> Response:
    if isinstance(agent, AsyncAgent):
        return await agent.handle(method, headers, body)
    return await asyncio.to_thread(agent.handle, method, headers, body)


def fastapi(agent: AnyAgent) -> Callable[[Request], Awaitable[StarletteResponse]]:
    """Serves an agent with FastAPI or Starlette: `app.add_route('/agent', fastapi(agent), methods=['POST'])`."""
    from starlette.responses import Response as StarletteResponse

    async def endpoint(request: Request) -> StarletteResponse:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                break
        answer = await _answer(agent, request.method, dict(request.headers), bytes(body))
        return StarletteResponse(answer.body, status_code=answer.status, headers=answer.headers)

    return endpoint


def flask(agent: Agent) -> Callable[[], tuple[bytes, int, dict[str, str]]]:
    """Serves an agent with Flask: `app.post('/agent')(flask(agent))`."""
    from flask import request

    def view() -> tuple[bytes, int, dict[str, str]]:
        # The stream is empty if something before this view has read it. Flask keeps what it read.
        body = request.get_data() if (request.content_length or 0) <= MAX_BODY_BYTES else bytes(MAX_BODY_BYTES + 1)
        answer = agent.handle(request.method, dict(request.headers), body)
        return answer.body, answer.status, answer.headers

    view.__name__ = "agent"
    return view


def django(agent: AnyAgent) -> Callable[[Any], Any]:
    """Serves an agent with Django: `path("agent", django(agent))`, over WSGI or ASGI."""
    # Not a dependency, so pyright doesn't know its types.
    http: Any = import_module("django.http")

    def read(request: Any) -> bytes:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
        return request.body if length <= MAX_BODY_BYTES else bytes(MAX_BODY_BYTES + 1)

    def response(answer: Response) -> Any:
        return http.HttpResponse(answer.body, status=answer.status, headers=answer.headers)

    def view(request: Any) -> Any:
        assert isinstance(agent, Agent)
        return response(agent.handle(request.method, dict(request.headers), read(request)))

    async def async_view(request: Any) -> Any:
        return response(await _answer(agent, request.method, dict(request.headers), read(request)))

    chosen: Any = view if isinstance(agent, Agent) else async_view
    # The signature takes the place of a token in a cookie.
    chosen.csrf_exempt = True
    return cast("Callable[[Any], Any]", chosen)


def asgi(agent: AnyAgent) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """Serves an agent with any ASGI server: `app = asgi(agent)`."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        body = bytearray()
        more = True
        while more and len(body) <= MAX_BODY_BYTES:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        answer = await _answer(agent, scope["method"], headers, bytes(body))
        sent = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": sent})
        await send({"type": "http.response.body", "body": answer.body})

    return app


def wsgi(agent: Agent) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """Serves an agent with any WSGI server, such as `wsgiref.simple_server`: `app = wsgi(agent)`."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(min(length, MAX_BODY_BYTES + 1))
        headers = {
            name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")
        }
        answer = agent.handle(environ["REQUEST_METHOD"], headers, body)
        status = f"{answer.status} {HTTPStatus(answer.status).phrase}"
        start_response(status, [*answer.headers.items(), ("content-length", str(len(answer.body)))])
        return [answer.body]

    return app
