"""Errors that the SDK raises."""

from __future__ import annotations

from typing import Any


class AgentError(Exception):
    """Fails the run with one of the agent's own codes. Customers see code and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class RunEnded(Exception):
    """The run ended without this agent: it was cancelled, or its time was up."""

    def __init__(self) -> None:
        super().__init__("The run has ended.")


class Suspended(BaseException):
    """Passes through the agent's code when the run waits for a person. The agent is called again with the decision.

    It isn't an `Exception`, so that `except Exception` in the agent's code doesn't catch it.
    """


class SignatureError(Exception):
    """A request whose signature is missing, wrong or too old. Respond with 401."""

    def __init__(self) -> None:
        super().__init__(
            "The signature is missing, wrong or too old. Is the secret the one of this app or subscription?"
        )


class PlatformError(Exception):
    """An error response. Match on `code`, which is stable. The texts can change."""

    def __init__(self, status: int, error: dict[str, Any]) -> None:
        self.status = status
        self.code: str = error["code"]
        self.message: str = error.get("message", "")
        self.fix: str = error.get("fix", "")
        self.docs_url: str = error.get("docs_url", "")
        self.request_id: str = error.get("request_id", "")
        self.details: dict[str, Any] = error.get("details", {})
        super().__init__(f"{self.code}: {self.message} {self.fix} ({self.request_id})")
