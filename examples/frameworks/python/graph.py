"""A graph of LangGraph as you may have it. Nothing here is about the platform."""

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt


@tool
def weather(city: str) -> dict:
    """Tells the weather in a city."""
    return {"city": city, "celsius": 21}


@tool
def book_table(restaurant: str, people: int) -> str:
    """Books a table in a restaurant."""
    name = interrupt(f"Under which name should I book at {restaurant}?")
    return "Nobody gave a name." if name is None else f"Booked at {restaurant} for {people}, under the name {name}."


graph = create_agent(
    ChatOpenAI(model="gpt-5.5"),
    [weather, book_table],
    system_prompt="You plan evenings. Look at the weather before you book anything.",
    checkpointer=InMemorySaver(),
)
