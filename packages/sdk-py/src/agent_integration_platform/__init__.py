"""Builds agents for the Agent Integration Platform, verifies its webhooks and calls its API."""

from .agent import Agent, AsyncAgent, create_agent, create_async_agent
from .client import Api, AsyncApi, Tokens
from .errors import AgentError, PlatformError, RunEnded, SignatureError, Suspended
from .run import Answer, AsyncRun, Run, ToolOutcome
from .webhooks import CustomEvent, Event, is_custom, verify

__all__ = [
    "Agent",
    "AgentError",
    "Answer",
    "Api",
    "AsyncAgent",
    "AsyncApi",
    "AsyncRun",
    "CustomEvent",
    "Event",
    "PlatformError",
    "Run",
    "RunEnded",
    "SignatureError",
    "Suspended",
    "Tokens",
    "ToolOutcome",
    "create_agent",
    "create_async_agent",
    "is_custom",
    "verify",
]
