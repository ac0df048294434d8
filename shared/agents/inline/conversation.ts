import { loadPayload, storePayload } from '#shared/foundation/payloads/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { ModelAnswer, ModelCall, ModelMessage, ProviderParts } from '#shared/kernel/ports/language-model.ts'
import type { TokenUsage } from '#shared/kernel/token-usage.ts'
import { Superseded, type Write } from '#shared/table/entity.ts'
import { changeRun, prepareSteps, type Run, requireStarted, runWrite } from '#shared/work/runs/index.ts'
import { InlineCallEntity, InlineQuestionEntity, InlineTurnEntity } from './entity.ts'
import { leaseHolderUpdate } from './lease.ts'
import { messageStep } from './outcome.ts'

/** A model turn with tool calls and their results. A result is undefined until its call was made. */
export interface Turn {
  n: number
  text: string
  calls: ModelCall[]
  provider?: ProviderParts
  results: (string | undefined)[]
  created_at: number
}

type Said = Pick<Turn, 'text' | 'calls' | 'provider'>

/** Upper bound for turns and calls: a run reaches its step limit first. */
const MOST = LIMITS.stepsPerRun + 1

/** Loads all turns and results recorded so far. */
export const loadTurns = async (work: WorkerWork, run_id: string): Promise<Turn[]> => {
  const [turns, called] = await Promise.all([
    work.table.query(InlineTurnEntity, { run_id }, { limit: MOST, ascending: true }),
    work.table.query(InlineCallEntity, { run_id }, { limit: MOST, ascending: true }),
  ])
  const results = new Map(
    await Promise.all(
      called.items.map(
        async ({ turn, place, result }) => [`${turn}/${place}`, (await loadPayload(work, result)) as string] as const,
      ),
    ),
  )
  return Promise.all(
    turns.items.map(async ({ n, said, created_at }) => {
      const turn = (await loadPayload(work, said)) as Said
      return { n, ...turn, created_at, results: turn.calls.map((_, place) => results.get(`${n}/${place}`)) }
    }),
  )
}

/** Converts the turns to the message list sent to the model. */
export const messagesOf = (prompt: string, turns: readonly Turn[]): ModelMessage[] => [
  { role: 'user', text: prompt },
  ...turns.flatMap(({ text, calls, provider, results }): ModelMessage[] => [
    { role: 'assistant', text, calls, ...(provider && { provider }) },
    { role: 'tool', results: calls.map(({ id, tool }, i) => ({ id, tool, text: results[i] ?? '' })) },
  ]),
]

/**
 * Stores a turn with tool calls in one transaction: the record from which the next worker continues, the visible step
 * and the usage.
 * @throws `run_already_finished`, `too_many_steps`; {@link Superseded}
 */
export const storeTurn = async (
  work: WorkerWork,
  key: Run,
  used: TokenUsage,
  n: number,
  answer: ModelAnswer,
): Promise<Turn> => {
  const { text, calls, provider } = answer
  const turn: Said = { text, calls, ...(provider && { provider }) }
  const created_at = work.clock.now()
  const place = `runs/${key.id}/turns/${n}/${work.requestId}`
  const said = await storePayload(work, place, turn, 2 * LIMITS.modelAnswerBytes)
  await changeRun(work, key, async (run) => {
    requireStarted(run)
    const steps = await prepareSteps(work, run, [messageStep(answer)])
    await work.commit([
      runWrite(run, { ...steps.counts, usage: used, alive_at: work.clock.now() }),
      ...steps.writes,
      leaseHolderUpdate(work, run, { usage: used, tries: 1 }),
      InlineTurnEntity.create({ run_id: run.id, n, said, created_at }, { otherwise: () => new Superseded() }),
    ])
  })
  return { n, ...turn, created_at, results: calls.map(() => undefined) }
}

/**
 * Builds the write that stores a call's result.
 * @throws the write: {@link Superseded} when another worker made the call
 */
export const callResultWrite = async (
  work: WorkerWork,
  run_id: string,
  turn: number,
  place: number,
  result: string,
): Promise<Write> =>
  InlineCallEntity.create(
    {
      run_id,
      turn,
      place,
      result: await storePayload(work, `runs/${run_id}/calls/${turn}-${place}/${work.requestId}`, result),
      created_at: work.clock.now(),
    },
    { otherwise: () => new Superseded() },
  )

/**
 * Builds the write that notes the question of a call. Its answer becomes the call's result.
 * @throws the write: {@link Superseded} when another worker asked it
 */
export const questionWrite = (work: WorkerWork, run_id: string, turn: number, place: number, step_id: string): Write =>
  InlineQuestionEntity.create(
    { run_id, turn, place, step_id, created_at: work.clock.now() },
    { otherwise: () => new Superseded() },
  )

/** Finds the step of the question that a call asked. */
export const loadQuestion = async (
  { table }: Pick<WorkerWork, 'table'>,
  run_id: string,
  turn: number,
  place: number,
): Promise<string | undefined> => (await table.get(InlineQuestionEntity, { run_id, turn, place }))?.step_id
