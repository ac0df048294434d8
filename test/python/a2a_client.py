"""Talks to an installed agent with the official client: python a2a_client.py <url> <token> <push url>. Prints one line for each binding."""

import asyncio
import json
import sys
import uuid

import httpx
import jwt
from a2a.client import ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a
from a2a.utils.signing import create_signature_verifier
from a2a_streams import ResumingTransport
from google.protobuf.json_format import MessageToDict, ParseDict

URL, TOKEN, PUSH = sys.argv[1:]


def looking(item: str = "mugs") -> a2a.Message:
    part = {"data": {"skill": "look", "arguments": {"item": item}}}
    return ParseDict({"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [part]}, a2a.Message())


def verify(card: a2a.AgentCard) -> None:
    def key(kid, jku):
        keys = httpx.get(jku, timeout=60).json()["keys"]
        return jwt.PyJWK.from_dict(next(one for one in keys if one["kid"] == kid))

    check = create_signature_verifier(key, ["ES256"])
    check(card)
    changed = a2a.AgentCard()
    changed.CopyFrom(card)
    changed.name = "Evil"
    try:
        check(changed)
    except Exception:
        return
    raise AssertionError("a changed card was accepted")


def described(event: a2a.StreamResponse) -> str:
    kind = event.WhichOneof("payload")
    if kind == "artifact_update":
        return f"artifact {event.artifact_update.artifact.artifact_id}"
    status = event.task.status if kind == "task" else event.status_update.status
    state = a2a.TaskState.Name(status.state).removeprefix("TASK_STATE_")
    text = status.message.parts[0].text if status.message.parts else ""
    return " ".join(part for part in ("task" if kind == "task" else "", state, text) if part)


async def cut_everywhere(client, transport: ResumingTransport) -> list[str]:
    """Follows a task whose streams are all cut after one event."""
    seen = []
    transport.cut_after(1)
    async for event in client.send_message(a2a.SendMessageRequest(message=looking("steps"))):
        seen.append(described(event))
        task_id = event.task.id
    while seen[-1] != "COMPLETED" and len(seen) < 30:
        await asyncio.sleep(0.2)
        transport.cut_after(1)
        async for event in client.subscribe(a2a.SubscribeToTaskRequest(id=task_id)):
            seen.append(described(event))
    return seen


async def use(binding: str) -> None:
    transport = ResumingTransport()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(headers=headers, timeout=60, transport=transport) as http:
        factory = ClientFactory(
            ClientConfig(
                httpx_client=http, supported_protocol_bindings=[binding], use_client_preference=True, streaming=True
            )
        )
        client = await factory.create_from_url(URL)
        events = [event async for event in client.send_message(a2a.SendMessageRequest(message=looking()))]
        first, last = events[0], events[-1]
        assert first.HasField("task"), first
        assert last.status_update.status.state == a2a.TASK_STATE_COMPLETED, last
        task = await client.get_task(a2a.GetTaskRequest(id=first.task.id))
        output = MessageToDict(task.artifacts[0].parts[0].data)
        tasks = await client.list_tasks(a2a.ListTasksRequest(context_id=task.context_id))
        assert [one.id for one in tasks.tasks] == [task.id]

        async for event in client.send_message(a2a.SendMessageRequest(message=looking("slow"))):
            slow_id = event.task.id
            break
        config = a2a.TaskPushNotificationConfig(task_id=slow_id, url=PUSH, token="tell-me")
        made = await client.create_task_push_notification_config(config)
        listed = await client.list_task_push_notification_configs(
            a2a.ListTaskPushNotificationConfigsRequest(task_id=slow_id)
        )
        assert [one.id for one in listed.configs] == [made.id]
        # Without Last-Event-ID, it begins with the task.
        transport.last = None
        async for event in client.subscribe(a2a.SubscribeToTaskRequest(id=slow_id)):
            assert event.task.id == slow_id, event
            break
        gone = await client.create_task_push_notification_config(config)
        await client.delete_task_push_notification_config(
            a2a.DeleteTaskPushNotificationConfigRequest(task_id=slow_id, id=gone.id)
        )
        cancelled = await client.cancel_task(a2a.CancelTaskRequest(id=slow_id))
        assert cancelled.status.state == a2a.TASK_STATE_CANCELED, cancelled
        card = await client.get_extended_agent_card(a2a.GetExtendedAgentCardRequest())
        verify(card)
        seen = await cut_everywhere(client, transport)
        print(json.dumps({"binding": binding, "found": int(output["found"]), "pushed": slow_id, "seen": seen}))


for binding in ("JSONRPC", "HTTP+JSON"):
    asyncio.run(use(binding))
