"""Signatures of the platform's requests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Mapping, Sequence

TOLERANCE_SECONDS = 300


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _is_recent(timestamp: str, now: float | None) -> bool:
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    return abs((time.time() if now is None else now) - int(timestamp)) <= TOLERANCE_SECONDS


def verify_svc(secret: str, header: str, body: bytes, *, now: float | None = None) -> bool:
    """Checks `X-SVC-Signature: t=<unix seconds>,v1=<hex>`.

    One `v1` must be the HMAC-SHA256 of `<t>.<body>`, keyed with the whole secret as text. The comparison takes constant time.
    """
    parts = [part.strip() for part in header.split(",")]
    times = [part[2:] for part in parts if part.startswith("t=")]
    # With two timestamps, the one that is checked could differ from the one that is signed.
    if len(times) != 1 or not _is_recent(times[0], now):
        return False
    expected = hmac.new(secret.encode(), f"{times[0]}.".encode() + body, hashlib.sha256).hexdigest()
    verdicts = [hmac.compare_digest(part[3:].encode(), expected.encode()) for part in parts if part.startswith("v1=")]
    return any(verdicts)


def verify_standard(secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> bool:
    """Checks the headers of Standard Webhooks, version 1.

    One `v1,<base64>` must be the HMAC-SHA256 of `<id>.<t>.<body>`, keyed with the base64-decoded part of the secret after its
    prefix. The comparison takes constant time.
    """
    given = _lower(headers)
    message, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    try:
        key = base64.b64decode(secret.partition("_")[2], validate=True)
    except (binascii.Error, ValueError):
        return False
    if not message or not key or not _is_recent(timestamp, now):
        return False
    digest = hmac.new(key, f"{message}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = base64.b64encode(digest)
    candidates = [one[3:] for one in given.get("webhook-signature", "").split(" ") if one.startswith("v1,")]
    return any([hmac.compare_digest(one.encode(), expected) for one in candidates])


def is_signed(
    secrets: str | Sequence[str], headers: Mapping[str, str], body: bytes, *, now: float | None = None
) -> bool:
    """Checks a request's signature: `X-SVC-Signature` if it has one, otherwise the headers of Standard Webhooks.

    Args:
        secrets: `agsec_…` of an app or `whsec_…` of a subscription; several while you rotate.
        headers: of the request, in any case.
        body: the raw bytes, before any parsing.
        now: Unix seconds; default: the system's clock.
    """
    listed = [secrets] if isinstance(secrets, str) else list(secrets)
    svc = _lower(headers).get("x-svc-signature")
    if svc is not None:
        return any([verify_svc(secret, svc, body, now=now) for secret in listed])
    return any([verify_standard(secret, headers, body, now=now) for secret in listed])
