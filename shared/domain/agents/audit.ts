import type { Run } from '../../entities/runs.ts'
import { beginning } from '../../kernel/beginning.ts'
import { PlatformError } from '../../kernel/errors.ts'
import { ifUnchanged, type Write } from '../../table/entity.ts'
import { auditEntry } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import type { Agent } from './find.ts'

/** What a call of one agent by another asks for. */
export interface AgentCall {
  kind: 'ask_agent' | 'delegate_task'
  /** Slug or exact name, as sent. */
  agent: string
  /** The declared tool, for `ask_agent`. */
  tool?: string | undefined
  audience?: 'member' | 'external' | undefined
}

interface By {
  installation: { id: string; workspace_id: string; app_slug: string }
  run: Pick<Run, 'id'> | undefined
}

/** A call on its way: what its entry in the audit tells of it. */
export interface Calling {
  caller: By
  call: AgentCall
  /** Known as soon as the name was found. */
  target: Agent | undefined
  /**
   * Ids of the entry that it comes to. One each: a call that was refused and then its worker died may be made when it is
   * repeated under its Idempotency-Key.
   */
  ids: { called: string; denied: string }
}

/** Takes the ids of the call, before anything else does. */
export const calling = (work: Work, caller: By, call: AgentCall): Calling => ({
  caller,
  call,
  target: undefined,
  ids: { called: work.id('audit'), denied: work.id('audit') },
})

/** Names come from outside; an entry holds the beginning. */
const NAME = 100

const entry = (
  work: Work,
  action: 'agent.called' | 'agent.call_denied',
  { caller: { installation, run }, call: { kind, agent, tool }, target, ids }: Calling,
  details: Record<string, unknown>,
): Write =>
  auditEntry(work, {
    id: action === 'agent.called' ? ids.called : ids.denied,
    scope: installation.workspace_id,
    action,
    actor: { type: 'agent', id: installation.id },
    target: { type: 'agent', id: target ? target.installation.id : beginning(agent, NAME) },
    details: {
      call: kind,
      caller: installation.app_slug,
      ...(target && { agent: target.app.slug }),
      ...(tool !== undefined && { tool: beginning(tool, NAME) }),
      ...(run && { run_id: run.id }),
      ...details,
    },
  })

/** `agent.called`; part of the transaction that the call comes to. */
export const called = (work: Work, call: Calling, details: Record<string, unknown>): Write =>
  entry(work, 'agent.called', call, details)

/** `agent.call_denied`, with the refusal's code as the reason (decisions §5). The entry stands alone: nothing else changed. */
export const auditRefusal = async (work: Work, call: Calling, { code, details }: PlatformError): Promise<void> => {
  const denied = entry(work, 'agent.call_denied', call, {
    reason: code,
    ...(typeof details.reason === 'string' && { policy: details.reason }),
  })
  // Or a worker has written it that died before it answered.
  await ifUnchanged(work.table.transact([denied]))
}

/** Whatever refuses the call in `attempt` is in the audit before it is thrown on. */
export const auditingRefusals = async <T>(work: Work, call: Calling, attempt: () => Promise<T>): Promise<T> => {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof PlatformError && error.status < 500) await auditRefusal(work, call, error)
    throw error
  }
}
