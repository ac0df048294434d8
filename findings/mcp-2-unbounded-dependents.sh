#!/usr/bin/env bash
# Subject: smolagents 1.26.0 and autogen-ext 0.7.5 (PyPI), each with its extra `mcp`, next to mcp 2.3.0.
# Expected: a framework's own extra installs what its MCP tools need.
# Happens: both require mcp without an upper bound, so pip takes mcp 2. smolagents then asks for the extra that is installed, and
#   autogen-ext can't be imported, because mcp 2 moved RequestContext. With mcp 1.30.0 (and websockets) both load.
# Matters: a developer who follows these frameworks' instructions gets no tool of any MCP server, and one message sends them in a
#   circle. Instructions for such developers pin mcp below 2.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
pip() { "$folder/venv/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
# try <name> <code>: prints "loads", or the last line of the error.
try() {
  printf '%s: ' "$1"
  { "$folder/venv/bin/python" -W ignore -c "$2" 2>&1 && echo loads; } | tail -1
}
attempt() {
  # from_mcp imports its adapter before it connects. A command that doesn't exist ends it right after that.
  try smolagents "
from mcp import StdioServerParameters
from smolagents import ToolCollection
try:
    with ToolCollection.from_mcp(StdioServerParameters(command='no-such-command'), trust_remote_code=True):
        pass
except ImportError:
    raise
except Exception:
    pass" || true
  try autogen-ext 'import autogen_ext.tools.mcp' || true
}

pip install 'smolagents[mcp]==1.26.0' 'autogen-ext[mcp]==0.7.5' mcpadapt==0.1.19 mcp==2.3.0 2>&1 | grep -v WARNING || true
second=$(attempt)
pip install mcp==1.30.0 websockets==15.0.1
first=$(attempt)
printf 'mcp 2.3.0\n%s\nmcp 1.30.0\n%s\n' "$second" "$first"
grep -q "smolagents: ImportError: Please install 'mcp' extra" <<< "$second"
grep -q 'autogen-ext: ImportError: cannot import name .RequestContext' <<< "$second"
[ "$first" = "smolagents: loads
autogen-ext: loads" ]
