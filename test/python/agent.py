"""An agent as a developer writes it, run in an environment that has only the wheel and a web framework."""

import asyncio
import os
import time
from datetime import datetime
from typing import Any, Literal

from agent_integration_platform import (
    AgentError,
    Answer,
    AsyncRun,
    Run,
    create_agent,
    create_async_agent,
    is_custom,
    verify,
)
from agent_integration_platform.adapters import asgi, fastapi, flask, wsgi

Json = dict[str, Any]
SECRET = os.environ["SIGNING_SECRET"]
PORT = int(os.environ["PORT"])
SERVER = os.environ["SERVER"]
MANIFEST: Json = {"runtime": {"resume": os.environ["RESUME"] == "yes"}}
WAREHOUSE: Json = {
    "type": "object",
    "properties": {"name": {"enum": ["North", "South"]}, "count": {"type": "integer"}},
    "required": ["name"],
}
starts: dict[str, int] = {}
UNSENDABLE: Json = {
    "value": datetime.now(),
    "nan": float("nan"),
    "large": "x" * 1024 * 1024,
    # Half of a character, which the platform refuses.
    "text": "\ud800",
}


def count(run_id: str) -> int:
    starts[run_id] = starts.get(run_id, 0) + 1
    return starts[run_id]


def on_run(run: Run) -> Json | None:
    start = count(run.id)
    match run.input.get("mode"):
        case "step":
            run.step("Halfway there")
            return {"text": f"{run.settings.get('greeting', 'Hello')}!", "start": start}
        case "code":
            raise AgentError("no_stock", "There is nothing in stock.")
        case "bug":
            raise TypeError("secret detail")
        case "long":
            time.sleep(0.4)
            return {"late": True}
        case "unsendable":
            time.sleep(0.4 if run.input["late"] else 0)
            return {"items": [{"it": UNSENDABLE[run.input["kind"]]}]}
        case "complete":
            run.complete({"early": True}, cost_units=3)
            return {"ignored": True}
        case "fetch":
            outcome = run.tool("http_fetch", {"url": "https://nowhere.invalid/"})
            return {"start": start, "outcome": outcome.status, "receipt": kind(outcome.receipt)}
        case "ask":
            answer: Answer = run.ask("Which warehouse?", schema=WAREHOUSE)
            return {"start": start, "name": answer.content.get("name"), "approved": run.approve("Order more?")}
        case "endless":
            run.ended.wait()
            print(f"aborted {run.id}", flush=True)
            return None
        case _:
            return {"app": run.api.get("/api/v1/me")["app"]["slug"]}


async def on_async_run(run: AsyncRun) -> Json | None:
    start = count(run.id)
    match run.input.get("mode"):
        case "step":
            await run.step("Halfway there")
            return {"text": f"{run.settings.get('greeting', 'Hello')}!", "start": start}
        case "code":
            raise AgentError("no_stock", "There is nothing in stock.")
        case "bug":
            raise TypeError("secret detail")
        case "long":
            await asyncio.sleep(0.4)
            return {"late": True}
        case "unsendable":
            await asyncio.sleep(0.4 if run.input["late"] else 0)
            return {"items": [{"it": UNSENDABLE[run.input["kind"]]}]}
        case "complete":
            await run.complete({"early": True}, cost_units=3)
            return {"ignored": True}
        case "fetch":
            outcome = await run.tool("http_fetch", {"url": "https://nowhere.invalid/"})
            return {"start": start, "outcome": outcome.status, "receipt": kind(outcome.receipt)}
        case "ask":
            answer = await run.ask("Which warehouse?", schema=WAREHOUSE)
            return {"start": start, "name": answer.content.get("name"), "approved": await run.approve("Order more?")}
        case "endless":
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                print(f"aborted {run.id}", flush=True)
                raise
            return None
        case _:
            return {"app": (await run.api.get("/api/v1/me"))["app"]["slug"]}


def kind(receipt: str | None) -> Literal["string", "undefined"]:
    return "string" if isinstance(receipt, str) else "undefined"


def duration(secret: str, headers: dict[str, str], body: bytes) -> int | None:
    """Shows that the type of an event tells what its data has."""
    event = verify(secret, headers, body)
    if is_custom(event):
        return len(event["data"])
    return event["data"]["duration_ms"] if event["type"] == "run.succeeded" else None


agent = create_agent(secret=SECRET, on_run=on_run, manifest=MANIFEST, answer_within=0.3, watch_every=0.2)
async_agent = create_async_agent(
    secret=SECRET, on_run=on_async_run, manifest=MANIFEST, answer_within=0.3, watch_every=0.2
)

if SERVER == "flask":
    from flask import Flask

    app = Flask(__name__)
    app.post("/")(flask(agent))
    print("listening", flush=True)
    app.run("127.0.0.1", PORT, threaded=True)
elif SERVER == "wsgi":
    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIServer, make_server

    class Threaded(ThreadingMixIn, WSGIServer):
        daemon_threads = True

    server = make_server("127.0.0.1", PORT, wsgi(agent), Threaded)
    print("listening", flush=True)
    server.serve_forever()
else:
    import uvicorn

    if SERVER == "fastapi":
        from fastapi import FastAPI

        api = FastAPI()
        api.add_route("/", fastapi(async_agent), methods=["POST"])
        served: Any = api
    else:
        served = asgi(agent if SERVER == "asgi-threads" else async_agent)

    print("listening", flush=True)
    uvicorn.run(served, host="127.0.0.1", port=PORT, log_level="warning")
