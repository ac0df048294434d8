import type { Work } from '../domain/deps.ts'
import { newId } from '../kernel/ids.ts'
import type { Caller } from './callers.ts'
import type { Exchange } from './exchange.ts'
import { answerOf } from './render.ts'

/** Who calls, as one name: what an Idempotency-Key is scoped to and what logs say. Undefined before sign-in. */
export const callerName = (caller: Caller): string | undefined => {
  switch (caller.kind) {
    case 'integration':
      return caller.run ? `${caller.installation.id}/${caller.run.id}` : caller.installation.id
    case 'developer':
      return caller.developerId
    case 'console':
      return `${caller.user.id}/${caller.workspace.id}`
    case 'admin':
      return caller.keyName ? `${caller.admin.id}/${caller.keyName}` : caller.admin.id
    case 'client':
      return `client/${caller.app.id}`
    case 'none':
      return undefined
  }
}

/** The unit of work of a request. Under an Idempotency-Key its answer is kept in the transaction of its change. */
export const workOf = (exchange: Exchange): Work => {
  const { deps, hold, requestId, sourceIp } = exchange
  return {
    ...deps,
    requestId,
    sourceIp,
    id: hold?.id ?? ((kind) => newId(kind, deps.clock.now())),
    async commit(writes, value) {
      if (!hold || value === undefined) return deps.table.transact(writes)
      const kept = answerOf(exchange, value)
      kept.headers = { ...kept.headers, 'x-request-id': requestId }
      await deps.table.transact([...writes, await hold.completion(kept)])
      exchange.committed = kept
    },
  }
}
