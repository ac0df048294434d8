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
from google.protobuf.json_format import MessageToDict, ParseDict

URL, TOKEN, PUSH = sys.argv[1:]


def looking(item: str = "mugs") -> a2a.Message:
    part = {"data": {"skill": "look", "arguments": {"item": item}}}
    return ParseDict({"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [part]}, a2a.Message())


def verify(card: a2a.AgentCard) -> None:
    def key(kid, jku):
        keys = httpx.get(jku).json()["keys"]
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


async def use(binding: str) -> None:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30) as http:
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
        async for event in client.subscribe(a2a.SubscribeToTaskRequest(id=slow_id)):
            assert event.task.id == slow_id, event
            break
        cancelled = await client.cancel_task(a2a.CancelTaskRequest(id=slow_id))
        assert cancelled.status.state == a2a.TASK_STATE_CANCELED, cancelled
        await client.delete_task_push_notification_config(
            a2a.DeleteTaskPushNotificationConfigRequest(task_id=slow_id, id=made.id)
        )
        card = await client.get_extended_agent_card(a2a.GetExtendedAgentCardRequest())
        verify(card)
        print(json.dumps([binding, int(output["found"]), slow_id]))


for binding in ("JSONRPC", "HTTP+JSON"):
    asyncio.run(use(binding))
