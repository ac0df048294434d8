"""Talks to an installed agent with the official client 0.3: python a2a_client_03.py <url> <token> <push url>. Prints one line for each binding."""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    DataPart,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
)
from a2a_streams import ResumingTransport

URL, TOKEN, PUSH = sys.argv[1:]


def looking(item: str = "mugs") -> Message:
    data = {"skill": "look", "arguments": {"item": item}}
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=DataPart(data=data))])


def described(event) -> str:
    task, update = event
    if isinstance(update, TaskArtifactUpdateEvent):
        return f"artifact {update.artifact.artifact_id}"
    status = (update or task).status
    # Over HTTP+JSON, an absent message has no parts.
    text = status.message.parts[0].root.text if status.message and status.message.parts else ""
    words = ("" if update else "task", status.state.value.upper(), text)
    return " ".join(word for word in words if word)


async def cut_everywhere(client, transport: ResumingTransport) -> list[str]:
    """Follows a task whose streams are all cut after one event."""
    seen = []
    transport.cut_after(1)
    async for event in client.send_message(looking("steps")):
        seen.append(described(event))
        task_id = event[0].id
    while seen[-1] != "COMPLETED" and len(seen) < 30:
        await asyncio.sleep(0.2)
        transport.cut_after(1)
        async for event in client.resubscribe(TaskIdParams(id=task_id)):
            seen.append(described(event))
    return seen


async def use(binding: str) -> None:
    transport = ResumingTransport()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(headers=headers, timeout=60, transport=transport) as http:
        card = await A2ACardResolver(http, f"{URL}/v0.3").get_agent_card()
        config = ClientConfig(httpx_client=http, supported_transports=[binding], use_client_preference=True)
        client = ClientFactory(config).create(card)
        events = [event async for event in client.send_message(looking())]
        task, update = events[-1]
        assert update.status.state == TaskState.completed, update
        task = await client.get_task(TaskQueryParams(id=task.id))
        output = task.artifacts[0].parts[0].root.data

        async for task, _ in client.send_message(looking("slow")):
            slow_id = task.id
            break
        push = PushNotificationConfig(url=PUSH, token="tell-me")
        made = await client.set_task_callback(TaskPushNotificationConfig(task_id=slow_id, push_notification_config=push))
        assert made.push_notification_config.url == PUSH, made
        # Without Last-Event-ID, it begins with the task.
        transport.last = None
        async for task, _ in client.resubscribe(TaskIdParams(id=slow_id)):
            assert task.id == slow_id, task
            break
        cancelled = await client.cancel_task(TaskIdParams(id=slow_id))
        assert cancelled.status.state == TaskState.canceled, cancelled
        seen = await cut_everywhere(client, transport)
        print(json.dumps({"binding": binding, "found": int(output["found"]), "pushed": slow_id, "seen": seen}))


for binding in ("JSONRPC", "HTTP+JSON"):
    asyncio.run(use(binding))
