"""A webhook receiver. It checks each delivery's signature and takes each event once.

Needs Python 3.9 or newer and nothing else:

    WEBHOOK_SECRET=whsec_... python3 callback.py

    WEBHOOK_SECRET  the subscription's secret: POST /api/v1/webhooks shows it once
    PORT            where to listen; 8081 unless set. In public, put https in front of it

Subscribe it with POST /api/v1/webhooks {"url": "https://...", "events": ["run.*"]}, then have a test event sent with
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

    v1 is the HMAC-SHA256 of "<t>.<body>", keyed with the whole secret. While a rotation overlaps there is one v1 for
    each secret. The body is the bytes as they came: JSON that was parsed and written again is other bytes.
    """
    parts = [part.strip() for part in header.split(",")]
    times = [part[2:] for part in parts if part.startswith("t=")]
    # Two times would let the one that is checked differ from the one that is signed.
    if len(times) != 1 or not re.fullmatch("[0-9]{1,12}", times[0]):
        return False
    # What somebody recorded cannot be sent again later.
    if abs(now - int(times[0])) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), times[0].encode() + b"." + body, hashlib.sha256).hexdigest().encode()
    signatures = [part[3:].encode() for part in parts if part.startswith("v1=")]
    # compare_digest takes the same time wherever the difference is.
    return any([hmac.compare_digest(signature, expected) for signature in signatures])


class Seen:
    """The ids of the latest events.

    An event may come several times: a delivery is repeated until a 2xx comes back, and that answer can be lost. In
    memory this holds until the next restart; where it matters, keep the id in the same transaction as what you do.
    """

    def __init__(self, most=10_000):
        self.most = most
        self.ids = OrderedDict()
        self.lock = threading.Lock()

    def add(self, event_id):
        """Returns whether it is new."""
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
    """What you do with an event. Types that you do not know are no error: more may come."""
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
        # Any 2xx says that it has arrived, a repeat too. It has to come within 10 seconds: what takes longer, queue.
        if self.server.seen.add(event["id"]):
            try:
                take(event)
            except Exception:
                # Not taken: the platform sends it again, and then it has to be new.
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
    print("The receiver listens at http://127.0.0.1:{}".format(server.server_port), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
