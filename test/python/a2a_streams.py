"""A transport for the official A2A clients that cuts streams, and resumes them with Last-Event-ID. The protocol has no ids of events."""

import re

import httpx

SUBSCRIBES = re.compile(rb'"(SubscribeToTask|tasks/resubscribe)"')


class ResumingTransport(httpx.AsyncHTTPTransport):
    def __init__(self):
        super().__init__()
        self.last = None
        self.most = None

    def cut_after(self, events: int) -> None:
        """Cuts the next stream after so many events, as a connection that breaks does."""
        self.most = events

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        subscribes = request.url.path.endswith(":subscribe") or SUBSCRIBES.search(await request.aread())
        if self.last is not None and subscribes:
            request.headers["last-event-id"] = self.last
        response = await super().handle_async_request(request)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = Cut(response.stream, self, self.most)
            self.most = None
        return response


class Cut(httpx.AsyncByteStream):
    def __init__(self, source, transport: ResumingTransport, most: int | None):
        self.source, self.transport, self.most = source, transport, most

    async def __aiter__(self):
        text, events = b"", 0
        async for piece in self.source:
            text += piece.replace(b"\r\n", b"\n")
            while b"\n\n" in text:
                event, text = text.split(b"\n\n", 1)
                found = re.search(rb"^id: ?(.*)$", event, re.M)
                if found:
                    self.transport.last = found[1].decode()
                    events += 1
                yield event + b"\n\n"
                if events == self.most:
                    return

    async def aclose(self) -> None:
        await self.source.aclose()
