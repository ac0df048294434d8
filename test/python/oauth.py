"""An OAuth client of a Python library in its default settings. Prints what it saw as one JSON object per line."""

import json
import os
import sys
from typing import Any

import httpx

LIBRARY, BASE, CLIENT_ID, CLIENT_SECRET, REDIRECT = sys.argv[1:]
# Both refuse plain HTTP, even to this machine.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
SCOPE = "runs:write"
meta: dict[str, str] = httpx.get(f"{BASE}/.well-known/oauth-authorization-server/connect", timeout=60).json()


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def callback(authorize: str) -> str:
    """Has a person open the address, and returns where the browser was sent back to."""
    tell(authorize=authorize)
    return sys.stdin.readline().strip()


def me(token: str) -> int:
    return httpx.get(f"{BASE}/api/v1/me", headers={"authorization": f"Bearer {token}"}, timeout=60).status_code


def authlib() -> None:
    from authlib.common.security import generate_token
    from authlib.integrations.base_client.errors import OAuthError
    from authlib.integrations.httpx_client import OAuth2Client

    client: Any = OAuth2Client(
        CLIENT_ID, CLIENT_SECRET, redirect_uri=REDIRECT, scope=SCOPE, code_challenge_method="S256"
    )
    verifier = generate_token(48)
    url, _ = client.create_authorization_url(meta["authorization_endpoint"], code_verifier=verifier)
    back = callback(url)
    token = client.fetch_token(meta["token_endpoint"], authorization_response=back, code_verifier=verifier)
    tell(installed=me(token["access_token"]), scope=token["scope"])
    refreshed = client.refresh_token(meta["token_endpoint"], refresh_token=token["refresh_token"])
    tell(refreshed=me(refreshed["access_token"]), rotated=refreshed["refresh_token"] != token["refresh_token"])
    introspected = client.introspect_token(meta["introspection_endpoint"], token=refreshed["access_token"]).json()
    tell(active=introspected["active"], client_id=introspected["client_id"] == CLIENT_ID)
    revoked = client.revoke_token(meta["revocation_endpoint"], token=refreshed["refresh_token"]).status_code
    tell(revoked=revoked, afterwards=me(refreshed["access_token"]))
    try:
        client.refresh_token(meta["token_endpoint"], refresh_token=refreshed["refresh_token"])
    except OAuthError as error:
        tell(error=error.error, typed=type(error).__name__)


def requests_oauthlib() -> None:
    from oauthlib.oauth2 import OAuth2Error
    from requests.auth import HTTPBasicAuth
    from requests_oauthlib import OAuth2Session

    basic = HTTPBasicAuth(CLIENT_ID, CLIENT_SECRET)
    session: Any = OAuth2Session(CLIENT_ID, redirect_uri=REDIRECT, scope=[SCOPE], pkce="S256")
    url, _ = session.authorization_url(meta["authorization_endpoint"])
    back = callback(url)
    token = session.fetch_token(meta["token_endpoint"], authorization_response=back, client_secret=CLIENT_SECRET)
    tell(installed=me(token["access_token"]), scope=" ".join(token["scope"]))
    old = token["refresh_token"]
    refreshed = session.refresh_token(meta["token_endpoint"], refresh_token=old, auth=basic)
    tell(refreshed=me(refreshed["access_token"]), rotated=refreshed["refresh_token"] != old)
    # The library has no introspection and no revocation of its own.
    form = {"token": refreshed["access_token"]}
    introspected = session.post(meta["introspection_endpoint"], data=form, auth=basic, withhold_token=True).json()
    tell(active=introspected["active"], client_id=introspected["client_id"] == CLIENT_ID)
    form = {"token": refreshed["refresh_token"]}
    revoked = session.post(meta["revocation_endpoint"], data=form, auth=basic, withhold_token=True).status_code
    tell(revoked=revoked, afterwards=me(refreshed["access_token"]))
    try:
        session.refresh_token(meta["token_endpoint"], refresh_token=refreshed["refresh_token"], auth=basic)
    except OAuth2Error as error:
        tell(error=error.error, typed=type(error).__name__)


{"authlib": authlib, "requests-oauthlib": requests_oauthlib}[LIBRARY]()
