import type { Agent } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import type { Run } from '#shared/work/runs/index.ts'

/** A call from one agent to another, or from a person. */
export interface AgentCall {
  kind: 'ask_agent' | 'delegate_task'
  /** Slug or exact name, as sent. */
  agent: string
  /** The declared tool, for `ask_agent`. */
  tool?: string | undefined
  audience?: 'member' | 'external' | undefined
}

interface ByAgent {
  installation: { id: string; workspace_id: string; app_slug: string }
  run: Pick<Run, 'id' | 'private_to'> | undefined
}

/** A person, and the host that they call through. */
interface ByPerson {
  workspaceId: string
  userId: string
  via: Record<string, string>
}

type By = ByAgent | ByPerson

/** A call in progress, with the content of its audit entry. */
export interface CallInProgress {
  caller: By
  call: AgentCall
  /** Set once the name was resolved. */
  target: Agent | undefined
  /** Person whose private conversation the call belongs to, as far as is known. */
  private_to?: string | undefined
  /**
   * Ids of its two possible audit entries. They differ because a call that was refused may succeed when it is repeated
   * with its Idempotency-Key after a crash.
   */
  ids: { called: string; denied: string }
}

/** Starts a call. Must run before anything else takes ids from `work`. */
export const startCall = (work: Work, caller: By, call: AgentCall): CallInProgress => ({
  caller,
  call,
  target: undefined,
  ids: { called: work.id('audit'), denied: work.id('audit') },
})

/** Maximum length of a name in an entry. Names are untrusted input. */
const NAME = 100

const entry = (
  work: Work,
  action: 'agent.called' | 'agent.call_denied',
  { caller, call: { kind, agent, tool }, target, ids, private_to }: CallInProgress,
  details: Record<string, unknown>,
): Write =>
  auditEntry(work, {
    id: action === 'agent.called' ? ids.called : ids.denied,
    scope: 'via' in caller ? caller.workspaceId : caller.installation.workspace_id,
    action,
    actor: 'via' in caller ? { type: 'user', id: caller.userId } : { type: 'agent', id: caller.installation.id },
    private_to: private_to ?? ('run' in caller ? caller.run?.private_to : undefined),
    target: { type: 'agent', id: target ? target.installation.id : truncate(agent, NAME) },
    details: {
      call: kind,
      ...('via' in caller ? { via: caller.via } : { caller: caller.installation.app_slug }),
      ...(target && { agent: target.app.slug }),
      ...(tool !== undefined && { tool: truncate(tool, NAME) }),
      ...('run' in caller && caller.run && { run_id: caller.run.id }),
      ...details,
    },
  })

/** The `agent.called` entry, to be written in the call's transaction. */
export const auditedCall = (work: Work, call: CallInProgress, details: Record<string, unknown>): Write =>
  entry(work, 'agent.called', call, details)

/**
 * Writes `agent.call_denied`, with the refusal's code as the reason (contract/agent-to-agent.md#audit-of-calls). It is
 * written by itself, because a refused call changes nothing else.
 */
export const auditRefusal = async (
  work: Work,
  call: CallInProgress,
  { code, details }: PlatformError,
): Promise<void> => {
  const denied = entry(work, 'agent.call_denied', call, {
    reason: code,
    ...(typeof details.reason === 'string' && { policy: details.reason }),
  })
  // Fails when a worker wrote the entry and died before answering.
  await ifUnchanged(work.table.transact([denied]))
}

/** Audits any refusal in `attempt` before rethrowing it. */
export const withRefusalAudit = async <T>(work: Work, call: CallInProgress, attempt: () => Promise<T>): Promise<T> => {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof PlatformError && error.status < 500) await auditRefusal(work, call, error)
    throw error
  }
}
