import type { StoredPayload } from '#shared/foundation/payloads/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Run, StepEntity } from './entity.ts'
import { presentStep } from './present.ts'
import type { NewStep, StepView } from './schemas.ts'

/** Writes that add steps to a run, and the run's counters after them. */
export interface PreparedSteps {
  writes: Write[]
  views: StepView[]
  counts: Pick<Run, 'step_count' | 'last_seq' | 'step_bytes' | 'stream_seq'>
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

/**
 * Numbers new steps after the existing ones, in the run and in its live stream. They are written together with the run's
 * counters, on condition that no other steps were written in the meantime.
 * @throws `too_many_steps` above 200; `payload_too_large` for an output over 16 KiB, or 2 MiB in the whole run
 */
export const prepareSteps = async (work: Work, run: Run, steps: readonly StepInput[]): Promise<PreparedSteps> => {
  if (run.step_count + steps.length > LIMITS.stepsPerRun) throw fail('too_many_steps')
  const now = work.clock.now()
  let { last_seq, step_bytes, stream_seq = 0 } = run
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
      id: step.id ?? work.id('step'),
      run_id: run.id,
      seq,
      type: step.type,
      status: step.status ?? 'done',
      output: step.stored ?? { json },
      tool: step.tool,
      stream_seq: ++stream_seq,
      started_at: step.started_at,
      created_at: now,
    }
  })
  if (step_bytes > LIMITS.stepOutputsPerRunBytes) {
    throw fail('payload_too_large', {
      message: `The outputs of the run’s steps have ${step_bytes} bytes in total; the maximum is ${LIMITS.stepOutputsPerRunBytes}.`,
    })
  }
  const taken = records.map(({ seq }) => seq)
  if (new Set(taken).size !== taken.length) throw fail('step_write_conflict')
  return {
    writes: records.map((record) => StepEntity.create(record, { otherwise: () => fail('step_write_conflict') })),
    views: await Promise.all(records.map((record) => presentStep(work, record))),
    counts: { step_count: run.step_count + steps.length, last_seq, step_bytes, stream_seq },
  }
}
