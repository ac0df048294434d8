import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { ModelRequest } from '#shared/kernel/ports/language-model.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { changedRun, loadRun, type Run, type RunKey, runWrite } from '#shared/work/runs/index.ts'

/**
 * Writes what the model has said so far to the run, so that those who follow it can read along. The first words are written at
 * once, and later ones together. Nothing depends on a draft: one that can't be written is left out.
 */
export const startDraft = (work: WorkerWork, key: RunKey) => {
  let readText = () => ''
  let wait: number = LIMITS.draftFirst
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isOver = false
  let written = ''
  let step_id: string | undefined
  let known: Run | undefined

  const write = async (): Promise<void> => {
    const text = readText().slice(0, LIMITS.draftCharacters).toWellFormed()
    if (text === written) return
    const run = known ?? (await loadRun(work, key))
    known = undefined
    if (run.status !== 'running') {
      isOver = true
      return
    }
    step_id ??= run.draft?.step_id ?? work.id('step')
    const stream_seq = run.stream_seq + 1
    const fields = { stream_seq, draft: { step_id, stream_seq, text } }
    await work.table.transact([runWrite(run, fields)])
    known = changedRun(run, fields)
    written = text
  }
  const beat = async (): Promise<void> => {
    const before = readText
    try {
      await write()
      wait = wait === LIMITS.draftFirst ? LIMITS.draftShortest : Math.min(wait * 1.2, LIMITS.draftLongest)
    } catch (error) {
      // After a concurrent change, the next draft reads the run again.
      if (!(error instanceof ConditionFailed)) work.log.warn('could not write a draft', { run_id: key.id, error })
    }
    timer = undefined
    if (readText !== before) schedule()
  }
  const schedule = (): void => {
    if (isOver || timer) return
    timer = setTimeout(() => {
      writing = beat()
    }, wait)
  }
  return {
    onText: ((read) => {
      readText = read
      schedule()
    }) satisfies ModelRequest['onText'],
    /** Returns once no draft is being written. */
    async stop(): Promise<void> {
      isOver = true
      clearTimeout(timer)
      await writing
    },
  }
}
