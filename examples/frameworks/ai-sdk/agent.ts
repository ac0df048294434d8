// An agent of the AI SDK as you may have it. Nothing here is about the platform.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ToolLoopAgent, tool } from 'ai'
import * as z from 'zod'

const provider = createOpenAICompatible({
  name: 'models',
  baseURL: process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1',
  apiKey: process.env.OPENAI_API_KEY ?? '',
})

export const agent = new ToolLoopAgent({
  model: provider('gpt-5.5'),
  instructions: 'You plan evenings. Look at the weather before you book anything.',
  tools: {
    weather: tool({
      description: 'Tells the weather in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => ({ city, celsius: 21 }),
    }),
    book_table: tool({
      description: 'Books a table in a restaurant.',
      inputSchema: z.object({ restaurant: z.string(), people: z.number() }),
      execute: async ({ restaurant, people }) => `Booked at ${restaurant} for ${people}.`,
    }),
  },
  toolApproval: { book_table: 'user-approval' },
})
