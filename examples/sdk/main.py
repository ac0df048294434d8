"""An agent that verifies the platform's signature and answers immediately, or accepts the run and completes it later.

Requires only Python 3.9 or later:

    SIGNING_SECRET=agsec_... python3 main.py

    SIGNING_SECRET  the app's signing secret, shown once by POST /api/v1/dev/apps
    PORT            port to listen on; default: 8080. In production, put HTTPS in front of it
                    and use that address as the manifest's runtime.endpoint

Try it with POST /api/v1/dev/apps/{id}/test-run and one of these bodies:

    {"input": {"name": "Ada"}}     answered immediately
    {"input": {"count_down": 3}}   accepted with 202 and completed later through the API
    {"input": {}}                  fails with one of this agent's own error codes
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
    """Fails the run. The customer and the developer see the code and the message, so don't include stack traces."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code

    def answer(self):
        return {"status": "failed", "error_code": self.code, "error_message": str(self)}


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


def run(execute):
    """Handles a run.execute request and returns the status and, if any, the body of the answer."""
    # If another agent calls a tool, the input contains the tool's arguments.
    run_input = execute["run"]["input"]
    settings = execute["installation"]["settings"]
    try:
        if "count_down" in run_input:
            seconds = run_input["count_down"]
            if type(seconds) is not int or not 1 <= seconds <= 60:
                raise AgentError("count_out_of_range", "count_down must be a whole number from 1 to 60.")
            # The platform waits 30 seconds for an answer, so longer work is accepted first.
            threading.Thread(target=count_down, args=(execute, seconds), daemon=True).start()
            return 202, None
        return 200, greet(run_input, settings)
    except AgentError as error:
        return 200, error.answer()


def greet(run_input, settings):
    if not run_input.get("name"):
        raise AgentError("name_missing", "The input has no name to greet.")
    text = "{}, {}!".format(settings.get("greeting", "Hello"), run_input["name"])
    return {
        "status": "succeeded",
        "output": {"text": text},
        "steps": [{"type": "message", "output": {"text": text}}],
        "cost_units": 1,
    }


def count_down(execute, seconds):
    """Continues after the 202: reports progress, then completes the run."""
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
        # The run was cancelled, so there is nothing left to do.
        if error.code != "run_already_finished":
            print("The run could not be completed:", error, file=sys.stderr)


class PlatformError(Exception):
    """An error response. Match on the code, because the message can change."""

    def __init__(self, error):
        super().__init__("{code}: {message} {fix} ({request_id})".format(**error))
        self.code = error["code"]


class Platform:
    """Client for one run, with the run's callback token."""

    def __init__(self, run_id, callback):
        self.run_id = run_id
        self.base_url = callback["base_url"]
        self.take(callback)

    def take(self, token):
        self.token = token["token"]
        self.expires_at = time.monotonic() + token["expires_in"]

    def post(self, path, body):
        """Sends a request and retries it if necessary. Raises PlatformError."""
        # The token is valid for 15 minutes, and can be exchanged for a new one before it expires.
        if self.expires_at - time.monotonic() < 60:
            self.take(self.send("/runs/" + self.run_id + "/callback-token", {}))
        return self.send(path, body)

    def send(self, path, body):
        # All attempts share a key, so the platform recognizes repeats and writes no step twice.
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
    print("The agent is listening at http://127.0.0.1:{}".format(server.server_port), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
