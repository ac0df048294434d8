import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Run } from './entity.ts'

/** Fields of a run's output that shape what one protocol shows (contract/runs.md#shaped-output). */
const SHAPES = ['$mcp', '$a2a'] as const

/** Returns an output without what is meant for one protocol. */
export const withoutShapes = (output: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(output).filter(([name]) => !(SHAPES as readonly string[]).includes(name)))

/** Loads what a run's output says for one protocol. The protocol checks its form. */
export const loadShape = async (
  deps: Pick<Deps, 'objects'>,
  { output }: Pick<Run, 'output'>,
  shape: (typeof SHAPES)[number],
): Promise<unknown> => output && ((await loadPayload(deps, output)) as Record<string, unknown> | null)?.[shape]
