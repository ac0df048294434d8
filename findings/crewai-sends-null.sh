#!/usr/bin/env bash
# Subject: crewai-tools 1.15.30 (PyPI), whose adapter gives an MCP server's tools to a crew, with mcp 1.30.0.
# Expected: an optional argument that the model leaves out isn't sent.
# Happens: it is sent as null, which the schema doesn’t allow.
# Matters: a server that checks arguments against the schema that it listed has to refuse the call, and the model, which sent no
#   such argument, can't see why. Declaring the type as ["string", "null"] helps.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check crewai-tools==1.15.30 crewai==1.15.30 mcp==1.30.0 mcpadapt==0.1.19
cat > "$folder/server.py" <<'PYTHON'
import asyncio, json
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import TextContent, Tool

server = Server("odd")
PROPERTIES = {"name": {"type": "string"}, "note": {"type": "string"}, "headers": {"type": "object", "properties": {}}}

@server.list_tools()
async def tools():
    return [Tool(name="greet", description="Greets.", inputSchema={"type": "object", "properties": PROPERTIES, "required": ["name"]})]

@server.call_tool(validate_input=False)
async def call(name, arguments):
    return [TextContent(type="text", text=json.dumps(arguments, sort_keys=True))]

async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

asyncio.run(main())
PYTHON
HOME=$folder CREWAI_DISABLE_TELEMETRY=true OTEL_SDK_DISABLED=true "$folder/venv/bin/python" - "$folder" <<'PYTHON'
import os
import sys
from crewai_tools import MCPServerAdapter
from mcp import StdioServerParameters

with MCPServerAdapter(StdioServerParameters(command=sys.executable, args=[f"{sys.argv[1]}/server.py"])) as tools:
    sent = tools["greet"].run(name="Ada")
    print(f"Given name alone, the server got {sent}", flush=True)
    expected = sent == '{"headers": null, "name": "Ada", "note": null}'
    if not expected:
        print("It sends something else now.", flush=True)
    # Ending the adapter's thread can take for ever.
    os._exit(0 if expected else 1)
PYTHON
