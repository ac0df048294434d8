"""Clients of the API: `Api` blocks, `AsyncApi` runs on the event loop."""

from __future__ import annotations

import asyncio
import random
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Union, cast

import httpx

from ._flow import Flow, Pause, Send, drive, drive_async
from .errors import PlatformError

Json = dict[str, Any]
Query = Mapping[str, Union[str, int, float, bool, None]]

ATTEMPTS = 5
TIMEOUT = httpx.Timeout(310.0, connect=10.0)
"""Longer than the platform takes for its slowest answers, which wait for an agent."""


@dataclass(frozen=True)
class Tokens:
    """Access and refresh token of one installation."""

    access_token: str
    refresh_token: str


def send_with_retries(request: httpx.Request) -> Flow[httpx.Response]:
    """Sends a request until it is answered, up to five times. It must be safe to repeat."""
    attempt = 1
    while True:
        last = attempt == ATTEMPTS
        response: httpx.Response | None = None
        try:
            response = cast(httpx.Response, (yield Send(request)))
            if last or not _is_temporary(response):
                return response
        except httpx.TransportError as error:
            # A repeat of a request that got no answer in time would wait as long again.
            if last or isinstance(error, (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout)):
                raise
        yield Pause(_delay_before(attempt, response))
        attempt += 1


def _is_temporary(response: httpx.Response) -> bool:
    status = response.status_code
    return status == 429 or status >= 500 or (status == 409 and "retry-after" in response.headers)


def _delay_before(attempt: int, response: httpx.Response | None) -> float:
    """Exponential up to 15 s with full jitter, and at least as `Retry-After` says."""
    asked = response.headers.get("retry-after", "") if response is not None else ""
    least = min(int(asked), 60) if asked.isdecimal() else 0
    return least + random.random() * min(15.0, 0.25 * 2.0**attempt)


def data_of(response: httpx.Response) -> Json:
    """Returns the data of a response. Raises `PlatformError` if it is an error."""
    try:
        body: object = response.json() if response.content else {}
    except ValueError:
        body = None
    if response.is_success and isinstance(body, dict):
        return cast(Json, body)
    error = cast(Json, body).get("error") if isinstance(body, dict) else None
    if isinstance(error, dict) and isinstance(cast(Json, error).get("code"), str):
        raise PlatformError(response.status_code, cast(Json, error))
    raise PlatformError(
        response.status_code,
        {
            "code": "internal_error",
            "message": f"The response (HTTP {response.status_code}) isn’t from the platform.",
            "fix": "Check the base address, and try again.",
            "request_id": response.headers.get("x-request-id", ""),
        },
    )


class Requests:
    """Builds requests and decides what follows their answers, for both clients."""

    def __init__(self, base_url: str, traceparent: str | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self.traceparent = traceparent

    def call(self, method: str, path: str, token: str, body: object, query: Query | None, key: str) -> Flow[httpx.Response]:
        headers = {"authorization": f"Bearer {token}"}
        if method == "POST":
            # The platform recognizes repeats by this key.
            headers["idempotency-key"] = key
        if self.traceparent is not None:
            headers["traceparent"] = self.traceparent
        params = {name: value for name, value in (query or {}).items() if value is not None}
        # httpx sends no body for None.
        request = httpx.Request(method, self.base_url + path, params=params, headers=headers, json=body)
        if method in ("GET", "POST"):
            return (yield from send_with_retries(request))
        return cast(httpx.Response, (yield Send(request)))

    def refresh(self, client_id: str, client_secret: str, refresh_token: str, key: str) -> Flow[Tokens]:
        """Exchanges a refresh token. A repeat with the same key gets the same pair, instead of counting as reuse."""
        request = httpx.Request(
            "POST",
            f"{self.base_url}/oauth/token",
            headers={"idempotency-key": key},
            data={
                "grant_type": "refresh_token",
                "client_id": client_id,
                "client_secret": client_secret,
                "refresh_token": refresh_token,
            },
        )
        pair = data_of((yield from send_with_retries(request)))
        return Tokens(pair["access_token"], pair["refresh_token"])


class Api:
    """The API for one installation.

    Sends the access token with each request and an `Idempotency-Key` with each POST, and repeats requests that were lost or that
    the platform was too busy for. With `tokens`, it refreshes an expired token and repeats the request once.

    Args:
        base_url: the platform's address.
        token: access token, or a function that returns a valid one.
        client_id: of the app; with `client_secret` and `tokens` instead of `token`.
        on_tokens: stores the new pair, encrypted, in place of the old one. Using an old refresh token again would revoke the
            whole chain, so the client uses the new pair only after this function returned.
        traceparent: W3C trace context that is sent with each request.
        client: the httpx client to use, for proxies or tests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str | Callable[[], str] | None = None,
        client_id: str | None = None,
        client_secret: str | None = None,
        tokens: Tokens | None = None,
        on_tokens: Callable[[Tokens], None] | None = None,
        traceparent: str | None = None,
        client: httpx.Client | None = None,
    ) -> None:
        self._requests = Requests(base_url, traceparent)
        self._client = client or httpx.Client(timeout=TIMEOUT)
        self._token = token
        self._credentials = _credentials(token, client_id, client_secret, tokens)
        self._tokens = tokens
        self._on_tokens = on_tokens
        self._renewal = str(uuid.uuid4())
        self._lock = threading.Lock()

    def request(self, method: str, path: str, body: object = None, query: Query | None = None) -> Json:
        """Calls an endpoint, such as `request('POST', '/api/v1/runs', {'input': {}})`. Raises `PlatformError`."""
        key = str(uuid.uuid4())
        token = self._current()
        response = drive(self._requests.call(method, path, token, body, query, key), self._client)
        if response.status_code == 401 and self._credentials is not None:
            self._renew(token)
            response = drive(self._requests.call(method, path, self._current(), body, query, key), self._client)
        return data_of(response)

    def get(self, path: str, **query: str | int | float | bool | None) -> Json:
        """Reads, such as `get('/api/v1/runs', limit=50)`."""
        return self.request("GET", path, query=query)

    def post(self, path: str, body: object = None) -> Json:
        """Calls an endpoint with POST. A repeat after a lost answer has no second effect."""
        return self.request("POST", path, {} if body is None else body)

    def pages(self, path: str, **query: str | int | float | bool | None) -> Iterator[Json]:
        """Yields all items of a list, page by page."""
        cursor: str | None = None
        while True:
            page = self.get(path, **{**query, "cursor": cursor})
            yield from page["items"]
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def _current(self) -> str:
        if self._tokens is not None:
            return self._tokens.access_token
        return self._token() if callable(self._token) else cast(str, self._token)

    def _renew(self, refused: str) -> None:
        # One refresh for all threads, because a refresh token works only once.
        with self._lock:
            if self._credentials is None or self._tokens is None or self._tokens.access_token != refused:
                return
            # The key changes only after the pair is stored, so that a repeat after a failure isn't reuse of the old token.
            flow = self._requests.refresh(*self._credentials, self._tokens.refresh_token, self._renewal)
            pair = drive(flow, self._client)
            if self._on_tokens is not None:
                self._on_tokens(pair)
            self._tokens = pair
            self._renewal = str(uuid.uuid4())


class AsyncApi:
    """The API for one installation, on the event loop. Takes what `Api` takes; `token` and `on_tokens` may be coroutines."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | Callable[[], Awaitable[str]] | None = None,
        client_id: str | None = None,
        client_secret: str | None = None,
        tokens: Tokens | None = None,
        on_tokens: Callable[[Tokens], Awaitable[None]] | None = None,
        traceparent: str | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._requests = Requests(base_url, traceparent)
        self._client = client or httpx.AsyncClient(timeout=TIMEOUT)
        self._token = token
        self._credentials = _credentials(token, client_id, client_secret, tokens)
        self._tokens = tokens
        self._on_tokens = on_tokens
        self._renewal = str(uuid.uuid4())
        self._lock = asyncio.Lock()

    async def request(self, method: str, path: str, body: object = None, query: Query | None = None) -> Json:
        """Calls an endpoint, such as `await request('POST', '/api/v1/runs', {'input': {}})`. Raises `PlatformError`."""
        key = str(uuid.uuid4())
        token = await self._current()
        response = await drive_async(self._requests.call(method, path, token, body, query, key), self._client)
        if response.status_code == 401 and self._credentials is not None:
            await self._renew(token)
            token = await self._current()
            response = await drive_async(self._requests.call(method, path, token, body, query, key), self._client)
        return data_of(response)

    async def get(self, path: str, **query: str | int | float | bool | None) -> Json:
        """Reads, such as `await get('/api/v1/runs', limit=50)`."""
        return await self.request("GET", path, query=query)

    async def post(self, path: str, body: object = None) -> Json:
        """Calls an endpoint with POST. A repeat after a lost answer has no second effect."""
        return await self.request("POST", path, {} if body is None else body)

    async def pages(self, path: str, **query: str | int | float | bool | None) -> AsyncIterator[Json]:
        """Yields all items of a list, page by page."""
        cursor: str | None = None
        while True:
            page = await self.get(path, **{**query, "cursor": cursor})
            for item in page["items"]:
                yield item
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def _current(self) -> str:
        if self._tokens is not None:
            return self._tokens.access_token
        return await self._token() if callable(self._token) else cast(str, self._token)

    async def _renew(self, refused: str) -> None:
        # One refresh for all tasks, because a refresh token works only once.
        async with self._lock:
            if self._credentials is None or self._tokens is None or self._tokens.access_token != refused:
                return
            # The key changes only after the pair is stored, so that a repeat after a failure isn't reuse of the old token.
            flow = self._requests.refresh(*self._credentials, self._tokens.refresh_token, self._renewal)
            pair = await drive_async(flow, self._client)
            if self._on_tokens is not None:
                await self._on_tokens(pair)
            self._tokens = pair
            self._renewal = str(uuid.uuid4())


def _credentials(
    token: object, client_id: str | None, client_secret: str | None, tokens: Tokens | None
) -> tuple[str, str] | None:
    if token is not None:
        return None
    if client_id is None or client_secret is None or tokens is None:
        raise TypeError("Give token, or client_id, client_secret and tokens.")
    return (client_id, client_secret)
