import * as z from 'zod'

const tokenCount = () => z.number().int().min(0).max(1e12)

/** Tokens of a language model and their price, as providers and agents report them, and as they are stored and shown. */
export const tokenUsage = () =>
  z
    .object({
      input_tokens: tokenCount(),
      output_tokens: tokenCount().meta({ description: 'What is billed as output, reasoning included.' }),
      cached_tokens: tokenCount().optional().meta({ description: 'Part of the input that came from a cache.' }),
      reasoning_tokens: tokenCount().optional().meta({ description: 'Part of the output that is reasoning.' }),
      estimated: z.boolean().optional().meta({ description: 'The model’s provider reported no tokens.' }),
      cost_usd: z.number().min(0).max(1e9).optional().meta({ description: 'Price in US dollars, if known.' }),
    })
    .meta({ id: 'TokenUsage' })

export type TokenUsage = z.infer<ReturnType<typeof tokenUsage>>
