import { requestFunctions } from '#functions/registry.ts'
import { EVENTS } from '#shared/delivery/catalogue/catalogue.ts'
import { SCOPES } from '#shared/kernel/scopes.ts'

/** The public surface: one line per endpoint, scope and public event type. */
export const surface = (): string => {
  const requests = Object.values(requestFunctions)
    .flat()
    .map(({ method, path, caller, scope, role, list }) =>
      [path, method, caller, scope, role, list].map((part) => part ?? '-').join(' '),
    )
  const events = Object.entries(EVENTS).flatMap(([type, { audience }]) => (audience === 'internal' ? [] : [type]))
  const parts = [requests, Object.keys(SCOPES), events].map((part) => part.sort().join('\n'))
  return `${parts.join('\n\n')}\n`
}
