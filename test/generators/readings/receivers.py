"""Reads requests with Flask and FastAPI in each way that they offer. One request a line in, what both read a line out."""

import asyncio
import json
import math
import sys
from importlib.metadata import version

import fastapi
import flask
import httpx

PACKAGES = ["flask", "werkzeug", "fastapi", "starlette", "python-multipart"]


def inside(value, names):
    for name in names:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def with_flask(sent, place, names):
    app = flask.Flask("receiver")
    read = []

    @app.route("/pay", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
    def pay():
        request = flask.request
        if place == "query":
            read.extend(request.args.getlist(names[0]))
        else:
            read.append(inside(request.get_json(silent=True), names))
            read.append(inside(request.get_json(force=True, silent=True), names))
            if len(names) == 1:
                read.extend(request.form.getlist(names[0]))
        if len(names) == 1:
            read.extend(request.values.getlist(names[0]))
        return ""

    app.test_client().open("/pay", method=sent["method"], query_string=sent["query"], data=sent["body"].encode(), content_type=sent.get("type"))
    return read


def with_fastapi(sent, place, names):
    app = fastapi.FastAPI()
    read = []
    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]

    @app.api_route("/query", methods=methods)
    async def query(found: list[str] = fastapi.Query([], alias=names[0])):
        read.extend(found)

    @app.api_route("/json", methods=methods)
    async def in_json(found: dict = fastapi.Body(...)):
        read.append(inside(found, names))

    @app.api_route("/form", methods=methods)
    async def in_form(found: list[str] = fastapi.Form([], alias=names[0])):
        read.extend(found)

    async def send():
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        headers = {"content-type": sent["type"]} if "type" in sent else {}
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            paths = ["/query"] if place == "query" else ["/json"] if len(names) > 1 else ["/json", "/form"]
            for path in paths:
                url = httpx.URL("http://receiver").copy_with(raw_path=f"{path}?{sent['query']}".encode())
                await client.request(sent["method"], url, content=sent["body"].encode(), headers=headers)

    asyncio.run(send())
    return read


def shown(value):
    """Returns a value as JSON can show it, which knows no infinite numbers."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


print(json.dumps({name: version(name) for name in PACKAGES}))
for line in sys.stdin:
    sent = json.loads(line)
    place, *names = sent["field"].split(".")
    found = {"flask": with_flask(sent, place, names), "fastapi": with_fastapi(sent, place, names)}
    print(json.dumps({receiver: [shown(one) for one in read if one is not None] for receiver, read in found.items()}))
