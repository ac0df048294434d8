import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity, rightsOf } from '#shared/identity/developers/index.ts'
import type { Grant } from './entity.ts'

/**
 * Returns what the developer's key, session or teammate that gave a sandbox grant still allows. `writes` for other grants.
 * A sandbox token ends with what gave it (contract/apps-and-manifests.md#sandbox-tokens).
 */
export const sandboxRights = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  grant: Pick<Grant, 'giver'> | undefined,
): Promise<'writes' | 'reads' | 'ended'> => {
  if (!grant?.giver) return 'writes'
  const { developer_id, given_by } = grant.giver
  const rights = rightsOf(await table.get(DeveloperEntity, { id: developer_id }), given_by, clock.now())
  if (!rights) return 'ended'
  return rights.role === 'viewer' ? 'reads' : 'writes'
}
