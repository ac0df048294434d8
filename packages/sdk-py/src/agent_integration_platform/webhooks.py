"""Webhooks of the platform, verified and typed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeGuard, Union, cast

from .errors import SignatureError
from .events import CustomEvent, Event
from .verify import is_signed

__all__ = ["CustomEvent", "Event", "SignatureError", "is_custom", "verify"]


def verify(
    secrets: str | Sequence[str], headers: Mapping[str, str], body: bytes, *, now: float | None = None
) -> Event:
    """Returns the event of a delivery.

    Respond with 401 if this raises, otherwise with any 2xx. An event can arrive more than once: detect duplicates by its `id`.
    New types can be added: subscribe only to types you know, or handle unknown ones.

    Args:
        secrets: `whsec_…` of the subscription; several while you rotate.
        headers: of the request, in any case.
        body: the raw bytes, before any parsing.
        now: Unix seconds; default: the system's clock.

    Raises:
        SignatureError: if the signature is missing, wrong or too old.
    """
    if not is_signed(secrets, headers, body, now=now):
        raise SignatureError
    return cast(Event, json.loads(body))


def is_custom(event: Union[Event, CustomEvent]) -> TypeGuard[CustomEvent]:
    """Tells whether an agent emitted the event. Its type begins with `custom.`, and its data is whatever the agent put there."""
    return event["type"].startswith("custom.")
