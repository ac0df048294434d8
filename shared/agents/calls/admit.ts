import {
  type Agent,
  allowsCaller,
  findAgent,
  type Installation,
  listActiveAgents,
} from '#shared/access/installations/index.ts'
import type { App } from '#shared/catalogue/apps/index.ts'
import { rateLimited, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { type ChainPosition, loadCallPosition, type Run, refuseEndedChain } from '#shared/work/runs/index.ts'
import type { PrepareInPlace } from '../waiting/index.ts'
import type { AgentCall, CallInProgress } from './audit.ts'
import type { FoundAgent } from './declared-tool.ts'

/** The calling installation, with its run if the call comes from one. */
export interface CallingAgent {
  installation: Installation
  app: Pick<App, 'id' | 'slug' | 'name'>
  workspace: Workspace
  run: Run | undefined
  /** True when the token is the run's own callback token. */
  bound: boolean
  /** The request sends the run of the agent that is asked itself. An inline agent's worker can't: it has no right to. */
  inPlace?: PrepareInPlace | undefined
}

export interface Admitted {
  target: Agent
  /** Chain position of the work that the call starts: one level deeper than the caller. */
  chain: Partial<ChainPosition> & Pick<ChainPosition, 'chain_depth' | 'chain_deadline' | 'audience'>
  /** The caller as shown to the target. */
  caller: NonNullable<Run['caller']>
}

/**
 * Checks every admission rule for a call between agents (contract/agent-to-agent.md#admission): rate limit, workspace
 * switch, agent name, target policy, the `further` check, chain depth and chain deadline.
 * @param call its target is set here, for the audit
 * @param further requirements of this kind of call; throws when the target doesn't meet them
 * @param found the target, if the request has found it already. Default: found by the name in the call
 * @throws `rate_limited`, `tool_denied`, `unknown_agent`, `ambiguous_agent`, `chain_too_deep`, `chain_budget_exceeded`
 */
export const admitCall = async (
  work: Work,
  caller: CallingAgent,
  call: CallInProgress,
  further: (target: Agent) => Promise<void> | void,
  found?: FoundAgent,
): Promise<Admitted> => {
  const [, position] = await Promise.all([
    limitCalls(work, caller.installation.id),
    loadCallPosition(work, caller.installation.id, caller.run, caller.bound),
  ])
  call.private_to = position.private_to
  refuseSwitchedOff(caller.workspace)
  const target =
    found ?? findAgent(await listActiveAgents(work, caller.workspace.id), caller.installation, call.call.agent)
  call.target = target
  refuseByPolicy(target.installation, caller.installation)
  await further(target)
  return { target, chain: nextPosition(work, position, call.call), caller: shownCaller(caller) }
}

const limitCalls = async (work: Work, installationId: string): Promise<void> => {
  const { allowed, retryAfter } = await takeFromBucket(work, `agent-calls:${installationId}`, LIMITS.agentCallRate)
  if (allowed) return
  throw rateLimited('installation', retryAfter, {
    message: `Limit of ${LIMITS.agentCallRate.burst} calls to other agents a minute exceeded for this installation.`,
    fix: `Wait ${retryAfter} s (Retry-After), then call again.`,
  })
}

const refuseSwitchedOff = ({ cross_agent_enabled }: Workspace): void => {
  if (cross_agent_enabled) return
  throw fail('tool_denied', {
    message: 'Calls between agents are turned off in this workspace.',
    fix: 'Ask the workspace owner to turn them on with PUT /console/settings/cross-agent.',
    details: { reason: 'organization' },
  })
}

const refuseByPolicy = (target: Installation, caller: Installation): void => {
  if (allowsCaller(target, caller)) return
  throw fail('tool_denied', {
    message: 'The agent’s policy doesn’t allow calls from this agent.',
    fix: 'Ask its owner to add this agent to allowed_callers with PUT /console/installations/{id}/policy.',
    details: { reason: 'agent_policy' },
  })
}

const nextPosition = (
  { clock }: Work,
  position: Awaited<ReturnType<typeof loadCallPosition>>,
  { audience }: AgentCall,
): Admitted['chain'] => {
  const chain_depth = position.chain_depth + 1
  if (chain_depth > LIMITS.chainDepth) throw fail('chain_too_deep')
  refuseEndedChain({ clock }, position)
  if (position.chain_deadline <= clock.now()) throw fail('chain_budget_exceeded')
  return {
    ...position,
    chain_depth,
    audience: audience === 'external' ? 'external' : position.audience,
  }
}

const shownCaller = ({ installation, app, run }: CallingAgent): Admitted['caller'] => ({
  installation_id: installation.id,
  app_id: app.id,
  slug: app.slug,
  name: app.name,
  run_id: run?.id,
})
