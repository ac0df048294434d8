import { type Run, StepEntity } from '../../entities/runs.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { presentStep } from './present.ts'
import type { NewStep, StepView } from './schemas.ts'

/** Steps on their way into a run: the writes that create them, and what the run's record counts afterwards. */
export interface PreparedSteps {
  writes: Write[]
  views: StepView[]
  counts: Pick<Run, 'step_count' | 'last_seq' | 'step_bytes' | 'stream_seq'>
}

interface StepInput extends NewStep {
  id?: string
  status?: string
  tool?: string
}

/**
 * Numbers steps behind those the run has, in the run and in its live stream. They are written together with the run's
 * counts, under the condition that nobody wrote others meanwhile.
 * @throws `too_many_steps` above 200; `payload_too_large` for an output over 16 KiB, or 2 MiB in the whole run
 */
export const prepareSteps = async (work: Work, run: Run, steps: readonly StepInput[]): Promise<PreparedSteps> => {
  if (run.step_count + steps.length > LIMITS.stepsPerRun) throw fail('too_many_steps')
  const now = work.clock.now()
  let { last_seq, step_bytes, stream_seq = 0 } = run
  const records = steps.map((step) => {
    const json = JSON.stringify(step.output)
    const bytes = Buffer.byteLength(json)
    if (bytes > LIMITS.stepOutputBytes) {
      throw fail('payload_too_large', {
        message: `A step’s output has ${bytes} bytes; at most ${LIMITS.stepOutputBytes}.`,
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
      output: { json },
      tool: step.tool,
      stream_seq: ++stream_seq,
      created_at: now,
    }
  })
  if (step_bytes > LIMITS.stepOutputsPerRunBytes) {
    throw fail('payload_too_large', {
      message: `The outputs of a run’s steps have at most ${LIMITS.stepOutputsPerRunBytes} bytes together.`,
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
