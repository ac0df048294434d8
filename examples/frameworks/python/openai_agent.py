"""An agent of the OpenAI Agents SDK as you may have it. Nothing here is about the platform."""

from agents import Agent, function_tool


@function_tool
def weather(city: str) -> dict:
    """Tells the weather in a city."""
    return {"city": city, "celsius": 21}


@function_tool(needs_approval=True)
def book_table(restaurant: str, people: int) -> str:
    """Books a table in a restaurant."""
    return f"Booked at {restaurant} for {people}."


agent = Agent(
    name="Evening planner",
    instructions="You plan evenings. Look at the weather before you book anything.",
    tools=[weather, book_table],
)
