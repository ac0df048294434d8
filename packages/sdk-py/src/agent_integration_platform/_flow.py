"""Steps of a call, without I/O: generators yield what they need, and a driver does it with or without `await`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar, Union, cast

import httpx


@dataclass(frozen=True)
class Send:
    """Sends a request. The generator receives the response, or `httpx.TransportError` is raised in it."""

    request: httpx.Request


@dataclass(frozen=True)
class Pause:
    """Waits for some seconds."""

    seconds: float


Effect = Union[Send, Pause]
T = TypeVar("T")
Flow = Generator[Effect, Any, T]


def drive(flow: Flow[T], client: httpx.Client) -> T:
    """Runs a flow to its end, blocking."""
    answer: Any = None
    failure: Exception | None = None
    while True:
        try:
            effect = flow.send(answer) if failure is None else flow.throw(failure)
        except StopIteration as end:
            return cast(T, end.value)
        answer, failure = None, None
        try:
            if isinstance(effect, Send):
                answer = client.send(effect.request)
            else:
                time.sleep(effect.seconds)
        except httpx.TransportError as error:
            failure = error


async def drive_async(flow: Flow[T], client: httpx.AsyncClient) -> T:
    """Runs a flow to its end on the event loop."""
    answer: Any = None
    failure: Exception | None = None
    while True:
        try:
            effect = flow.send(answer) if failure is None else flow.throw(failure)
        except StopIteration as end:
            return cast(T, end.value)
        answer, failure = None, None
        try:
            if isinstance(effect, Send):
                answer = await client.send(effect.request)
            else:
                await asyncio.sleep(effect.seconds)
        except httpx.TransportError as error:
            failure = error
