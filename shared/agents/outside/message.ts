import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { InputAnswer, Run } from '#shared/work/runs/index.ts'
import { type Part, partsOf } from '../a2a/message.ts'
import type { OutsideTask } from './entity.ts'

type A2a = Extract<Manifest['runtime'], { type: 'a2a' }>

/** Message to an outside agent, in the JSON of A2A 1.0. */
export interface OutgoingMessage extends Record<string, unknown> {
  messageId: string
  contextId?: string
  taskId?: string
  role: 'ROLE_USER'
  parts: Part[]
}

/**
 * Builds the message of a run. Its id is the run's, so the agent can tell a message that it has seen. It carries the
 * input and nothing of the platform: no token, no address, no names.
 */
export const messageOfRun = async (deps: Pick<Deps, 'objects'>, run: Run, runtime: A2a): Promise<OutgoingMessage> => {
  const input = (await loadPayload(deps, run.input)) as Record<string, unknown> | null
  const contextId = run.conversation_id ?? contextOf(run)
  return {
    messageId: run.id,
    ...(contextId !== undefined && { contextId }),
    role: 'ROLE_USER',
    parts: partsOfRun(run, input ?? {}, runtime),
  }
}

/**
 * Returns the id under which an outside agent knows the A2A context of a run. Callers choose the ids of their contexts, and an
 * agent that gets no caller would take two callers' contexts of one name, or somebody's chat, for the same.
 */
const contextOf = ({ context, installation_id, followed_by }: Run): string | undefined =>
  context && `ctx_${sha256(JSON.stringify([installation_id, followed_by, context.id]))}`

const partsOfRun = ({ tool, protocol, task_id }: Run, input: Record<string, unknown>, { skill }: A2a): Part[] => {
  if (tool !== undefined) return [{ data: { skill: tool, arguments: input } }]
  const { text, title, description, message } = input
  if (skill !== undefined) return [{ data: { skill, arguments: input } }]
  if (protocol === 'a2a') {
    const parts = partsOf((message as { parts?: unknown } | undefined)?.parts)
    if (parts) return parts
  }
  if (typeof text === 'string' && text.trim() !== '') return [{ text }]
  if (task_id !== undefined) {
    const about = [title, description].filter((line) => typeof line === 'string' && line !== '')
    return [{ text: about.join('\n\n') }]
  }
  return [{ data: input }]
}

/** Builds the message that answers the outside agent's question. */
export const messageOfAnswer = (
  { run_id, task_id, context_id }: OutsideTask,
  stepId: string,
  input: Readonly<Record<string, InputAnswer>>,
): OutgoingMessage => ({
  messageId: `${run_id}-${stepId}`,
  ...(task_id !== undefined && { taskId: task_id }),
  ...(context_id !== undefined && { contextId: context_id }),
  role: 'ROLE_USER',
  parts: Object.values(input).map(partOfAnswer),
})

const partOfAnswer = (answer: InputAnswer): Part => {
  const { action, content } = answer as { action?: unknown; content?: Record<string, unknown> }
  if (action !== 'accept') return { text: 'The person declined to answer.' }
  return typeof content?.text === 'string' ? { text: content.text } : { data: content ?? {} }
}
