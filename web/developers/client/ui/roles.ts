import { t } from '../../../ui/messages.ts'
import { identity } from '../account.ts'
import type { Schemas } from '../api.ts'

export type Role = Schemas['DeveloperMember']['role']

/** Roles of teammates and keys, strongest first, with what each may do. */
export const ROLES: readonly [role: Role, label: string, rights: string][] = [
  ['owner', t('Owner'), t('Everything, with teammates, keys and deleting apps.')],
  ['developer', t('Developer'), t('Everything except teammates, keys and deleting apps.')],
  ['viewer', t('Viewer'), t('Reads only.')],
]

export const roleLabel = (role: Role): string => ROLES.find(([name]) => name === role)?.[1] ?? role

/** True if the signed-in developer's role is at least the given one. The API checks it as well. */
export const may = (needed: Role): boolean => {
  const rank = (role: Role | undefined): number => ROLES.findIndex(([name]) => name === role)
  const own = rank(identity.value?.role)
  return own >= 0 && own <= rank(needed)
}
