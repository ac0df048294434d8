// A graph of LangGraph as you may have it. Nothing here is about the platform.
import { tool } from '@langchain/core/tools'
import { interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import * as z from 'zod'

const weather = tool(async ({ city }) => ({ city, celsius: 21 }), {
  name: 'weather',
  description: 'Tells the weather in a city.',
  schema: z.object({ city: z.string() }),
})

const bookTable = tool(
  async ({ restaurant, people }) => {
    const name = interrupt(`Under which name should I book at ${restaurant}?`)
    return name === null ? 'Nobody gave a name.' : `Booked at ${restaurant} for ${people}, under the name ${name}.`
  },
  {
    name: 'book_table',
    description: 'Books a table in a restaurant.',
    schema: z.object({ restaurant: z.string(), people: z.number() }),
  },
)

const tools = [weather, bookTable]
const model = new ChatOpenAI({ model: 'gpt-5.5' }).bindTools(tools)

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'model')
  .addConditionalEdges('model', toolsCondition)
  .addEdge('tools', 'model')
  .compile({ checkpointer: new MemorySaver() })
