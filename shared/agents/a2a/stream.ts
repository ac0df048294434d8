import type { Work } from '#shared/foundation/work/index.ts'
import {
  isOver,
  isWaitingForInput,
  loadRun,
  type Run,
  type RunEvent,
  runEvents,
  type StepView,
} from '#shared/work/runs/index.ts'
import {
  type Artifact,
  contextOf,
  loadOutput,
  OUTPUT,
  outputArtifacts,
  presentStatus,
  type Said,
  saidBy,
  type TaskStatus,
  WAITS_FOR_PERSON,
} from './present.ts'
import { presentTask } from './tasks.ts'

type Json = Record<string, unknown>

/** One element of a stream, in the JSON of version 1.0, with its position. */
export interface TaskEvent {
  /** Number in the run’s stream. Of several elements with one number, all but the last also have their own: `7.1`. */
  id: string
  data: Json
  /** True for text that a model has written in its turn so far. Later elements include it. */
  isDraft?: true
}

/** Position of a reader: elements of the run's stream that it has seen. */
export interface Position {
  after: number
  /** Elements with the next number that it has seen, too. */
  seen: number
}

/** Pattern of `Last-Event-ID`. It also matches the empty id. */
export const EVENT_ID = /^(\d{1,12}(\.\d{1,6})?)?$/

/** Reads `Last-Event-ID`. Undefined if no event has such an id. */
export const positionAt = (id: string): Position | undefined => {
  if (id === '' || !EVENT_ID.test(id)) return undefined
  const [n = '0', part] = id.split('.')
  return part === undefined ? { after: Number(n), seen: 0 } : { after: Number(n) - 1, seen: Number(part) }
}

/** Reports whether a reader has seen everything of a task that ended. */
export const hasSeenAll = (run: Run, { after }: Position): boolean => isOver(run, after)

/** Reports whether a task waits for its caller, and the reader has seen everything: nothing follows until they answer. */
export const isStill = (run: Run, { after }: Position): boolean => isWaitingForInput(run) && after === run.stream_seq

const isQuestion = ({ statusUpdate }: Json): boolean =>
  (statusUpdate as { status?: TaskStatus } | undefined)?.status?.state === 'TASK_STATE_INPUT_REQUIRED'

/**
 * Yields a task and what happens to it, until it ends, it needs its caller’s input (A2A 1.0 §11.7), or `signal` is aborted.
 * Yields undefined while there is nothing new. While a person of the workspace decides, it goes on: a decision comes by
 * another way than the caller's next message (§7.6.1).
 * @param from position after which to continue; without it, the current task comes first
 */
export async function* taskEvents(
  work: Work,
  run: Run,
  from: Position | undefined,
  signal: AbortSignal,
): AsyncGenerator<TaskEvent | undefined> {
  let at = from
  let written: Draft | undefined
  for (let current = run; ; current = await loadRun(work, run)) {
    if (!at) {
      yield await snapshot(work, current)
      at = { after: current.stream_seq, seen: 0 }
      written = undefined
    }
    if (isStill(current, at)) return
    const { after } = at
    let { seen } = at
    let gap = false
    for await (const event of runEvents(work, current, after, signal)) {
      if (!event) {
        yield undefined
        continue
      }
      gap = event.event === 'gap'
      if (gap) break
      const draft = draftIn(event)
      if (draft) {
        yield { id: String(event.id), data: draftUpdate(run, draft, written), isDraft: true }
        written = draft
        continue
      }
      const now = await loadRun(work, run)
      const elements = await elementsOf(work, now, event)
      const last = elements.at(-1)
      // Reports of an agent that waits don't end the wait.
      if (isStill(now, { after: Number(event.id), seen: 0 }) && !(last && isQuestion(last)))
        elements.push(statusUpdate(now, await presentStatus(work, now, null)))
      for (const [i, data] of elements.entries()) {
        const isLast = i === elements.length - 1
        if (i >= seen) yield { id: isLast ? String(event.id) : `${event.id}.${i + 1}`, data }
        if (isQuestion(data)) return
      }
      seen = 0
    }
    if (!gap) return
    at = undefined
  }
}

const snapshot = async (work: Work, run: Run): Promise<TaskEvent> => ({
  id: String(run.stream_seq),
  data: { task: await presentTask(work, run) },
})

const aboutOf = (run: Run) => ({ taskId: run.id, contextId: contextOf(run) })

const statusUpdate = (run: Run, status: TaskStatus): Json => ({ statusUpdate: { ...aboutOf(run), status } })

const artifactUpdate = (run: Run, artifact: Artifact, append: boolean, lastChunk: boolean): Json => ({
  artifactUpdate: { ...aboutOf(run), artifact, ...(append && { append }), ...(lastChunk && { lastChunk }) },
})

interface Draft {
  step: string
  text: string
}

const draftIn = ({ event, data }: RunEvent): Draft | undefined => {
  if (event !== 'step') return undefined
  const { id, type, status, output } = data as StepView
  const text = type === 'message' && status === 'running' ? output.text : undefined
  return typeof text === 'string' ? { step: id, text } : undefined
}

/**
 * Presents a model's answer while it grows, as chunks of the artifact that the answer will be. A chunk continues the text that
 * the reader has. Otherwise it replaces the text, as the whole artifact does at the end.
 */
const draftUpdate = (run: Run, { step, text }: Draft, written: Draft | undefined): Json => {
  const append = written?.step === step && text.startsWith(written.text)
  const parts = [{ text: append ? text.slice(written.text.length) : text }]
  return artifactUpdate(run, { ...OUTPUT, parts }, append, false)
}

/** Returns what an event of a run's stream says to A2A clients: nothing, or one or more elements. */
const elementsOf = async (work: Work, run: Run, { event, data }: RunEvent): Promise<Json[]> => {
  if (event === 'step') return stepElements(run, data as StepView)
  const { status, started_at, created_at, finished_at } = data as {
    status: Run['status']
    started_at: string | null
    created_at: string
    finished_at?: string | null
  }
  const timestamp = finished_at ?? started_at ?? created_at
  switch (status) {
    case 'queued':
      return [statusUpdate(run, { state: 'TASK_STATE_SUBMITTED', timestamp })]
    case 'running':
      return [statusUpdate(run, { state: 'TASK_STATE_WORKING', timestamp })]
    case 'awaiting_approval': {
      const message = {
        messageId: `${run.id}.approval`,
        ...aboutOf(run),
        role: 'ROLE_AGENT',
        parts: [{ text: WAITS_FOR_PERSON }],
      }
      return [statusUpdate(run, { state: 'TASK_STATE_AUTH_REQUIRED', timestamp, message })]
    }
    default: {
      const output = await loadOutput(work, run)
      const artifacts = status === 'succeeded' ? outputArtifacts(output) : []
      return [
        ...artifacts.map((artifact) => artifactUpdate(run, artifact, false, true)),
        statusUpdate(run, await presentStatus(work, run, output)),
      ]
    }
  }
}

const stepElements = (run: Run, step: StepView): Json[] => {
  const shown: Said | undefined = saidBy(run, step)
  const timestamp = step.created_at
  switch (shown?.kind) {
    case 'message':
      return [statusUpdate(run, { state: 'TASK_STATE_WORKING', timestamp, message: shown.message })]
    case 'question':
      return [
        shown.message
          ? statusUpdate(run, { state: 'TASK_STATE_INPUT_REQUIRED', timestamp, message: shown.message })
          : statusUpdate(run, { state: 'TASK_STATE_WORKING', timestamp }),
      ]
    case 'artifact':
      return [artifactUpdate(run, shown.artifact, shown.append, shown.lastChunk)]
    default:
      return []
  }
}
