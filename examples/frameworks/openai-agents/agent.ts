// An agent of the OpenAI Agents SDK as you may have it. Nothing here is about the platform.
import { Agent, tool } from '@openai/agents'
import * as z from 'zod'

const weather = tool({
  name: 'weather',
  description: 'Tells the weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, celsius: 21 }),
})

const bookTable = tool({
  name: 'book_table',
  description: 'Books a table in a restaurant.',
  parameters: z.object({ restaurant: z.string(), people: z.number() }),
  needsApproval: true,
  execute: async ({ restaurant, people }) => `Booked at ${restaurant} for ${people}.`,
})

export const agent = new Agent({
  name: 'Evening planner',
  instructions: 'You plan evenings. Look at the weather before you book anything.',
  tools: [weather, bookTable],
})
