import * as z from 'zod'
import type { TokenUsage } from '#shared/kernel/ports/language-model.ts'

const tokenCount = () => z.number().int().min(0).max(1e12)

/** Schema of a run's tokens, as stored, shown and reported by agents. */
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

/** Returns the tokens that budgets and statistics count. */
export const tokensOf = (usage: Pick<TokenUsage, 'input_tokens' | 'output_tokens'> | undefined): number =>
  usage ? usage.input_tokens + usage.output_tokens : 0

/** Adds up the usage of two turns. The sum is an estimate if one of them is. */
export const addUsage = (a: TokenUsage, b: TokenUsage): TokenUsage => {
  const sum = (field: 'cached_tokens' | 'reasoning_tokens' | 'cost_usd') => {
    const total = (a[field] ?? 0) + (b[field] ?? 0)
    return total > 0 && { [field]: total }
  }
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    ...sum('cached_tokens'),
    ...sum('reasoning_tokens'),
    ...sum('cost_usd'),
    ...((a.estimated || b.estimated) && { estimated: true }),
  }
}
