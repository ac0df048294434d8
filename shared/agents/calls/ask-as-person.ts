import type { PersonPrincipal } from '#shared/access/hosts/index.ts'
import { findAgent, listActiveAgents } from '#shared/access/installations/index.ts'
import { rateLimited, takeFromBucket } from '#shared/foundation/limits/index.ts'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Following, Run } from '#shared/work/runs/index.ts'
import { type PrepareInPlace, prepareRun } from '../waiting/index.ts'
import { type Asked, askedBefore } from './ask.ts'
import { auditedCall, startCall, withRefusalAudit } from './audit.ts'
import { checkArguments, type FoundAgent, loadDeclaredTool } from './declared-tool.ts'

export interface AskAsPerson {
  agent: string
  /** That agent, if the request has found it already. */
  found?: FoundAgent | undefined
  /** Declared tool. Absent for an A2A message to an agent that takes any. */
  tool?: string | undefined
  arguments: Record<string, unknown>
  audience?: 'member' | 'external' | undefined
  following: Following
  /** The host, as the audit names it. */
  via: Record<string, string>
  /** The request sends the run to its agent itself. */
  inPlace?: PrepareInPlace | undefined
  /** Further writes of the transaction that starts the run. */
  more?(run: Run): Write[]
}

/**
 * Starts a run of an agent for a person, or finds the one that an earlier attempt with the same Idempotency-Key
 * started. It is the first of its chain. The workspace's switch and the agent's policy are about other agents, so they
 * don't count (contract/mcp.md#tools-of-people).
 * @throws `rate_limited`, `unknown_agent`, `ambiguous_agent`, `tool_not_offered`, `invalid_arguments`,
 *   `too_many_active_runs`, `payload_too_large`
 */
export const startAskedByPerson = async (
  work: Work,
  { workspace, person }: PersonPrincipal,
  { agent, found, tool, arguments: input, audience = 'member', following, via, inPlace, more }: AskAsPerson,
): Promise<Asked> => {
  // Taken first, so that a repeat with the same Idempotency-Key finds the run that was already started.
  const runId = work.id('run')
  const before = await askedBefore(work, workspace.id, runId)
  if (before) return before
  const by = { workspaceId: workspace.id, userId: person.id, via }
  const call = startCall(work, by, { kind: 'ask_agent', agent, tool, audience })
  return withRefusalAudit(work, call, async () => {
    await limitCalls(work, person.id)
    const target = found ?? findAgent(await listActiveAgents(work, workspace.id), undefined, agent)
    call.target = target
    if (tool !== undefined) checkArguments(await loadDeclaredTool(work, target, tool), input)
    const { run, writes, send } = await prepareRun(
      inPlace,
      { ...work, id: (kind) => (kind === 'run' ? runId : work.id(kind)) },
      {
        installation: target.installation,
        input,
        trigger: following.protocol,
        actor: { id: person.id, name: person.name },
        chain: { audience },
        following,
        tool,
      },
    )
    const audited = auditedCall(work, call, { target_run_id: run.id, chain_depth: run.chain_depth })
    await withoutAnswer(work).commit([...writes, ...(more?.(run) ?? []), audited])
    return { run, agent: target.installation, open: send?.() }
  })
}

const limitCalls = async (work: Work, userId: string): Promise<void> => {
  const { allowed, retryAfter } = await takeFromBucket(work, `agent-calls:${userId}`, LIMITS.agentCallRate)
  if (allowed) return
  throw rateLimited('user', retryAfter, {
    message: `Limit of ${LIMITS.agentCallRate.burst} calls to agents a minute exceeded for this person.`,
    fix: `Wait ${retryAfter} s (Retry-After), then call again.`,
  })
}
