"""requests-oauthlib gets tokens, and refreshes them by itself. The last line printed is what it saw."""

import json
import sys

from requests_oauthlib import OAuth2Session

given = json.loads(sys.argv[1])
base = given["base_url"]
own = {"client_id": given["client_id"], "client_secret": given["client_secret"]}
updates = []

client = OAuth2Session(
    given["client_id"],
    redirect_uri=given["redirect_uri"],
    scope=["runs:write", "webhooks:manage"],
    auto_refresh_url=base + "/oauth/token",
    auto_refresh_kwargs=own,
    token_updater=lambda token: updates.append(dict(token)),
    pkce="S256",
)
authorize_url, state = client.authorization_url(base + "/oauth/authorize")
print(json.dumps({"consent": authorize_url}), flush=True)
back = sys.stdin.readline().strip()
token = dict(
    client.fetch_token(
        base + "/oauth/token",
        authorization_response=back,
        include_client_id=True,
        client_secret=given["client_secret"],
    )
)
me = client.get(base + "/api/v1/me")
refreshed = dict(client.refresh_token(base + "/oauth/token", **own))
client.token = {**refreshed, "expires_in": -30, "expires_at": 1}
after_expiry = client.get(base + "/api/v1/me")

print(
    json.dumps(
        {
            "state": [state, back],
            "token": token,
            "me": me.status_code,
            "refreshed": refreshed,
            "after_expiry": after_expiry.status_code,
            "updates": updates,
        }
    )
)
