"""Authlib as a client with a key (private_key_jwt). Prints what it saw as one JSON object per line."""

import json
import os
import sys
from typing import Any

import httpx
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT

BASE, CLIENT_ID, KEY_FILE, REDIRECT = sys.argv[1:]
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
ISSUER = f"{BASE}/connect"
META: dict[str, str] = httpx.get(f"{ISSUER}/.well-known/oauth-authorization-server", timeout=60).json()
TOKEN = META["token_endpoint"]


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def session(method: PrivateKeyJWT) -> Any:
    with open(KEY_FILE, encoding="utf-8") as file:
        key = file.read()
    made: Any = OAuth2Session(
        CLIENT_ID,
        key,
        token_endpoint_auth_method="private_key_jwt",
        revocation_endpoint_auth_method="private_key_jwt",
        scope="runs:write",
        redirect_uri=REDIRECT,
        code_challenge_method="S256",
    )
    made.register_client_auth_method(method)
    return made


def connect(client: Any) -> Any:
    verifier = generate_token(64)
    url, _ = client.create_authorization_url(META["authorization_endpoint"], code_verifier=verifier)
    tell(authorize=url)
    back = sys.stdin.readline().strip()
    return client.fetch_token(TOKEN, authorization_response=back, code_verifier=verifier)


# As its documentation has it: the audience is the address of the token endpoint.
try:
    tell(default="Bearer" if connect(session(PrivateKeyJWT(TOKEN))) else "")
except OAuthError as refused:
    tell(default=refused.error, says_issuer=f"Set aud to {ISSUER}," in (refused.description or ""))

# As the guide has it: the same argument names the issuer.
client = session(PrivateKeyJWT(ISSUER))
token = connect(client)
refreshed = client.refresh_token(TOKEN, refresh_token=token["refresh_token"])
active = client.introspect_token(META["introspection_endpoint"], token=refreshed["access_token"]).json()["active"]
revoked = client.revoke_token(META["revocation_endpoint"], token=refreshed["refresh_token"]).status_code
tell(issuer=token["token_type"], rotated=refreshed["refresh_token"] != token["refresh_token"])
tell(active=active, revoked=revoked)
