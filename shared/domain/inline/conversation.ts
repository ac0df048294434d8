import { InlineCallEntity, InlineTurnEntity } from '../../entities/inline.ts'
import type { Run } from '../../entities/runs.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { loadPayload, storePayload } from '../payloads.ts'
import type { ModelAnswer, ModelCall, ModelMessage } from '../ports.ts'
import { changingRun, requireStarted, runWrite } from '../runs/change.ts'
import { prepareSteps } from '../runs/steps.ts'
import { held, Superseded } from './hold.ts'
import { messageStep, type Used } from './outcome.ts'

/** A turn of the model that asked for tools, and what came of each call; undefined for one that was not made yet. */
export interface Turn {
  n: number
  text: string
  calls: ModelCall[]
  results: (string | undefined)[]
  created_at: number
}

interface Said {
  text: string
  calls: ModelCall[]
}

/** More than a run can have: its steps end before. */
const MOST = LIMITS.stepsPerRun + 1

/** Everything that was said so far, as the records have it. */
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
      const { text, calls } = (await loadPayload(work, said)) as Said
      return { n, text, calls, created_at, results: calls.map((_, place) => results.get(`${n}/${place}`)) }
    }),
  )
}

/** The conversation as the model is sent it. */
export const messagesOf = (prompt: string, turns: readonly Turn[]): ModelMessage[] => [
  { role: 'user', text: prompt },
  ...turns.flatMap(({ text, calls, results }): ModelMessage[] => [
    { role: 'assistant', text, calls },
    { role: 'tool', results: calls.map(({ id, tool }, i) => ({ id, tool, text: results[i] ?? '' })) },
  ]),
]

/**
 * Keeps a turn that asks for tools: the record that the next worker would go on from, the step that people see, and what it
 * used, in one transaction.
 * @throws `run_already_finished`, `too_many_steps`; {@link Superseded}
 */
export const keepTurn = async (
  work: WorkerWork,
  key: Run,
  used: Used,
  n: number,
  answer: ModelAnswer,
): Promise<Turn> => {
  const { text, calls } = answer
  const created_at = work.clock.now()
  const place = `runs/${key.id}/turns/${n}/${work.requestId}`
  const said = await storePayload(work, place, { text, calls } satisfies Said, LIMITS.modelAnswerBytes)
  await changingRun(work, key, async (run) => {
    requireStarted(run)
    const steps = await prepareSteps(work, run, [messageStep(answer)])
    await work.commit([
      runWrite(run, { ...steps.counts, alive_at: work.clock.now() }),
      ...steps.writes,
      held(work, run, { ...used, tries: 1 }),
      InlineTurnEntity.create({ run_id: run.id, n, said, created_at }, { otherwise: () => new Superseded() }),
    ])
  })
  return { n, text, calls, created_at, results: calls.map(() => undefined) }
}

/** The write that keeps what came of a call. @throws the write: {@link Superseded} when another worker made the call */
export const keepResult = async (
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
