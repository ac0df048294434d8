import type { Work } from '#shared/foundation/work/index.ts'
import { cleanText } from '#shared/kernel/names.ts'
import { loadSteps, meaningOf, presentStep, type Run } from '#shared/work/runs/index.ts'
import { createLogger } from './logging.ts'
import type { Outbox } from './outbox.ts'
import type { Lane, Message } from './protocol.ts'

interface Watching {
  work: Work
  lane: Lane
  outbox: Outbox
}

/**
 * Returns a function that reports what is new of a run to the client: its steps `progress` and `message` and what its model is
 * writing with its progress token, its steps `log` from the level that it asked for.
 * @param from number in the run's stream after which steps are new
 */
export const createReporter = (
  { work, lane, outbox }: Watching,
  { meta }: Pick<Message, 'meta'>,
  from: number,
): ((run: Run) => Promise<void>) => {
  const { progressToken } = meta
  const token = typeof progressToken === 'string' || Number.isInteger(progressToken) ? progressToken : undefined
  const log = createLogger({ lane, outbox }, { meta })
  if (!outbox.isOpen || (token === undefined && !log)) return async () => {}
  let seen = from
  let progress: number | undefined
  const advance = (to: number, more: object): void => {
    // It must increase with each notification.
    if (token === undefined || (progress !== undefined && to <= progress)) return
    progress = to
    outbox.notify('notifications/progress', { progressToken: token, progress, ...more })
  }
  const say = (text: string): void => advance((progress ?? 0) + 1, { message: cleanText(text) })
  return async (run) => {
    const last = run.stream_seq
    if (last <= seen) return
    const isNew = ({ stream_seq }: { stream_seq: number }) => stream_seq > seen && stream_seq <= last
    const draft = run.draft && isNew(run.draft) ? run.draft : undefined
    const steps = (await loadSteps(work, run.id, run)).filter(isNew)
    seen = last
    for (const step of steps.sort((a, b) => a.stream_seq - b.stream_seq)) {
      const { type, output } = await presentStep(work, step)
      const meaning = meaningOf({ type, output })
      if (meaning?.type === 'progress') {
        const { total, message } = meaning
        advance(meaning.progress, {
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message: cleanText(message) }),
        })
      } else if (meaning?.type === 'log') {
        log?.(meaning)
      } else if (type === 'message' && typeof output.text === 'string') {
        say(output.text)
      }
    }
    if (draft) say(draft.text)
  }
}
