"""An installation: from the customer's consent to a token that works, by OAuth 2.0 with PKCE.

Needs Python 3.9 or newer and nothing else:

    CLIENT_ID=... CLIENT_SECRET=... python3 install.py

    CLIENT_ID, CLIENT_SECRET  the app's: POST /api/v1/dev/apps shows the secret once
    REDIRECT_URI              one of the app's redirect_uris, character for character;
                              http://127.0.0.1:8765/callback unless set
    SCOPE                     what to ask for, separated by spaces; all that the app requests unless set
    BASE_URL                  the platform; http://127.0.0.1:3000 unless set

It prints an address. Open it, consent, and it says who you are.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer

# Consent can be given for 10 minutes.
CONSENT_SECONDS = 600


def call(method, url, headers=None, form=None):
    data = None if form is None else urllib.parse.urlencode(form).encode()
    request = urllib.request.Request(url, data=data, headers=headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError as answer:
        sys.exit("{code}: {message} {fix}".format(**json.load(answer)["error"]))


def authorize_url(base_url, client_id, redirect_uri, scope, state, verifier):
    challenge = hashlib.sha256(verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    if scope:
        query["scope"] = scope
    return base_url + "/oauth/authorize?" + urllib.parse.urlencode(query)


class Handler(BaseHTTPRequestHandler):
    """Where the browser comes back to."""

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        back = dict(urllib.parse.parse_qsl(address.query))
        if address.path != self.server.path:
            return self.answer(404, "There is nothing here.")
        # Without the state that went out it is not the answer to this request (RFC 6749 section 10.12), and with
        # another issuer it is another server's (RFC 9207). Neither ends the wait: the right answer may still come.
        if not hmac.compare_digest(back.get("state", "").encode(), self.server.state.encode()):
            return self.answer(400, "This is not the answer to the request that was made here.")
        if back.get("iss") != self.server.issuer:
            return self.answer(400, "This comes from another server.")
        self.server.back = back
        self.answer(200, "Done. You can close this page.")

    def answer(self, status, text):
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """The address holds the code: it does not belong into a log."""


def wait_for_answer(server):
    server.timeout = CONSENT_SECONDS
    server.timed_out = False
    server.back = None

    def handle_timeout():
        server.timed_out = True

    server.handle_timeout = handle_timeout
    while server.back is None:
        server.handle_request()
        if server.timed_out:
            sys.exit("Nobody consented in time.")
    server.server_close()
    return server.back


def required(name):
    return os.environ.get(name) or sys.exit(name + " is not set.")


def main():
    base_url = os.environ.get("BASE_URL", "http://127.0.0.1:3000").rstrip("/")
    redirect_uri = os.environ.get("REDIRECT_URI", "http://127.0.0.1:8765/callback")
    client = {"client_id": required("CLIENT_ID"), "client_secret": required("CLIENT_SECRET")}

    # Both are this request's only: the verifier proves that the code comes back to whoever asked for it.
    verifier = secrets.token_urlsafe(32)
    state = secrets.token_urlsafe(32)

    back_to = urllib.parse.urlsplit(redirect_uri)
    server = HTTPServer((back_to.hostname, back_to.port or 80), Handler)
    server.path, server.state, server.issuer = back_to.path, state, base_url
    print("Open this address:", flush=True)
    print(
        authorize_url(base_url, client["client_id"], redirect_uri, os.environ.get("SCOPE"), state, verifier),
        flush=True,
    )

    back = wait_for_answer(server)
    if "error" in back:
        sys.exit("The customer said no: " + back["error"])

    tokens = call(
        "POST",
        base_url + "/oauth/token",
        form={
            **client,
            "grant_type": "authorization_code",
            "code": back["code"],
            "code_verifier": verifier,
            "redirect_uri": redirect_uri,
        },
    )
    print("Granted: " + tokens["scope"], flush=True)

    # An access token lives 2 hours. Each refresh gives a new refresh token and ends the old one: keep the new pair,
    # encrypted, before you use it. If the answer gets lost, ask again with the same Idempotency-Key.
    tokens = call(
        "POST",
        base_url + "/oauth/token",
        headers={"Idempotency-Key": str(uuid.uuid4())},
        form={**client, "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]},
    )

    me = call("GET", base_url + "/api/v1/me", headers={"Authorization": "Bearer " + tokens["access_token"]})
    print("{} is installed in {} as {}".format(me["app"]["slug"], me["workspace"]["name"], me["installation"]["id"]))


if __name__ == "__main__":
    main()
