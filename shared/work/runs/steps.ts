import { payloadBytes, type StoredPayload } from '#shared/foundation/payloads/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Table } from '#shared/table/table.ts'
import { type Run, type Step, StepEntity, type StepItem } from './entity.ts'
import { presentStep } from './present.ts'
import type { NewStep, StepView } from './schemas.ts'

/** Writes that add steps to a run, and the run's counters after them. */
export interface PreparedSteps {
  writes: Write[]
  views: StepView[]
  counts: Pick<Run, 'step_count' | 'last_seq' | 'step_bytes' | 'stream_seq' | 'draft'>
}

/** Returns the steps in an item. */
const stepsIn = ({ more = [], ...first }: StepItem): Step[] => [
  first,
  ...more.map((step) => ({ run_id: first.run_id, ...step })),
]

type Counts = Pick<Run, 'last_seq' | 'step_count'>

/**
 * Loads a run's steps in order, at most 200.
 * @param run the run, or its concurrent read. Steps that it doesn't count are left out
 */
export const loadSteps = async (
  { table }: { table: Pick<Table, 'query'> },
  runId: string,
  run: Counts | Promise<Counts>,
): Promise<Step[]> => {
  if (!(run instanceof Promise) && run.last_seq === 0) return []
  const read = async (): Promise<Step[]> => {
    const options = { limit: LIMITS.stepsPerRun, ascending: true }
    return (await table.query(StepEntity, { run_id: runId }, options)).items.flatMap(stepsIn)
  }
  const [found, { last_seq, step_count }] = await Promise.all([read(), run])
  const counted = (steps: readonly Step[]): Step[] => steps.filter(({ seq }) => seq <= last_seq)
  const steps = counted(found)
  // A step that was written between the two reads is counted, but missing: a run would wait for an approval that nobody sees.
  return run instanceof Promise && steps.length < step_count ? counted(await read()) : steps
}

export interface StepInput extends NewStep {
  id?: string
  status?: string
  tool?: string
  /** Start of the call that it reports. */
  started_at?: number | undefined
  /** Output that the platform stored already. It may be larger than an agent's and doesn't count. */
  stored?: StoredPayload
}

/** Most bytes of outputs in an item of several steps. A transaction has up to 4 MB. */
const TOGETHER_BYTES = 64 * 1_024

/**
 * Numbers new steps after the existing ones, in the run and in its live stream. They are written together with the run's
 * counters, on condition that no other steps were written in the meantime. Steps that follow each other share an item, unless
 * they have a number or an id of their own: the platform's may change later.
 * @throws `too_many_steps` above 200; `payload_too_large` for an output over 16 KiB, or 2 MiB in the whole run
 */
export const prepareSteps = async (work: Work, run: Run, steps: readonly StepInput[]): Promise<PreparedSteps> => {
  if (run.step_count + steps.length > LIMITS.stepsPerRun) throw fail('too_many_steps')
  let { last_seq, step_bytes, stream_seq } = run
  const records = steps.map((step, i) => {
    // A draft becomes the step that its text is in.
    const id = step.id ?? (i === 0 && step.type === 'message' ? run.draft?.step_id : undefined) ?? work.id('step')
    const json = step.stored ? '' : JSON.stringify(step.output)
    const bytes = Buffer.byteLength(json)
    if (bytes > LIMITS.stepOutputBytes) {
      throw fail('payload_too_large', {
        message: `A step’s output has ${bytes} bytes; the maximum is ${LIMITS.stepOutputBytes}.`,
      })
    }
    step_bytes += bytes
    const seq = step.seq ?? last_seq + 1
    last_seq = Math.max(last_seq, seq)
    return {
      ...stampOf(id),
      run_id: run.id,
      seq,
      type: step.type,
      status: step.status ?? 'done',
      output: step.stored ?? { json },
      tool: step.tool,
      stream_seq: ++stream_seq,
      started_at: step.started_at,
    }
  })
  if (step_bytes > LIMITS.stepOutputsPerRunBytes) {
    throw fail('payload_too_large', {
      message: `The outputs of the run’s steps have ${step_bytes} bytes in total; the maximum is ${LIMITS.stepOutputsPerRunBytes}.`,
    })
  }
  const taken = records.map(({ seq }) => seq)
  if (new Set(taken).size !== taken.length) throw fail('step_write_conflict')
  await refuseTaken(work, run, records)
  const isOwn = (i: number): boolean => steps[i]?.seq !== undefined || steps[i]?.id !== undefined
  const items = records.reduce<StepItem[]>((all, { run_id, ...step }, i) => {
    const last = all.at(-1)
    if (last && !isOwn(i) && !isOwn(i - 1) && bytesOf(last) + payloadBytes(step.output) <= TOGETHER_BYTES)
      last.more = [...(last.more ?? []), step]
    else all.push({ run_id, ...step })
    return all
  }, [])
  return {
    writes: items.map((item) => StepEntity.create(item, { otherwise })),
    views: await Promise.all(records.map((record) => presentStep(work, record))),
    counts: {
      step_count: run.step_count + steps.length,
      last_seq,
      step_bytes,
      stream_seq,
      ...(run.draft && { draft: undefined }),
    },
  }
}

const bytesOf = (item: StepItem): number => stepsIn(item).reduce((sum, { output }) => sum + payloadBytes(output), 0)

const otherwise = () => fail('step_write_conflict')

/** Refuses numbers that a step within an item has. Those of the items themselves are conditions of the writes. */
const refuseTaken = async ({ table }: Pick<Work, 'table'>, run: Run, records: readonly Step[]): Promise<void> => {
  const within = records.filter(({ seq }) => seq <= run.last_seq)
  const before = await Promise.all(
    within.map(({ run_id, seq }) =>
      table.query(StepEntity, { run_id }, { limit: 1, to: StepEntity.key({ run_id, seq }).sk }),
    ),
  )
  const isTaken = before.some(({ items }, i) => items.flatMap(stepsIn).some(({ seq }) => seq === within[i]?.seq))
  if (isTaken) throw otherwise()
}
