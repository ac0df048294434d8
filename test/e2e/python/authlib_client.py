"""Authlib does all that a client does. The last line printed is what it saw."""

import json
import sys

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session, OAuthError
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

given = json.loads(sys.argv[1])
base = given["base_url"]


def person(authorize_url):
    print(json.dumps({"consent": authorize_url}), flush=True)
    return sys.stdin.readline().strip()


def error_of(call):
    try:
        call()
    except OAuthError as error:
        return error.error
    return None


metadata = AuthorizationServerMetadata(requests.get(get_well_known_url(base, external=True)).json())
metadata.validate()
token_endpoint = metadata["token_endpoint"]

updates = []


def session(secret=given["client_secret"], **more):
    return OAuth2Session(
        given["client_id"],
        secret,
        token_endpoint_auth_method="client_secret_post",
        revocation_endpoint_auth_method="client_secret_post",
        code_challenge_method="S256",
        redirect_uri=given["redirect_uri"],
        scope="runs:write webhooks:manage",
        token_endpoint=token_endpoint,
        update_token=lambda token, **before: updates.append({"token": dict(token), **before}),
        **more,
    )


client = session()
verifier = generate_token(64)
authorize_url, state = client.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
back = person(authorize_url)
wrong_verifier = error_of(
    lambda: session(state=state).fetch_token(authorization_response=back, code_verifier=generate_token(64))
)
token = dict(client.fetch_token(authorization_response=back, code_verifier=verifier, state=state))
me = client.get(base + "/api/v1/me")

refreshed = dict(client.refresh_token(token_endpoint, refresh_token=token["refresh_token"]))
client.token["expires_at"] = 1
updates.clear()
after_expiry = client.get(base + "/api/v1/me")
automatic = updates[-1]["token"]


def active(kind, value):
    return client.introspect_token(metadata["introspection_endpoint"], token=value, token_type_hint=kind).json()


introspected = active("access_token", automatic["access_token"])
rotated = active("refresh_token", refreshed["refresh_token"])
wrong_secret = error_of(lambda: session("cs_wrong").refresh_token(token_endpoint, automatic["refresh_token"]))
basic = OAuth2Session(given["client_id"], given["client_secret"])
basic_only = error_of(lambda: basic.refresh_token(token_endpoint, automatic["refresh_token"]))
revoked = client.revoke_token(
    metadata["revocation_endpoint"], token=automatic["refresh_token"], token_type_hint="refresh_token"
)
after_revocation = active("access_token", automatic["access_token"])
reused = error_of(lambda: client.refresh_token(token_endpoint, automatic["refresh_token"]))

print(
    json.dumps(
        {
            "issuer": metadata["issuer"],
            "token": token,
            "me": [me.status_code, me.json()["token"]["type"]],
            "refreshed": refreshed,
            "after_expiry": after_expiry.status_code,
            "updates": len(updates),
            "automatic": automatic,
            "introspected": introspected,
            "rotated": rotated,
            "revoked": revoked.status_code,
            "after_revocation": after_revocation,
            "errors": {
                "wrong_verifier": wrong_verifier,
                "wrong_secret": wrong_secret,
                "basic_only": basic_only,
                "reused": reused,
            },
        }
    )
)
