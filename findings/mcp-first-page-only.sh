#!/usr/bin/env bash
# Subject: mcpadapt 0.1.19 (PyPI), through which CrewAI and smolagents use MCP servers, and autogen-ext 0.7.5, each with mcp 1.30.0.
# Expected: all tools of a server, because tools/list has pages and nextCursor says that there is another.
# Happens: both read the first page and ignore nextCursor. The rest doesn't exist for the agent, and nothing says so.
# Matters: a server with pages of 100 tools loses all others, and which these are depends on its order. Offer smaller servers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mcpadapt==0.1.19 'autogen-ext[mcp]==0.7.5' mcp==1.30.0 2>&1 | grep -v WARNING || true
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import asyncio
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from autogen_ext.tools.mcp import StreamableHttpServerParams, mcp_server_tools
from mcpadapt.core import MCPAdapt, ToolAdapter


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(405)

    do_DELETE = do_GET

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            return self.answer(202)
        parameters = message.get("params") or {}
        page = int(parameters.get("cursor") or 1)
        tool = {"name": f"tool_{page}", "description": "A tool.", "inputSchema": {"type": "object", "properties": {}}}
        result = {
            "initialize": {
                "protocolVersion": parameters.get("protocolVersion"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "pages", "version": "1.0.0"},
            },
            "tools/list": {"tools": [tool], **({"nextCursor": "2"} if page == 1 else {})},
        }.get(message["method"], {})
        self.answer(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))

    def answer(self, status, body=""):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class Names(ToolAdapter):
    def adapt(self, func, mcp_tool):
        return mcp_tool.name

    def async_adapt(self, afunc, mcp_tool):
        return mcp_tool.name


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/mcp"
autogen = [tool.name for tool in asyncio.run(mcp_server_tools(StreamableHttpServerParams(url=url)))]
print("autogen-ext:", *autogen)
with MCPAdapt({"url": url, "transport": "streamable-http"}, Names()) as adapted:
    print("mcpadapt:", *adapted, flush=True)
    # Ending the adapter's thread can take for ever.
    os._exit(0 if autogen == adapted == ["tool_1"] else 1)
PYTHON
