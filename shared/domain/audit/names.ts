import { AppEntity } from '../../entities/apps.ts'
import { DeveloperEntity } from '../../entities/developers.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import { UserEntity } from '../../entities/people.ts'
import type { AuditEntry } from '../../entities/platform.ts'
import { isId } from '../../kernel/ids.ts'
import type { Ref } from '../../table/table.ts'
import type { Deps } from '../deps.ts'
import { type Names, nameKey } from './schemas.ts'

type Named = AuditEntry['actor']

const DELETED = 'Deleted person'

/** What has the same name in every entry. */
const FIXED: Record<string, string> = {
  system: 'The platform',
  platform: 'The platform',
  admin: 'The platform’s staff',
}

/** How everybody and everything that these entries name is called now, in one batch. */
export const namesOf = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  entries: readonly AuditEntry[],
): Promise<Names> => {
  const all = new Map(entries.flatMap(({ actor, target }) => [actor, target]).map((one) => [nameKey(one), one]))
  const wanted = [...all.values()].flatMap((one) => {
    const ref = refOf(workspaceId, one)
    return ref ? [{ one, ref }] : []
  })
  const found = (await table.getAll(wanted.map(({ ref }) => ref))) as (Record<string, unknown> | undefined)[]
  const names = new Map<string, string>()
  for (const one of all.values()) {
    const fixed = FIXED[one.type]
    if (fixed !== undefined) names.set(nameKey(one), fixed)
  }
  for (const [i, { one }] of wanted.entries()) {
    const name = nameIn(one, found[i])
    if (name !== undefined) names.set(nameKey(one), name)
  }
  return names
}

const refOf = (workspace_id: string, { type, id }: Named): Ref | undefined => {
  if (type === 'user' && isId('user', id)) return { entity: UserEntity, key: UserEntity.key({ id }) }
  if (type === 'developer' && isId('developer', id))
    return { entity: DeveloperEntity, key: DeveloperEntity.key({ id }) }
  if (type === 'app' && isId('app', id)) return { entity: AppEntity, key: AppEntity.key({ id }) }
  // An agent is named by its installation, in this workspace.
  return isId('installation', id)
    ? { entity: InstallationEntity, key: InstallationEntity.key({ workspace_id, id }) }
    : undefined
}

const nameIn = ({ type }: Named, record: Record<string, unknown> | undefined): string | undefined => {
  const name = record?.name ?? record?.app_name
  // A person who is gone leaves a record without a name, or none.
  if (type === 'user') return record && !String(record.status).startsWith('delet') && name ? String(name) : DELETED
  return name === undefined ? undefined : String(name)
}
