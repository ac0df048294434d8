import os

import uvicorn
from agent_integration_platform import create_async_agent
from agent_integration_platform.adapters import asgi
from agent_integration_platform.openai_agents import openai_agents
from openai_agent import agent

app = asgi(create_async_agent(secret=os.environ["SIGNING_SECRET"], on_run=openai_agents(agent)))

if __name__ == "__main__":
    uvicorn.run(app, port=int(os.environ.get("PORT", "8080")))
