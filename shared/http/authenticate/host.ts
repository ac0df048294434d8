import { authenticateHost } from '#shared/access/hosts/index.ts'
import { limitAnonymous, limitDocuments } from '../anonymous.ts'
import type { Authenticator } from './types.ts'

/** Identifies a person's host at the token endpoints. Its id is public, so that the source address is what is limited. */
export const host: Authenticator<'host'> = async (deps, { body, path, sourceIp, again }) => {
  if (!again) await limitAnonymous(deps, { anonymous: 'hostTokens' }, sourceIp)
  const beforeReading = () => limitDocuments(deps, sourceIp)
  // A host that pushes its request may come for the first time.
  const client = await authenticateHost(deps, (body ?? {}) as Record<string, unknown>, {
    beforeReading,
    mayBeNew: path === '/connect/par',
  })
  return { caller: { kind: 'host', client }, headers: {} }
}
