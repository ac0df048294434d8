#!/usr/bin/env bash
# Subject: autogen-core 0.7.5 (PyPI), which turns the JSON Schema of each MCP tool into a Pydantic model.
# Expected: a tool's property with "format": "email", a "$ref" to "#", or no type loads, or at most that tool is left out.
# Happens: "email" needs email-validator, which isn't a dependency; "#" is "not found in cache"; no type is refused. Each
#   raises while the list is read, so mcp_server_tools() of autogen-ext returns no tool of the server.
# Matters: all three are valid and ordinary in tools/list. One tool of one server takes all others away.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check autogen-core==0.7.5 pydantic==2.14.4
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from autogen_core.utils import schema_to_pydantic_model

tools = {
    "format email": {"type": "object", "properties": {"a": {"type": "string", "format": "email"}}},
    "$ref to #": {"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#"}}}},
    "no type": {"type": "object", "properties": {"a": {"description": "Any value."}}},
}
loaded = []
for name, schema in tools.items():
    try:
        schema_to_pydantic_model(schema)
        loaded.append(name)
    except TypeError:
        raise
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {str(error)[:100]}")
if loaded:
    sys.exit(f"Loads now: {', '.join(loaded)}")
PYTHON
