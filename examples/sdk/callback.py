"""A webhook receiver that verifies each delivery's signature and handles each event once.

Requires only Python 3.9 or later:

    WEBHOOK_SECRET=whsec_... python3 callback.py

    WEBHOOK_SECRET  the subscription's secret, shown once by POST /api/v1/webhooks
    PORT            port to listen on; default: 8081. In production, put HTTPS in front of it

Subscribe to events with POST /api/v1/webhooks {"url": "https://...", "events": ["run.*"]}, then send a test event with
POST /api/v1/webhooks/{id}/test.
"""

import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 1024 * 1024


def is_signed(secret, header, body, now):
    """Checks X-SVC-Signature: t=<unix seconds>,v1=<hex>.

    v1 is the HMAC-SHA256 of "<t>.<body>", keyed with the whole secret. During a rotation there is one v1 for each
    secret. Pass the raw bytes of the body: JSON that was parsed and serialized again can differ.
    """
    parts = [part.strip() for part in header.split(",")]
    times = [part[2:] for part in parts if part.startswith("t=")]
    # With two timestamps, the one that is checked could differ from the one that is signed.
    if len(times) != 1 or not re.fullmatch("[0-9]{1,12}", times[0]):
        return False
    # Prevents replays of recorded requests.
    if abs(now - int(times[0])) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), times[0].encode() + b"." + body, hashlib.sha256).hexdigest().encode()
    signatures = [part[3:].encode() for part in parts if part.startswith("v1=")]
    # compare_digest takes constant time, so its timing doesn't reveal where the difference is.
    return any([hmac.compare_digest(signature, expected) for signature in signatures])


class Seen:
    """IDs of the latest events.

    An event can arrive more than once: the platform repeats a delivery until it gets a 2xx, and that response can be
    lost. This set is lost on restart. In production, store the ID in the same transaction as your own changes.
    """

    def __init__(self, most=10_000):
        self.most = most
        self.ids = OrderedDict()
        self.lock = threading.Lock()

    def add(self, event_id):
        """Stores an ID and returns whether it is new."""
        with self.lock:
            if event_id in self.ids:
                return False
            self.ids[event_id] = True
            if len(self.ids) > self.most:
                self.ids.popitem(last=False)
            return True

    def forget(self, event_id):
        with self.lock:
            self.ids.pop(event_id, None)


def take(event):
    """Handles an event. Unknown types aren't errors, because new ones can be added."""
    if event["type"] == "run.succeeded":
        print("{run_id} succeeded in {duration_ms} ms".format(**event["data"]), flush=True)
    elif event["type"] == "run.failed":
        print("{run_id} failed: {error_code}".format(**event["data"]), flush=True)
    else:
        print("{type} {id}".format(**event), flush=True)


class Handler(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= MAX_BODY_BYTES:
            return self.answer(413)
        body = self.rfile.read(length)
        if not is_signed(self.server.secret, self.headers.get("X-SVC-Signature", ""), body, time.time()):
            return self.answer(401)
        event = json.loads(body)
        # Any 2xx within 10 seconds confirms a delivery, including a repeated one. Put longer work into a queue.
        if self.server.seen.add(event["id"]):
            try:
                take(event)
            except Exception:
                # The platform sends the event again, and it has to count as new then.
                self.server.seen.forget(event["id"])
                self.answer(500)
                raise
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def main():
    secret = os.environ.get("WEBHOOK_SECRET")
    if not secret:
        sys.exit("WEBHOOK_SECRET is not set.")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8081"))), Handler)
    server.secret = secret
    server.seen = Seen()
    print("The receiver is listening at http://127.0.0.1:{}".format(server.server_port), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
