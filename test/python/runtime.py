"""Runs agents in this version of Python with each web framework, in the process, and prints what it saw."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import sys
import time
from datetime import datetime
from typing import Any

import httpx
from agent_integration_platform import Api, Run, create_agent, create_async_agent, AsyncRun
from agent_integration_platform.adapters import asgi, django, fastapi, flask, wsgi

SECRET = "agsec_" + "a" * 43
Json = dict[str, Any]
count = 0


def signed(run_input: Json, secret: str = SECRET) -> tuple[dict[str, str], bytes]:
    global count
    count += 1
    body = json.dumps(
        {
            "type": "run.execute",
            "run": {"id": f"run_{count}", "input": run_input, "trigger": "api"},
            "installation": {"settings": {}},
            "callback": {"base_url": "https://platform.example/api/v1", "token": "token", "expires_in": 900},
        }
    ).encode()
    at = int(time.time())
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return {"x-svc-signature": f"t={at},v1={digest}", "content-type": "application/json"}, body


UNSENDABLE: Json = {"date": datetime.now(), "nan": float("nan"), "large": "x" * 1024 * 1024, "bytes": b"", "set": {1}}


def output(run_input: Json) -> Json:
    return {"it": UNSENDABLE.get(run_input["it"], run_input["it"])}


def on_run(run: Run) -> Json:
    return output(run.input)


async def on_async_run(run: AsyncRun) -> Json:
    return output(run.input)


secret = ""
agent = create_agent(secret=lambda: secret, on_run=on_run, watch_every=0, on_error=lambda error, run: None)
async_agent = create_async_agent(secret=SECRET, on_run=on_async_run, watch_every=0, on_error=lambda error, run: None)


def test(name: str, send: Any) -> None:
    """Prints the statuses for a signed request, a forged one and one that is too large, and the codes of what can't be sent."""
    statuses: list[int] = []
    for headers, body in (signed({"it": 1}), signed({"it": 1}, "agsec_other"), ({}, bytes(4 * 1024 * 1024 + 1))):
        statuses.append(send(headers, body).status_code)
    codes: set[str] = set()
    for it in UNSENDABLE:
        answer: Json = send(*signed({"it": it})).json()
        codes.add(answer["error_code"])
        assert "output" in answer["error_message"]
    print(json.dumps([name, statuses, sorted(codes)]))


def over_asgi(app: Any) -> Any:
    def send(headers: dict[str, str], body: bytes) -> httpx.Response:
        async def call() -> httpx.Response:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agent") as client:
                return await client.post("/", content=body, headers=headers)

        return asyncio.run(call())

    return send


def over_wsgi(app: Any) -> Any:
    client = httpx.Client(transport=httpx.WSGITransport(app), base_url="http://agent")
    return lambda headers, body: client.post("/", content=body, headers=headers)


# An agent without its secret is refused at its first request, not at its import.
try:
    agent.handle("POST", *signed({}))
except TypeError:
    secret = SECRET

from fastapi import FastAPI
from flask import Flask
from flask import request as flask_request
from starlette.applications import Starlette
from starlette.routing import Route

fast = FastAPI()
fast.add_route("/", fastapi(async_agent), methods=["POST"])
test("fastapi", over_asgi(fast))
test("starlette", over_asgi(Starlette(routes=[Route("/", fastapi(agent), methods=["POST"])])))
test("asgi", over_asgi(asgi(async_agent)))

for name, before in (("flask", None), ("flask, body read before", lambda: flask_request.get_json(silent=True) and None)):
    small = Flask(__name__)
    small.post("/")(flask(agent))
    if before is not None:
        small.before_request(before)
    test(name, over_wsgi(small))
test("wsgi", over_wsgi(wsgi(agent)))

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.urls import path

settings.configure(
    ROOT_URLCONF=__name__,
    SECRET_KEY="test",
    ALLOWED_HOSTS=["agent"],
    DATA_UPLOAD_MAX_MEMORY_SIZE=None,
    MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
)
urlpatterns = [path("", django(agent))]
test("django, wsgi", over_wsgi(get_wsgi_application()))
urlpatterns[:] = [path("", django(async_agent))]
test("django, asgi", over_asgi(get_asgi_application()))

# A peer that accepts and never answers ends a call at its time limit, once.
import socket

silent = socket.create_server(("127.0.0.1", 0))
port = silent.getsockname()[1]
api = Api(f"http://127.0.0.1:{port}/", token="token", client=httpx.Client(timeout=0.2))
try:
    api.get("/api/v1/me")
except httpx.ReadTimeout:
    silent.settimeout(0)
    silent.accept()
    try:
        silent.accept()
        print("repeated")
    except BlockingIOError:
        print(json.dumps(["time limit", [], []]))
print(sys.version.split()[0], file=sys.stderr)
