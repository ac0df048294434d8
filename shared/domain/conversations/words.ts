import { type Message, MessageEntity } from '../../entities/conversations.ts'
import type { Run } from '../../entities/runs.ts'
import { beginning } from '../../kernel/beginning.ts'
import { idFloor, idTime } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Deps } from '../deps.ts'
import { presentOutput } from '../runs/present.ts'

/** What is said in a chat at the end of a run. */
export interface Words {
  text: string
  error_code?: string | undefined
}

/**
 * What a run that has ended says: its output's `text`, else the output as JSON, else nothing where its agent wrote messages of
 * its own meanwhile. Of a failure its code, and what people can do with.
 */
export const wordsOf = async (deps: Pick<Deps, 'table' | 'objects'>, run: Run): Promise<Words | undefined> => {
  if (run.status === 'cancelled')
    return { text: 'The run was cancelled before an answer came.', error_code: 'run_cancelled' }
  if (run.status === 'failed') return failure(run.error_code ?? 'agent_failed', run.error_message ?? '')
  const output = (await presentOutput(deps, run)) ?? {}
  const { text } = output
  if (typeof text === 'string' && text.trim() !== '') return { text: fitting(text) }
  if (await hasWritten(deps, run)) return undefined
  return { text: Object.keys(output).length === 0 ? 'Finished, without an answer.' : fitting(JSON.stringify(output)) }
}

/** A message holds so much; the run holds all of it. */
const fitting = (text: string): string => {
  const whole = text.trim().toWellFormed()
  return whole.length <= LIMITS.messageCharacters ? whole : `${beginning(whole, LIMITS.messageCharacters - 1)}…`
}

/** Messages looked through for one that the run wrote; it writes after it was asked. */
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
  return items.some(({ run_id, author, approval }: Message) => run_id === id && author.type !== 'user' && !approval)
}

/** What the platform's own codes mean for a person. Their messages are for the agent's developer. */
const MEANINGS: Record<string, string> = {
  llm_not_configured: 'No language model is configured on this platform. An admin of the platform can set one up.',
  llm_error: 'The language model gave no usable answer. Try again in a while.',
  agent_unreachable: 'The agent could not be reached. Try again in a while.',
  agent_invalid_response: 'The agent answered with something unusable.',
  agent_timeout: 'The agent took too long.',
  app_suspended: 'The agent is suspended by the platform.',
  installation_suspended: 'The agent is suspended.',
  installation_revoked: 'The agent is not installed any more.',
  max_steps_reached: 'It took more steps than allowed. Try to ask for less at once.',
  too_many_steps: 'It took more steps than allowed. Try to ask for less at once.',
  payload_too_large: 'The answer was too large.',
  too_many_active_runs: 'The agent was too busy to take this message up. Send it again later.',
}

/** In words, with the code. What an agent says of its own failure is quoted. */
export const failure = (error_code: string, said: string): Words => {
  const meaning = MEANINGS[error_code] ?? beginning(said.trim().toWellFormed(), LIMITS.agentErrorCharacters)
  return { text: `There is no answer. ${meaning}${meaning ? ' ' : ''}(${error_code})`, error_code }
}

/** What is said when a run waits for its person, with the console’s page of it. */
export const askForApproval = (baseUrl: string, run: Pick<Run, 'id'>, tool: string): string =>
  `This needs your approval: a call of ${tool}. Look at it and decide: ${baseUrl}/app#/runs/${run.id}`
