#!/usr/bin/env bash
# Subject: autogen-core 0.7.5 (PyPI), which turns the JSON Schema of each MCP tool into a Pydantic model.
# Expected: a string of "format": "uuid" takes any UUID, as RFC 9562 and JSON Schema mean it.
# Happens: it becomes UUID4, so a UUID of version 1 or 7 is refused before the tool is called.
# Matters: records with sortable ids have version 7. A model that passes on such an id can't call the tool. Leave the format out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check autogen-core==0.7.5 pydantic==2.14.4
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from autogen_core.utils import schema_to_pydantic_model

model = schema_to_pydantic_model({"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}})
taken = []
for version, value in {4: "550e8400-e29b-41d4-a716-446655440000", 7: "019a3c1e-7c1b-7aaa-8bbb-123456789abc"}.items():
    try:
        model.model_validate({"id": value})
        taken.append(version)
    except ValueError as error:
        print(f"version {version}:", str(error).splitlines()[2].strip())
print("taken: version", *taken)
if taken != [4]:
    sys.exit("changed")
PYTHON
