/** Fields of a run's output that shape what one protocol shows (contract/runs.md#shaped-output). */
const SHAPES = ['$mcp', '$a2a'] as const

/** Returns an output without what is meant for one protocol. */
export const withoutShapes = (output: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(output).filter(([name]) => !(SHAPES as readonly string[]).includes(name)))
