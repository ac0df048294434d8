import { InstallationEntity } from '#shared/access/installations/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { UserEntity } from '#shared/identity/people/index.ts'
import { isId } from '#shared/kernel/ids.ts'
import type { AuditEntry } from '#shared/staff/audit/index.ts'
import type { Ref } from '#shared/table/entity.ts'
import { mentioned, type Names, nameKey } from './schemas.ts'

type Named = AuditEntry['actor']
const DELETED = 'Deleted person'

/** Names that are the same in every entry. */
const FIXED: Record<string, string> = {
  system: 'The platform',
  platform: 'The platform',
  admin: 'A platform admin',
}

/** Loads the current names of all actors, targets and records in the details of these entries, in one batch. */
export const loadNames = async ({ table }: Pick<Deps, 'table'>, entries: readonly AuditEntry[]): Promise<Names> => {
  const all = new Map(
    entries
      .flatMap(({ scope, actor, target, details }) =>
        [actor, target, ...mentioned(details)].map((named) => ({ scope, ...named })),
      )
      .map((named) => [nameKey(named), named]),
  )
  const wanted = [...all.values()].flatMap((named) => {
    const ref = refOf(named)
    return ref ? [{ named, ref }] : []
  })
  const found = (await table.getAll(wanted.map(({ ref }) => ref))) as (Record<string, unknown> | undefined)[]
  const names = new Map<string, string>()
  for (const named of all.values()) {
    const fixed = FIXED[named.type]
    if (fixed !== undefined) names.set(nameKey(named), fixed)
  }
  for (const [i, { named }] of wanted.entries()) {
    const name = nameIn(named, found[i])
    if (name !== undefined) names.set(nameKey(named), name)
  }
  return names
}

const refOf = ({ scope: workspace_id, type, id }: Named & { scope: string }): Ref | undefined => {
  if (type === 'user' && isId('user', id)) return UserEntity.ref({ id })
  if (type === 'developer' && isId('developer', id)) return DeveloperEntity.ref({ id })
  if (type === 'app' && isId('app', id)) return AppEntity.ref({ id })
  // An agent is identified by its installation in this workspace.
  return isId('installation', id) ? InstallationEntity.ref({ workspace_id, id }) : undefined
}

const nameIn = ({ type }: Named, record: Record<string, unknown> | undefined): string | undefined => {
  const name = record?.name ?? record?.app_name
  // A deleted person's record has no name or no longer exists.
  if (type === 'user') return record && !String(record.status).startsWith('delet') && name ? String(name) : DELETED
  return name === undefined ? undefined : String(name)
}
