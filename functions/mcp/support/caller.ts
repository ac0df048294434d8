import { isDenied, personRefusal, viaOf } from '#shared/agents/person-tools/index.ts'
import { loadToolRefusal } from '#shared/agents/tools/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { IntegrationCaller, PersonCaller } from '#shared/http/callers.ts'
import { scopeRefusal } from '#shared/identity/people/index.ts'
import type { PlatformError } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import type { Responder } from '#shared/work/questions/index.ts'

/** An integration, or a person who acts through a host. */
export type McpCaller = IntegrationCaller | PersonCaller

export const isPerson = (caller: McpCaller): caller is PersonCaller => caller.kind === 'person'

/** Scope of a person's calls to agents. */
const ASKING = 'runs:write' satisfies Scope

/** Returns why the caller may not call agents' tools now. */
export const loadAskRefusal = async (
  deps: Pick<Deps, 'table'>,
  caller: McpCaller,
): Promise<PlatformError | undefined> =>
  isPerson(caller) ? personRefusal(caller, ASKING, 'Calling an agent') : loadToolRefusal(deps, caller, 'ask_agent')

/** Reports whether agents' tools are listed. A person's list has what a new consent could bring, too. */
export const mayListAgents = (caller: PersonCaller): boolean => !isDenied(caller, ASKING)

/** @param what the action, as the subject of a sentence */
export const refusalOf = (caller: McpCaller, scope: Scope, what: string): PlatformError | undefined =>
  isPerson(caller) ? personRefusal(caller, scope, what) : scopeRefusal(scope, caller, what)

/** Caller that answers an agent's questions over the protocol. */
export const responderOf = (caller: McpCaller): Responder =>
  isPerson(caller)
    ? { type: 'user', id: caller.person.id, via: viaOf(caller.grant) }
    : { type: 'installation', id: caller.installation.id }
