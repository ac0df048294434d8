"""An agent. It checks that the platform is calling, answers at once, or accepts and finishes later.

Needs Python 3.9 or newer and nothing else:

    SIGNING_SECRET=agsec_... python3 main.py

    SIGNING_SECRET  the app's signing secret: POST /api/v1/dev/apps shows it once
    PORT            where to listen; 8080 unless set. In public, put https in front of it:
                    that address is the manifest's runtime.endpoint

Try it with POST /api/v1/dev/apps/{id}/test-run and one of these bodies:

    {"input": {"name": "Ada"}}     answered at once
    {"input": {"count_down": 3}}   accepted with 202, finished later through the API
    {"input": {}}                  fails with an error code of this agent's own
"""

import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 4 * 1024 * 1024


class AgentError(Exception):
    """Fails the run. Customer and developer see the code and the message: no stack traces in there."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code

    def answer(self):
        return {"status": "failed", "error_code": self.code, "error_message": str(self)}


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


def run(execute):
    """Takes one run.execute and returns the answer: its status, and its body if it has one."""
    # A tool that another agent asks for comes with its arguments as the input.
    wanted = execute["run"]["input"]
    settings = execute["installation"]["settings"]
    try:
        if "count_down" in wanted:
            seconds = wanted["count_down"]
            if type(seconds) is not int or not 1 <= seconds <= 60:
                raise AgentError("count_out_of_range", "count_down is a whole number from 1 to 60.")
            # The platform waits 30 seconds for an answer. What takes longer is accepted first.
            threading.Thread(target=count_down, args=(execute, seconds), daemon=True).start()
            return 202, None
        return 200, greet(wanted, settings)
    except AgentError as error:
        return 200, error.answer()


def greet(wanted, settings):
    if not wanted.get("name"):
        raise AgentError("name_missing", "I do not know whom to greet. Give me a name.")
    text = "{}, {}!".format(settings.get("greeting", "Hello"), wanted["name"])
    return {
        "status": "succeeded",
        "output": {"text": text},
        "steps": [{"type": "message", "output": {"text": text}}],
        "cost_units": 1,
    }


def count_down(execute, seconds):
    """Works on after the 202: tells of its progress, then completes the run."""
    path = "/runs/" + execute["run"]["id"]
    platform = Platform(execute["run"]["id"], execute["callback"])
    try:
        try:
            for number in range(seconds, 0, -1):
                platform.post(path + "/steps", {"type": "message", "output": {"text": str(number)}})
                time.sleep(1)
            answer = {"status": "succeeded", "output": {"text": "Lift-off!"}, "cost_units": seconds}
        except AgentError as error:
            answer = error.answer()
        platform.post(path + "/complete", answer)
    except PlatformError as error:
        # Somebody cancelled it: there is nothing left to do.
        if error.code != "run_already_finished":
            print("the run could not be completed:", error, file=sys.stderr)


class PlatformError(Exception):
    """An answer that is an error. Match on the code; the message may change."""

    def __init__(self, error):
        super().__init__("{code}: {message} {fix} ({request_id})".format(**error))
        self.code = error["code"]


class Platform:
    """The API as one run may use it, with the token that came along."""

    def __init__(self, run_id, callback):
        self.run_id = run_id
        self.base_url = callback["base_url"]
        self.take(callback)

    def take(self, token):
        self.token = token["token"]
        self.expires_at = time.monotonic() + token["expires_in"]

    def post(self, path, body):
        """Sends one request, again if it has to. @raises PlatformError"""
        # The token lives 15 minutes; while it does, it can be exchanged for a new one.
        if self.expires_at - time.monotonic() < 60:
            self.take(self.send("/runs/" + self.run_id + "/callback-token", {}))
        return self.send(path, body)

    def send(self, path, body):
        # With the same key a repeat is recognized as one: no step is written twice.
        key = str(uuid.uuid4())
        for attempt in range(1, 6):
            request = urllib.request.Request(
                self.base_url + path,
                data=json.dumps(body).encode(),
                headers={
                    "Authorization": "Bearer " + self.token,
                    "Content-Type": "application/json",
                    "Idempotency-Key": key,
                },
            )
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    return json.load(response)
            except urllib.error.HTTPError as answer:
                if attempt == 5 or (answer.code != 429 and answer.code < 500):
                    raise PlatformError(json.load(answer)["error"]) from None
                time.sleep(float(answer.headers.get("Retry-After") or attempt))
            except OSError:
                if attempt == 5:
                    raise
                time.sleep(attempt)


class Handler(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= MAX_BODY_BYTES:
            return self.answer(413)
        body = self.rfile.read(length)
        if not is_signed(self.server.secret, self.headers.get("X-SVC-Signature", ""), body, time.time()):
            return self.answer(401)
        self.answer(*run(json.loads(body)))

    def answer(self, status, body=None):
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main():
    secret = os.environ.get("SIGNING_SECRET")
    if not secret:
        sys.exit("SIGNING_SECRET is not set.")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Handler)
    server.secret = secret
    print("The agent listens at http://127.0.0.1:{}".format(server.server_port), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
