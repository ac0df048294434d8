import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { isObject } from '#shared/kernel/json-schema/json-object.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { loadPendingQuestions } from '#shared/work/questions/index.ts'
import {
  failureText,
  type InputQuestions,
  isWaitingForInput,
  meaningOf,
  type Run,
  type StepView,
  withoutShapes,
} from '#shared/work/runs/index.ts'
import { type Message, type Part, partsOf } from './message.ts'

type Json = Record<string, unknown>

/** State of a task. */
export type TaskState =
  | 'SUBMITTED'
  | 'WORKING'
  | 'INPUT_REQUIRED'
  | 'AUTH_REQUIRED'
  | 'COMPLETED'
  | 'FAILED'
  | 'REJECTED'
  | 'CANCELED'

export type TaskStatus = { state: `TASK_STATE_${TaskState}`; timestamp: string; message?: Message }
export type Artifact = { artifactId: string; name?: string; description?: string; parts: Part[]; metadata?: Json }

/** A task, in the JSON of version 1.0. */
export interface Task extends Json {
  id: string
  contextId: string
  status: TaskStatus
  artifacts?: Artifact[]
  history?: Message[]
  metadata: Json
}

const ENDS: Record<'succeeded' | 'failed' | 'cancelled', TaskState> = {
  succeeded: 'COMPLETED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
}

/** Returns the state of a run's task (contract/a2a.md#states). */
export const stateOf = (run: Pick<Run, 'status' | 'input_steps' | 'error_code'>): TaskState => {
  switch (run.status) {
    case 'queued':
      return 'SUBMITTED'
    case 'running':
      return isWaitingForInput(run) ? 'INPUT_REQUIRED' : 'WORKING'
    case 'awaiting_approval':
      return 'AUTH_REQUIRED'
    case 'failed':
      return run.error_code === 'rejected' ? 'REJECTED' : 'FAILED'
    default:
      return ENDS[run.status]
  }
}

/** Returns the time of the latest change of a task's state. */
export const stateTime = (run: Run): number => {
  const isInterrupted = isWaitingForInput(run) || run.status === 'awaiting_approval'
  return run.finished_at ?? (isInterrupted ? run.alive_at : undefined) ?? run.started_at ?? run.created_at
}

/** Wraps what the platform or the agent says. The id derives from the run, so that a repeated message is recognized. */
const agentMessage = (run: Run, id: string, parts: Part[], metadata?: Json): Message => ({
  messageId: `${run.id}.${id}`,
  contextId: contextOf(run),
  taskId: run.id,
  role: 'ROLE_AGENT',
  parts,
  ...(metadata && { metadata }),
})

export const contextOf = ({ context, id }: Run): string => context?.id ?? id

/** Returns the part of a run's output that is meant for A2A clients (contract/a2a.md#states). Leaves out invalid parts. */
export interface Shape {
  message?: Part[]
  artifacts?: Artifact[]
}

const shapeOf = (output: Json | null): Shape => {
  const shape = isObject(output?.$a2a) ? output.$a2a : {}
  const message = isObject(shape.message) ? partsOf(shape.message.parts) : undefined
  const artifacts = Array.isArray(shape.artifacts) ? shape.artifacts.map(artifactOf) : [undefined]
  return {
    ...(message && { message }),
    ...(artifacts.every((one) => one !== undefined) && { artifacts }),
  }
}

const artifactOf = (value: unknown, n: number): Artifact | undefined => {
  const parts = isObject(value) ? partsOf(value.parts) : undefined
  if (!isObject(value) || !parts) return undefined
  const { artifactId, name, description } = value
  return {
    artifactId: typeof artifactId === 'string' && artifactId !== '' ? artifactId : `output-${n + 1}`,
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
    parts,
  }
}

/** The artifact that a run's output is. */
export const OUTPUT = { artifactId: 'output', name: 'output' }

/** Returns the artifacts of a run that succeeded: what it says itself, or its output as data. */
export const outputArtifacts = (output: Json | null): Artifact[] => {
  const { artifacts } = shapeOf(output)
  if (artifacts) return artifacts
  const data = output ? withoutShapes(output) : {}
  return Object.keys(data).length === 0 ? [] : [{ ...OUTPUT, parts: [{ data }] }]
}

/** The message that answers a blocking send instead of a task, if the run has one. */
export const answerOf = (run: Run, output: Json | null): Message | undefined => {
  const { message } = shapeOf(output)
  return message && agentMessage(run, 'message', message)
}

const questionParts = (questions: InputQuestions): Part[] => [
  {
    text: Object.values(questions)
      .flatMap((one) => ('message' in one ? one.message : []))
      .join('\n\n'),
  },
  { data: { input_requests: questions } },
]

export const WAITS_FOR_PERSON =
  'A person of the workspace decides about a tool call. Then the task continues by itself.'

/** Returns what belongs to a task's state: the question, the failure, or what the task waits for. */
const statusMessage = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  run: Run,
  output: Json | null,
): Promise<Message | undefined> => {
  switch (stateOf(run)) {
    case 'INPUT_REQUIRED': {
      const pending = await loadPendingQuestions(deps, run)
      const questions: InputQuestions = Object.assign({}, ...pending.map((step) => step.questions))
      return agentMessage(run, (run.input_steps ?? []).join('.'), questionParts(questions))
    }
    case 'AUTH_REQUIRED':
      return agentMessage(run, 'approval', [{ text: WAITS_FOR_PERSON }])
    case 'FAILED':
    case 'REJECTED':
      return agentMessage(run, 'error', [{ text: truncate(failureText(run), LIMITS.agentErrorCharacters) }], {
        error_code: run.error_code ?? null,
      })
    case 'COMPLETED':
      return answerOf(run, output)
    default:
      return undefined
  }
}

export const loadOutput = async (deps: Pick<Deps, 'objects'>, { output }: Run): Promise<Json | null> =>
  output ? ((await loadPayload(deps, output)) as Json | null) : null

/** Formats a time as the protocol wants it: in UTC, with a Z (A2A 1.0 §5.6.1). */
export const timestampOf = (at: number): string => new Date(at).toISOString()

/** Returns a task's current status. */
export const presentStatus = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  run: Run,
  output: Json | null,
): Promise<TaskStatus> => {
  const message = await statusMessage(deps, run, output)
  return { state: `TASK_STATE_${stateOf(run)}`, timestamp: timestampOf(stateTime(run)), ...(message && { message }) }
}

/** Returns a step's message, part of an artifact or question. Undefined for all other steps. */
export type Said =
  | { kind: 'message'; message: Message }
  | { kind: 'artifact'; artifact: Artifact; append: boolean; lastChunk: boolean }
  | { kind: 'question'; message: Message | undefined }

/** A message of the caller, as it was sent, in its task. */
const fromCaller = (run: Run, value: unknown): Message[] =>
  isObject(value) ? [{ ...(value as Message), contextId: contextOf(run), taskId: run.id }] : []

/**
 * Returns everything that was said in a task, oldest first: the caller's messages, what the agent reported, and its
 * questions. A question that still waits is in the task's status.
 * @param first the message that started the task
 */
export const historyOf = (run: Run, first: unknown, steps: readonly StepView[]): Message[] => [
  ...fromCaller(run, first),
  ...steps.flatMap((step): Message[] => {
    if (step.type !== 'input_request') {
      const one = saidBy(run, step)
      return one?.kind === 'message' ? [one.message] : []
    }
    const { input_requests = {}, messages = [] } = step.output as { input_requests?: InputQuestions; messages?: Json[] }
    return [
      ...(step.status === 'pending' ? [] : [agentMessage(run, step.id, questionParts(input_requests))]),
      ...messages.flatMap((message) => fromCaller(run, message)),
    ]
  }),
]

const progressText = ({
  progress,
  total,
  message,
}: {
  progress: number
  total?: number | undefined
  message?: string | undefined
}) => message ?? (total === undefined ? String(progress) : `${progress}/${total}`)

export const saidBy = (run: Run, step: StepView): Said | undefined => {
  // A message is sent once it is whole.
  if (step.type === 'message' && step.status === 'running') return undefined
  const output = isObject(step.output) ? step.output : {}
  if (step.type === 'input_request') {
    if (step.status === 'answered') return { kind: 'question', message: undefined }
    if (step.status !== 'pending') return undefined
    const questions = (output.input_requests ?? {}) as InputQuestions
    return { kind: 'question', message: agentMessage(run, step.id, questionParts(questions)) }
  }
  if (step.type === 'message') {
    return typeof output.text === 'string'
      ? { kind: 'message', message: agentMessage(run, step.id, [{ text: output.text }]) }
      : undefined
  }
  const meaning = meaningOf(step)
  if (meaning?.type === 'progress') {
    const { progress, total } = meaning
    return {
      kind: 'message',
      message: agentMessage(run, step.id, [{ text: progressText(meaning) }], {
        progress,
        ...(total !== undefined && { total }),
      }),
    }
  }
  if (meaning?.type !== 'artifact') return undefined
  const parts = partsOf(meaning.parts)
  return (
    parts && {
      kind: 'artifact',
      artifact: {
        artifactId: meaning.artifact_id ?? step.id,
        ...(meaning.name !== undefined && { name: meaning.name }),
        parts,
      },
      append: meaning.append ?? false,
      lastChunk: meaning.last_chunk ?? true,
    }
  )
}

/** Puts the chunks of artifacts together, in the order of their steps. */
export const assembled = (chunks: readonly Said[]): Artifact[] => {
  const artifacts = new Map<string, Artifact>()
  for (const chunk of chunks) {
    if (chunk.kind !== 'artifact') continue
    const { artifact, append } = chunk
    const before = append ? artifacts.get(artifact.artifactId) : undefined
    artifacts.set(artifact.artifactId, before ? { ...before, parts: [...before.parts, ...artifact.parts] } : artifact)
  }
  return [...artifacts.values()]
}
