import type { PersonPrincipal } from '#shared/access/hosts/index.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { CallingAgent } from '../calls/index.ts'
import type { A2aAgent } from './find.ts'

interface Caller {
  /** The caller, as `callerName` names it. */
  by: string
}

interface AgentClient extends CallingAgent, Caller {
  kind: 'agent'
}

interface PersonClient extends Caller {
  kind: 'person'
  principal: PersonPrincipal
}

/** A caller of A2A agents: an integration, or a person through their host. It sees only the tasks that it started. */
export type A2aClient = AgentClient | PersonClient

/** The caller and the agent that it talks to. */
export interface A2aScene {
  client: A2aClient
  agent: A2aAgent
}

export const hashOfCaller = ({ by }: A2aClient): string => sha256(by)

/** Returns a hash of the caller, the agent and a name that the caller gives. */
export const scopedHash = ({ client, agent }: A2aScene, kind: 'message' | 'context', name: string): string =>
  sha256(JSON.stringify([kind, agent.installation.id, client.by, name]))
