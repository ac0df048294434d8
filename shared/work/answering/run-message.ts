import type { Deps } from '#shared/foundation/work/index.ts'
import { idFloor, idTime } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { msg, type Parts } from '#shared/kernel/messages.ts'
import { RUN_ERRORS, runErrorText } from '#shared/kernel/run-errors.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { type Message, MessageEntity } from '../conversations/entity.ts'
import type { Approval, Run } from '../runs/entity.ts'
import { presentOutput } from '../runs/present.ts'
import { requestLines } from '../runs/shown-request.ts'

/** Message posted to a conversation when a run ends. */
export interface RunMessage {
  text: string | Parts
  error_code?: string | undefined
}

/**
 * Returns the message for a run that has ended: the output's `text`, or else the output as JSON. There is none if the output has
 * no text and the agent posted messages itself. For a failure, it explains the error and contains its code.
 */
export const composeRunMessage = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  run: Run,
): Promise<RunMessage | undefined> => {
  if (run.status === 'cancelled' && run.error_code !== undefined) {
    return failureMessage(run.error_code, run.error_message ?? '')
  }
  if (run.status === 'cancelled') {
    return { text: [RUN_ERRORS.run_cancelled.forPeople], error_code: 'run_cancelled' }
  }
  if (run.status === 'failed') return failureMessage(run.error_code ?? 'agent_failed', run.error_message ?? '')
  const output = (await presentOutput(deps, run)) ?? {}
  const { text } = output
  if (typeof text === 'string' && text.trim() !== '') return { text: fitting(text) }
  if (await hasWritten(deps, run)) return undefined
  return {
    text:
      Object.keys(output).length === 0 ? [msg('The run finished without a reply.')] : fitting(JSON.stringify(output)),
  }
}

/** Shortens a text to the length of a message. The run keeps the full output. */
const fitting = (text: string): string => {
  const whole = text.trim().toWellFormed()
  return whole.length <= LIMITS.messageCharacters ? whole : `${truncate(whole, LIMITS.messageCharacters - 1)}…`
}

/** Number of messages after the user's that are searched for one written by the run. */
const LOOKED_THROUGH = 100

const hasWritten = async (
  { table }: Pick<Deps, 'table'>,
  { id, conversation_id, message_id }: Run,
): Promise<boolean> => {
  if (conversation_id === undefined || message_id === undefined) return false
  const { items } = await table.query(
    MessageEntity,
    { conversation_id },
    {
      limit: LOOKED_THROUGH,
      ascending: true,
      from: MessageEntity.key({ conversation_id, id: idFloor('message', idTime(message_id)) }).sk,
    },
  )
  return items.some(
    ({ run_id, author, approval, question }: Message) =>
      run_id === id && author.type !== 'user' && !approval && !question,
  )
}

/** Describes a failed run, including its error code. An agent's own error message is quoted. */
export const failureMessage = (error_code: string, message: string): RunMessage => {
  const meaning =
    runErrorText(error_code)?.forPeople ?? truncate(message.trim().toWellFormed(), LIMITS.agentErrorCharacters)
  const text = [msg('There’s no reply.'), ' ', ...(meaning === '' ? [] : [meaning, ' ']), `(${error_code})`]
  return { text, error_code }
}

/** Returns the message that asks for approval, with a link to the run in the console. */
export const approvalRequestText = (
  baseUrl: string,
  run: Pick<Run, 'id'>,
  { tool, request }: Pick<Approval, 'tool' | 'request'>,
): Parts => [
  ...[msg('The agent needs your approval to use {tool}.', { tool }), ...(request ? requestLines(request) : [])].flatMap(
    (line) => [line, '\n'],
  ),
  msg('Review the whole request: {link}', { link: `${baseUrl}/app#/runs/${run.id}` }),
]
