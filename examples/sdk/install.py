"""An installation with OAuth 2.0 and PKCE, from the customer's consent to a refreshed access token.

Requires only Python 3.9 or later:

    CLIENT_ID=... CLIENT_SECRET=... python3 install.py

    CLIENT_ID, CLIENT_SECRET  the app's credentials; POST /api/v1/dev/apps shows the secret once
    REDIRECT_URI              one of the app's redirect_uris, character for character; default:
                              http://127.0.0.1:8765/callback
    SCOPE                     scopes to request, separated by spaces; default: all that the app requests
    BASE_URL                  the platform's address; default: http://127.0.0.1:3000

It prints an address. Open the address and consent. The sample then prints the installation.
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

# The customer has 10 minutes to consent.
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
    """Handles the browser's return to the redirect address."""

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        back = dict(urllib.parse.parse_qsl(address.query))
        if address.path != self.server.path:
            return self.answer(404, "Not found.")
        # A response with another state doesn't belong to this request (RFC 6749 section 10.12), and one with another
        # issuer comes from another server (RFC 9207). Keep waiting, because the right response may still arrive.
        if not hmac.compare_digest(back.get("state", "").encode(), self.server.state.encode()):
            return self.answer(400, "This response does not belong to the current request.")
        if back.get("iss") != self.server.issuer:
            return self.answer(400, "This response comes from another server.")
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
        """Logs nothing, because the address contains the code."""


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
            sys.exit("The customer did not consent in time.")
    server.server_close()
    return server.back


def required(name):
    return os.environ.get(name) or sys.exit(name + " is not set.")


def main():
    base_url = os.environ.get("BASE_URL", "http://127.0.0.1:3000").rstrip("/")
    redirect_uri = os.environ.get("REDIRECT_URI", "http://127.0.0.1:8765/callback")
    client = {"client_id": required("CLIENT_ID"), "client_secret": required("CLIENT_SECRET")}

    # Use both for this request only. The verifier proves that the same client requested and exchanges the code.
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
        sys.exit("The customer denied the request: " + back["error"])

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

    # An access token is valid for 2 hours. Each refresh returns a new refresh token and ends the old one. Store the pair,
    # encrypted, before you use it. If the response is lost, repeat the request with the same Idempotency-Key.
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
