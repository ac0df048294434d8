import type { TokenUsage } from '#shared/kernel/token-usage.ts'

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
