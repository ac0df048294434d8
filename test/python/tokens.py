"""A backend that keeps the tokens of an installation, blocking and on the event loop. Prints what it saw as JSON."""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agent_integration_platform import Api, AsyncApi, PlatformError, Tokens

BASE, CLIENT_ID, CLIENT_SECRET, REFRESH_TOKEN = sys.argv[1:]
OUTDATED = "outdated"

stored: list[Tokens] = []
failing = False


def store(pair: Tokens) -> None:
    if failing:
        raise OSError("The disk is full.")
    stored.append(pair)


async def store_async(pair: Tokens) -> None:
    await asyncio.sleep(0)
    store(pair)


def api(tokens: Tokens) -> Api:
    return Api(BASE, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, tokens=tokens, on_tokens=store)


def async_api(tokens: Tokens) -> AsyncApi:
    return AsyncApi(BASE, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, tokens=tokens, on_tokens=store_async)


def outdated() -> Tokens:
    """Returns the stored pair as it is two hours later."""
    return Tokens(OUTDATED, stored[-1].refresh_token if stored else REFRESH_TOKEN)


def blocking() -> dict[str, Any]:
    global failing
    client = api(outdated())
    with ThreadPoolExecutor(5) as threads:
        names = list(threads.map(lambda _: client.get("/api/v1/me")["app"]["slug"], range(5)))
    refreshed = len(stored)
    rotated = stored[-1].refresh_token != REFRESH_TOKEN
    # Another process goes on with what was stored.
    again = api(stored[-1]).get("/api/v1/me")["app"]["slug"] == names[0]

    client, failing = api(outdated()), True
    try:
        client.get("/api/v1/me")
        unstored = "used"
    except OSError as error:
        unstored = str(error)
    failing = False
    recovered = client.get("/api/v1/me")["app"]["slug"] == names[0]
    return {
        "names": len(set(names)),
        "refreshed": refreshed,
        "rotated": rotated,
        "again": again,
        "unstored": unstored,
        "recovered": recovered,
        "stored": len(stored),
    }


async def on_the_loop() -> dict[str, Any]:
    global failing
    before = len(stored)
    client = async_api(outdated())
    answers = await asyncio.gather(*(client.get("/api/v1/me") for _ in range(5)))
    names = [answer["app"]["slug"] for answer in answers]
    refreshed = len(stored) - before
    rotated = stored[-1].refresh_token != stored[before - 1].refresh_token
    again = (await async_api(stored[-1]).get("/api/v1/me"))["app"]["slug"] == names[0]

    client, failing = async_api(outdated()), True
    try:
        await client.get("/api/v1/me")
        unstored = "used"
    except OSError as error:
        unstored = str(error)
    failing = False
    recovered = (await client.get("/api/v1/me"))["app"]["slug"] == names[0]
    return {
        "names": len(set(names)),
        "refreshed": refreshed,
        "rotated": rotated,
        "again": again,
        "unstored": unstored,
        "recovered": recovered,
        "stored": len(stored) - before,
    }


def disconnected() -> str:
    try:
        api(Tokens(OUTDATED, "rft_unknown")).get("/api/v1/me")
    except PlatformError as error:
        return error.code
    return "none"


print(json.dumps([blocking(), asyncio.run(on_the_loop()), disconnected()]))
