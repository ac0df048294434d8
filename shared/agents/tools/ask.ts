import type * as z from 'zod'
import type { Work } from '#shared/foundation/work/index.ts'
import { type Following, loadRun, type Run, requireStarted, runNotFound } from '#shared/work/runs/index.ts'
import { type AskAgent, type Asked, startAsked } from '../calls/ask.ts'
import type { FoundAgent } from '../calls/declared-tool.ts'
import type { PrepareInPlace } from '../waiting/index.ts'
import { TOOLS } from './catalogue.ts'
import { type Invoker, requireRoom, storeCall } from './invoke.ts'

const ASK = 'ask_agent' as const

export interface FollowedAsk {
  arguments: Record<string, unknown>
  /** The run that asks, as named in the request. */
  runId?: string | undefined
  /** The agent, as found when its permission was checked. */
  found: FoundAgent
  following: Following
  /** The request sends the run to its agent itself. */
  inPlace: PrepareInPlace | undefined
}

/**
 * Starts a call of `ask_agent` without waiting for its answer, because the caller follows the run over a protocol. The caller
 * has found that `loadToolRefusal` returns none; the other checks of `invokeTool` follow in its order.
 * @throws the refusals of `invokeTool` and `ask_agent`
 */
export const startFollowedAsk = async (
  work: Work,
  caller: Invoker,
  { arguments: given, runId, found, following, inPlace }: FollowedAsk,
  check: (schema: z.ZodType<Record<string, unknown>>, value: unknown) => Record<string, unknown>,
): Promise<{ asked: Asked; asking: Run | undefined }> => {
  const ask = check(TOOLS[ASK].input(), given) as unknown as AskAgent
  const isNamed = caller.run === undefined && runId !== undefined
  const asking = isNamed ? await loadRun(work, { installation_id: caller.installation.id, id: runId }) : caller.run
  if (runId !== undefined && asking?.id !== runId) throw runNotFound()
  if (asking) requireRoom(requireStarted(asking))
  const scene = { ...caller, run: asking, bound: caller.run !== undefined }
  return { asked: await startAsked(work, scene, { ...ask, found, following, inPlace }), asking }
}

/** Stores what became of the call: the step of the run that asked, and the answer to the request. */
export const storeFollowedAsk = <Answer extends object>(
  work: Work,
  asking: Run | undefined,
  args: Record<string, unknown>,
  result: Record<string, unknown>,
  answer: Answer,
): Promise<Answer> => storeCall(work, asking, ASK, args, { result, writes: [] }, answer)
