import type { App } from '../../entities/apps.ts'
import type { Installation } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import type { Run } from '../../entities/runs.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Work } from '../deps.ts'
import { take } from '../limits/gcra.ts'
import { type ChainPosition, positionOfCall } from '../runs/chain.ts'
import type { AgentCall, Calling } from './audit.ts'
import { type Agent, agentsOf, allowsCaller, findAgent } from './find.ts'

/** Who calls: an installation, perhaps from within a run. */
export interface CallingAgent {
  installation: Installation
  app: Pick<App, 'id' | 'slug' | 'name'>
  workspace: Workspace
  run: Run | undefined
  /** The token is the run's own callback token. */
  bound: boolean
}

export interface Admitted {
  target: Agent
  /** Where what the call causes stands: one deeper than the caller. */
  chain: Partial<ChainPosition> & Pick<ChainPosition, 'chain_depth' | 'chain_deadline' | 'audience'>
  /** What the target is told of the caller. */
  caller: NonNullable<Run['caller']>
}

/**
 * Every rule that stands between one agent and another (specification "delegate_task", "ask_agent", decisions §5): the
 * rate, the organization's switch, the name, the target's policy, what else `further` asks of the target, and the chain's
 * depth and time.
 * @param call learns its target, for the audit
 * @param further what this kind of call needs of the target; throws when it lacks it
 * @throws `rate_limited`, `tool_denied`, `unknown_agent`, `ambiguous_agent`, `chain_too_deep`, `chain_budget_exceeded`
 */
export const admitCall = async (
  work: Work,
  caller: CallingAgent,
  call: Calling,
  further: (target: Agent) => Promise<void> | void,
): Promise<Admitted> => {
  await limitCalls(work, caller.installation.id)
  refuseSwitchedOff(caller.workspace)
  const [agents, position] = await Promise.all([
    agentsOf(work, caller.workspace.id),
    positionOfCall(work, caller.installation.id, caller.run, caller.bound),
  ])
  const target = findAgent(agents, caller.installation, call.call.agent)
  call.target = target
  refuseByPolicy(target.installation, caller.installation)
  await further(target)
  return { target, chain: oneDeeper(work, position, call.call), caller: shownCaller(caller) }
}

const limitCalls = async (work: Work, installationId: string): Promise<void> => {
  const { allowed, retryAfter } = await take(work, `agent-calls:${installationId}`, LIMITS.agentCallRate)
  if (allowed) return
  throw fail('rate_limited', {
    message: `An installation makes at most ${LIMITS.agentCallRate.burst} calls of other agents a minute.`,
    fix: `Wait ${retryAfter} s (Retry-After), then call again.`,
    details: { limit_scope: 'installation' },
    headers: { 'retry-after': String(retryAfter) },
  })
}

const refuseSwitchedOff = ({ cross_agent_enabled }: Workspace): void => {
  if (cross_agent_enabled) return
  throw fail('tool_denied', {
    message: 'The organization switched calls between agents off.',
    fix: 'Its owner can switch them on with PUT /console/settings/cross-agent.',
    details: { reason: 'organization' },
  })
}

const refuseByPolicy = (target: Installation, caller: Installation): void => {
  if (allowsCaller(target, caller)) return
  throw fail('tool_denied', {
    message: 'The agent’s owner does not let this agent call it.',
    fix: 'The owner can add this agent to allowed_callers with PUT /console/installations/{id}/policy.',
    details: { reason: 'agent_policy' },
  })
}

const oneDeeper = (
  { clock }: Work,
  position: Awaited<ReturnType<typeof positionOfCall>>,
  { audience }: AgentCall,
): Admitted['chain'] => {
  const chain_depth = position.chain_depth + 1
  if (chain_depth > LIMITS.chainDepth) throw fail('chain_too_deep')
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
