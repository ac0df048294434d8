import { type A2aScene, findA2aAgent } from '#shared/agents/a2a/index.ts'
import { listCallableAgents } from '#shared/agents/calls/index.ts'
import { personRefusal } from '#shared/agents/person-tools/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { callerName, type IntegrationCaller, type PersonCaller } from '#shared/http/callers.ts'
import { scopeRefusal } from '#shared/identity/people/index.ts'
import { A2aError, a2aVersion } from '#shared/kernel/a2a-error.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/kernel/scopes.ts'

export type Headers = Record<string, string>
export type Query = readonly [string, string][]

/** Versions of the protocol. */
export type Version = '1.0' | '0.3'

/** An integration, or a person who acts through a host. */
export type A2aCaller = IntegrationCaller | PersonCaller

/** A request to an agent, as every binding understands it. */
export interface Asking {
  work: Work
  caller: A2aCaller
  scene: A2aScene
  headers: Headers
}

/**
 * Finds the agent that a request is for.
 * @throws `not_found` also for another workspace's agent
 */
export const sceneFor = async (work: Work, caller: A2aCaller, id: string): Promise<A2aScene> => {
  if (caller.kind === 'integration' && id === caller.installation.id) throw noAgent()
  const agent = await findA2aAgent(work, id, caller.workspace)
  const by = callerName(caller) as string
  if (caller.kind === 'person') return { agent, client: { kind: 'person', principal: caller, by } }
  const { app, workspace, run } = caller
  const bound = run !== undefined
  return { agent, client: { kind: 'agent', installation: caller.installation, app, workspace, run, bound, by } }
}

const noAgent = () => fail('not_found', { message: 'No A2A agent that you can call is installed under this id.' })

/** @throws `insufficient_scope`, `scope_denied_by_admin` */
export const requireScope = (caller: A2aCaller, scope: Scope): void => {
  const refusal =
    caller.kind === 'person'
      ? personRefusal(caller, scope, 'This operation')
      : scopeRefusal(scope, caller, 'This operation')
  if (refusal) throw refusal
}

/** Refuses a caller that couldn't ask the agent now. @throws `not_found` */
export const requireCallable = async ({ work, caller, scene }: Asking): Promise<void> => {
  // The workspace's switch and the agent's policy are about calls between agents.
  const asking = caller.kind === 'person' ? { workspace: caller.workspace } : caller
  const [callable] = await listCallableAgents(work, asking, scene.agent.app.slug)
  if (!callable) throw noAgent()
}

/** @throws {A2aError} `VERSION_NOT_SUPPORTED` */
export const requireVersion = (headers: Headers, query: Query, ...supported: Version[]): Version => {
  const version = a2aVersion(headers, query)
  const found = supported.find((one) => one === version)
  if (found) return found
  throw new A2aError('VERSION_NOT_SUPPORTED', {
    message: `This address doesn’t speak version ${version.slice(0, 20)} of A2A.`,
    fix: `Send A2A-Version: ${supported.join(' or ')}, or use another interface of the agent’s card.`,
  })
}
