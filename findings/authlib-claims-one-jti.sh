#!/usr/bin/env bash
# Subject: authlib 1.9.9 (PyPI), PrivateKeyJWT(claims=…) and ClientSecretJWT(claims=…), client assertions by RFC 7523.
# Expected: every assertion has a jti of its own, with and without further claims.
# Happens: with claims, the first jti is written into the caller's dict, so all later assertions of that client have it.
# Matters: claims look like the place to set the audience to the issuer, as RFC 10070 asks. A server that takes a jti once
#   then accepts the exchange of the code and refuses the refresh an hour later. Pass the issuer as token_endpoint instead.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check authlib==1.9.9 requests==2.34.2
"$folder/venv/bin/python" - <<'PYTHON'
import base64
import json
import sys
from types import SimpleNamespace
from urllib.parse import parse_qs

from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc.jwk import RSAKey

ISSUER = "https://server.example/issuer"
client = SimpleNamespace(client_id="app", client_secret=RSAKey.generate_key(2048))


def ids(method: PrivateKeyJWT) -> list[str]:
    found = []
    for _ in range(2):
        _, _, body = method(client, "POST", f"{ISSUER}/token", {}, "")
        payload = parse_qs(body)["client_assertion"][0].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        assert claims["aud"] == ISSUER, claims
        found.append(claims["jti"])
    return found


plain = ids(PrivateKeyJWT(ISSUER))
given = ids(PrivateKeyJWT(claims={"aud": ISSUER}))
print("without claims, two assertions have", len(set(plain)), "jti")
print("with claims, two assertions have", len(set(given)), "jti")
if len(set(plain)) != 2 or len(set(given)) != 1:
    sys.exit("changed")
PYTHON
