"""Records the options of the AWS commands that the documents name, from botocore's models, which the AWS CLI is made of.

Usage: python3 -m venv v && v/bin/pip install botocore && v/bin/python test/docs/aws-options.py
To add a command, add its key to aws-options.json.
"""

import json
import pathlib

import botocore.session
from botocore import xform_name

FILE = pathlib.Path(__file__).with_name("aws-options.json")
# Commands of the CLI that no operation stands behind.
OWN = {
    "cloudformation deploy": (
        ["template-file", "stack-name", "capabilities", "parameter-overrides", "role-arn", "tags", "s3-bucket"],
        ["template-file", "stack-name"],
    )
}
SERVICES = {"s3api": "s3"}
# Options that the CLI renames.
RENAMED = {"sns subscribe": {"endpoint": "notification-endpoint"}}
session = botocore.session.get_session()


def dashed(name: str) -> str:
    return xform_name(name).replace("_", "-")


def options_of(command: str) -> dict[str, list[str]]:
    if command in OWN:
        known, required = OWN[command]
        return {"options": sorted(known), "required": required}
    service, name, *more = command.split(" ")
    service = SERVICES.get(service, service)
    model = session.get_service_model(service)
    if name == "wait":
        waiters = session.get_waiter_model(service)
        waiter = next(one for one in waiters.waiter_names if dashed(one) == more[0])
        operation = waiters.get_waiter(waiter).operation
    else:
        operation = next(one for one in model.operation_names if dashed(one) == name)
    shape = model.operation_model(operation).input_shape
    members = shape.members if shape else {}
    renamed = RENAMED.get(command, {})
    options = [renamed.get(dashed(member), dashed(member)) for member in members]
    options += [f"no-{dashed(member)}" for member, of in members.items() if of.type_name == "boolean"]
    return {"options": sorted(options), "required": [dashed(one) for one in (shape.required_members if shape else [])]}


recorded = {command: options_of(command) for command in sorted(json.loads(FILE.read_text()))}
lines = [f"  {json.dumps(command)}: {json.dumps(options)}" for command, options in recorded.items()]
FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
