"""Verifies push notifications as their receiver, and reads them with the official types: python a2a_pushes.py <token>.

Takes a JSON list of {signature, body} from stdin. Prints the state of each, and fails unless every altered one is refused.
"""

import json
import sys

from agent_integration_platform.verify import is_signed

try:
    from a2a.types.a2a_pb2 import StreamResponse, TaskState
    from google.protobuf.json_format import Parse

    def state_of(body: str) -> str:
        event = Parse(body, StreamResponse())
        kind = event.WhichOneof("payload")
        if kind == "artifact_update":
            return "artifact"
        status = event.task.status if kind == "task" else event.status_update.status
        return TaskState.Name(status.state).removeprefix("TASK_STATE_")

except ImportError:
    from a2a.types import Task

    def state_of(body: str) -> str:
        return Task.model_validate_json(body).status.state.value.upper()


[TOKEN] = sys.argv[1:]
states = []
for push in json.load(sys.stdin):
    body = push["body"].encode()

    def accepts(token: str, signature: str, content: bytes) -> bool:
        return is_signed(token, {"X-SVC-Signature": signature}, content)

    assert accepts(TOKEN, push["signature"], body), push
    altered = [
        (TOKEN, push["signature"], body.replace(b"run_", b"run-", 1)),
        (TOKEN, push["signature"], body + b" "),
        (TOKEN, push["signature"].replace("t=", "t=1", 1), body),
        ("another", push["signature"], body),
    ]
    assert not any(accepts(*one) for one in altered), push
    states.append(state_of(push["body"]))
print(json.dumps(states))
