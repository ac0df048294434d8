import { payloadBytes, type StoredPayload } from '#shared/foundation/payloads/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed, ifUnchanged, type Write } from '#shared/table/entity.ts'
import { either, missing, oneOf } from '#shared/table/expressions.ts'
import type { Table } from '#shared/table/table.ts'
import { type Run, type Step, StepEntity, type StepItem } from './entity.ts'
import { presentStep } from './present.ts'
import type { NewStep, StepView } from './schemas.ts'

/** Writes that add steps to a run, and the run's counters after them. */
export interface PreparedSteps {
  writes: Write[]
  views: StepView[]
  counts: Pick<Run, 'step_count' | 'last_seq' | 'step_bytes' | 'stream_seq'>
  /** The only item, if it may be written before the run's counters. */
  plain?: StepItem | undefined
}

/** Id of an item that keeps a number free which its run skipped: a step that was never counted may have it otherwise. */
const VOID = 'void'

/** Returns the steps in an item. */
const stepsIn = ({ more = [], ...first }: StepItem): Step[] =>
  first.id === VOID ? [] : [first, ...more.map((step) => ({ run_id: first.run_id, ...step }))]

type Counts = Pick<Run, 'last_seq' | 'step_count'>

/**
 * Loads a run's steps in order, at most 200.
 * @param run the run, or its concurrent read. Only steps up to its last number count ({@link commitSteps})
 */
export const loadSteps = async (
  { table }: { table: Pick<Table, 'query'> },
  runId: string,
  run: Counts | Promise<Counts>,
): Promise<Step[]> => {
  if (!(run instanceof Promise) && run.last_seq === 0) return []
  const read = async (): Promise<Step[]> => {
    // A step that skips a number has a void item next to its own.
    const options = { limit: 2 * LIMITS.stepsPerRun, ascending: true }
    return (await table.query(StepEntity, { run_id: runId }, options)).items.flatMap(stepsIn)
  }
  const [found, { last_seq, step_count }] = await Promise.all([read(), run])
  const counted = (steps: readonly Step[]): Step[] => steps.filter(({ seq }) => seq <= last_seq)
  const steps = counted(found)
  // A step that was written between the two reads is counted, but missing: a run would wait for an approval that nobody sees.
  return run instanceof Promise && steps.length < step_count ? counted(await read()) : steps
}

interface StepInput extends NewStep {
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
  const records = steps.map((step) => {
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
      ...stampOf(step.id ?? work.id('step')),
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
  const [item] = items
  return {
    writes: [...items.map((one) => writeOf(run, one)), ...voidWrites(run, records)],
    views: await Promise.all(records.map((record) => presentStep(work, record))),
    counts: { step_count: run.step_count + steps.length, last_seq, step_bytes, stream_seq },
    plain: item && items.length === 1 && !isOwn(0) ? item : undefined,
  }
}

const bytesOf = (item: StepItem): number => stepsIn(item).reduce((sum, { output }) => sum + payloadBytes(output), 0)

const otherwise = () => fail('step_write_conflict')

/** Replaces a step that was never counted. The condition on the run ensures that no other can have the number. */
const writeOf = (run: Run, item: StepItem): Write =>
  item.seq > run.last_seq
    ? StepEntity.replace(item)
    : StepEntity.replace(item, { where: { id: either(missing, oneOf(VOID)) }, otherwise })

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

/** If the steps skip the number after the run's last, keeps it free of a step that was never counted. */
const voidWrites = ({ id: run_id, last_seq }: Run, records: readonly Step[]): Write[] => {
  const skipped = records.find(({ seq }) => seq > last_seq)
  if (!skipped || records.some(({ seq }) => seq === last_seq + 1)) return []
  return [StepEntity.replace({ ...skipped, id: VOID, run_id, seq: last_seq + 1, type: VOID, output: { json: 'null' } })]
}

/**
 * Commits prepared steps. If nothing else changes with them, two plain writes cost half of a transaction:
 *
 *     create the item under the number after the run's last ─► raise the run's last number
 *
 * Steps count once the run's last number includes them, and readers leave others out, so none follows the end of its run. If a
 * request dies in between, the next steps replace its item, in the transaction that takes the same number. A number is never
 * taken without that.
 * @param change of the run, with the steps' counters and its condition on the run as it was read
 * @param others further writes of the same transaction, after those of the run and its steps
 */
export const commitSteps = async (
  work: Work,
  { plain, writes }: PreparedSteps,
  change: Write,
  answer: unknown,
  others: readonly Write[] = [],
): Promise<void> => {
  const isPlain =
    plain &&
    work.hasFreshIds &&
    others.length === 0 &&
    (await ifUnchanged(work.table.transact([StepEntity.create(plain)])))
  if (!isPlain) return work.commit([change, ...writes, ...others], answer)
  try {
    await work.commit([change], answer)
  } catch (error) {
    if (!(error instanceof ConditionFailed) || !(await wasCounted(work, plain, error.current as Run | undefined)))
      throw error
  }
}

/** Returns true if an attempt whose answer was lost has counted the steps. */
const wasCounted = async (
  { table }: Pick<Work, 'table'>,
  { run_id, seq, id }: StepItem,
  run: Run | undefined,
): Promise<boolean> =>
  run !== undefined && run.last_seq >= seq && (await table.get(StepEntity, { run_id, seq }))?.id === id
