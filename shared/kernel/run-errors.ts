import { ERRORS, type ErrorCode } from './errors.ts'
import { type Message, msg } from './messages.ts'

interface RunErrorText {
  /** Explanation of the code, for the developer. */
  meaning: string
  cause?: string
  fix: string
  /** For the person in the chat that the run answers, who can't change the agent. Without it, they read the run's own message. */
  forPeople?: Message
}

/**
 * Every code with which the platform itself ends a run, or a chat message that no run could answer. An agent may report
 * codes of its own. The run's `error`, the guides and the messages in chats derive from this table.
 * Source: contract/errors.md#run-error-codes.
 */
export const RUN_ERRORS = {
  agent_unreachable: {
    meaning: 'The agent couldn’t be reached, or gave no answer that the platform could accept.',
    cause:
      'The endpoint isn’t publicly reachable, its certificate is invalid, it answered with a status outside 2xx, or it took longer than 30 seconds.',
    fix: 'Check the endpoint in the manifest, and its logs for the ID of this run. If the work takes longer than 30 seconds, answer 202 and complete the run later.',
    forPeople: msg('The agent couldn’t be reached. Try again later.'),
  },
  agent_invalid_response: {
    meaning: 'The agent answered, but its answer isn’t a result.',
    cause: 'The body isn’t JSON, its `status` is unknown, or it is larger than 1 MiB.',
    fix: 'Answer 200 with a JSON object whose status is succeeded or failed, or answer 202. The message says what was wrong.',
    forPeople: msg('The agent sent an invalid reply.'),
  },
  agent_failed: {
    meaning: 'The agent reported that it failed.',
    cause: 'The agent sent `status: "failed"`, without an `error_code` or with one of its own.',
    fix: 'Follow the message, or look into the agent’s logs for the ID of this run. If you build the agent, report an error_code, and an error_message that says what to do.',
  },
  agent_cancelled: {
    meaning: 'The outside agent cancelled its work on the run.',
    cause: 'The task of the A2A agent became `TASK_STATE_CANCELED`, and nobody here had cancelled the run.',
    fix: 'Start the run again, or look into the agent’s logs for the ID of this run.',
    forPeople: msg('The agent stopped working on this.'),
  },
  agent_timeout: {
    meaning: 'The agent accepted the run and then stopped working on it.',
    cause:
      'The agent answered 202, and no call with the run’s callback token followed for an hour; or the run stayed active nearly as long as runs are kept.',
    fix: 'Add a step or renew the callback token at least once an hour, and complete every run, also after an error.',
    forPeople: msg('The agent took too long to reply.'),
  },
  llm_not_configured: {
    meaning: 'The run needs a language model, and this platform has none.',
    cause: 'The agent is an inline agent, and the operator hasn’t set the model provider’s address and key.',
    fix: 'Ask the operator to set the model provider’s address and key, then start the run again.',
    forPeople: msg('No language model is configured on this platform. Ask the platform’s operator to set one up.'),
  },
  llm_error: {
    meaning: 'The model provider returned an error, or an answer that can’t be used.',
    cause:
      'The provider is overloaded or refused the request, it doesn’t know the model in the manifest, or it withheld or cut the answer.',
    fix: 'Read status and body in the run’s error step. Check the model’s name in the manifest, and start the run again later.',
    forPeople: msg('The language model didn’t return a usable reply. Try again later.'),
  },
  max_steps_reached: {
    meaning: 'The inline agent used all of its turns without an answer.',
    cause: 'The model kept calling tools until `max_steps` of the manifest.',
    fix: 'Ask for less at once, or raise runtime.max_steps in the manifest.',
    forPeople: msg('The agent needed more steps than allowed. Try asking for less at once.'),
  },
  too_many_steps: {
    meaning: 'The run reached the maximum of 200 steps.',
    fix: 'Ask for less at once, or report fewer, larger steps.',
    forPeople: msg('The agent needed more steps than allowed. Try asking for less at once.'),
  },
  payload_too_large: {
    meaning: 'The agent’s output is larger than a run can keep.',
    fix: 'Return less, or save the result as a file and return its ID.',
    forPeople: msg('The agent’s reply was too large.'),
  },
  access_withdrawn: {
    meaning: 'The customer took back the app’s access to the workspace.',
    cause: 'The last grant was deleted, revoked by the app, or ended because a used refresh token came back.',
    fix: 'Ask an admin of the workspace to connect the app again, then start a new run.',
    forPeople: msg('This agent no longer has access to the workspace. Ask an admin to reconnect it.'),
  },
  app_suspended: {
    meaning: 'The platform suspended the app before the run began.',
    fix: 'Contact platform support. If you build the app, read the reason in your messages with moderation.',
    forPeople: msg('The platform has suspended this agent.'),
  },
  installation_suspended: {
    meaning: 'The installation or its workspace was suspended before the run began.',
    fix: 'Contact platform support. If the workspace is scheduled for deletion, its owner can cancel that.',
    forPeople: msg('This agent is suspended.'),
  },
  installation_revoked: {
    meaning: 'The app was uninstalled, or the person left, before the run began.',
    fix: 'Ask an admin of the workspace to install the app again, then start a new run.',
    forPeople: msg('This agent is no longer installed.'),
  },
  insufficient_scope: {
    meaning:
      'The installation lacks a scope: `tasks:read` for a task, `chat:read` or `chat:write` for a conversation’s answer.',
    fix: 'Request the scopes and ask the customer to approve them, then start the run or send the message again.',
    forPeople: msg('This agent lacks access that it needs for this. Ask an admin to grant it.'),
  },
  scope_denied_by_admin: {
    meaning:
      'An admin of the workspace denied a scope: `tasks:read` for a task, `chat:read` or `chat:write` for a ' +
      'conversation’s answer.',
    cause: 'The scope was denied after the run was queued or the message written, or while the agent worked.',
    fix: 'Ask an admin of the workspace to allow the scopes, then start the run or send the message again.',
    forPeople: msg('An admin of your workspace denied access that this agent needs for this.'),
  },
  too_many_active_runs: {
    meaning: 'A chat message waited 15 minutes for one of the installation’s 5 active runs to end.',
    fix: 'Wait for a run to finish, or cancel one, and send the message again.',
    forPeople: msg('The agent was too busy to handle this message. Send it again later.'),
  },
  budget_exceeded: {
    meaning: 'A budget that the workspace set for its agents is used up.',
    cause:
      'The run of an inline agent used more tokens than the budget has left, or a chat message waited until the budget was used up.',
    fix: 'Wait until the budget starts again, or ask an admin of the workspace to raise it.',
    forPeople: msg('A budget of your workspace is used up. Ask an admin to raise it, or send the message again later.'),
  },
  input_timeout: {
    meaning: 'Nobody answered the agent’s question in time.',
    cause: 'The question was open for 24 hours, or for 10 minutes if a client asked over MCP.',
    fix: 'Start the run again, and answer its question on the run’s page in the console.',
    forPeople: msg('The agent’s question wasn’t answered in time. Send the message again.'),
  },
  input_required: {
    meaning: 'The agent asked a person a question while another agent was waiting for its answer.',
    cause: 'A run that `ask_agent` started can’t wait for a person. Its message is the question.',
    fix: 'Ask again with the answer in the arguments, or delegate a task: its run can wait for a person.',
    forPeople: msg('The agent needs an answer that it can’t ask for here.'),
  },
  run_cancelled: {
    meaning: 'Somebody cancelled the run before the agent answered.',
    cause: 'In the result of `ask_agent` and in chats. The cancelled run itself has no error.',
    fix: 'Start a new run if you still need the answer.',
    forPeople: msg('The run was cancelled before the agent replied.'),
  },
} as const satisfies Record<string, RunErrorText>

export type RunErrorCode = keyof typeof RUN_ERRORS

const TEXTS: Readonly<Record<string, RunErrorText>> = RUN_ERRORS

/** Returns a run code's texts; undefined for a code that isn't the platform's. */
export const runErrorText = (code: string): RunErrorText | undefined =>
  Object.hasOwn(TEXTS, code) ? TEXTS[code] : undefined

const OWN_CODE_FIX =
  'The agent reported this error itself. Follow its message, or contact the app’s developer with the ID of this run.'

/**
 * Returns what to do about a failed run, and the anchor that documents its code. An agent's own code is documented as
 * `agent_failed`.
 */
export const runErrorHelp = (code: string): { fix: string; anchor: string } => {
  const known = runErrorText(code)
  if (known) return { fix: known.fix, anchor: code }
  if (Object.hasOwn(ERRORS, code)) return { fix: ERRORS[code as ErrorCode][2], anchor: code }
  return { fix: OWN_CODE_FIX, anchor: 'agent_failed' }
}
