#!/usr/bin/env bash
# Subject: autogen-core 0.7.5 (PyPI), which turns the JSON Schema of each MCP tool into a Pydantic model.
# Expected: an array with `prefixItems` and no `items`, as Pydantic writes a tuple, takes values of those types, or any.
# Happens: it becomes list[str], and a call with the numbers that the schema asks for is refused before it is sent.
# Matters: a tool that takes a tuple, such as a pair of coordinates, can be listed but never called.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check autogen-core==0.7.5 pydantic==2.14.4
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from autogen_core.utils import schema_to_pydantic_model

numbers = {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2, "maxItems": 2}
model = schema_to_pydantic_model({"type": "object", "properties": {"at": numbers}})
print("at:", model.model_fields["at"].annotation)
try:
    model.model_validate({"at": [52.1, 4.3]})
except ValueError as error:
    print(str(error).splitlines()[0])
else:
    sys.exit("Numbers are accepted now.")
PYTHON
