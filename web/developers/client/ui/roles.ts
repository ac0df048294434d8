import { t } from '../../../ui/messages.ts'
import { identity } from '../account.ts'
import type { Schemas } from '../api.ts'
import type { paths as DeveloperPaths } from '../developer.d.ts'
import type { paths as SandboxPaths } from '../integration.d.ts'
import { EXCEPTIONS } from './rights.ts'

export type Role = Schemas['DeveloperMember']['role']

/** Roles of teammates and keys, strongest first, with what each may do. */
export const ROLES: readonly [role: Role, label: string, rights: string][] = [
  ['owner', t('Owner'), t('Everything, with teammates, keys and deleting apps.')],
  ['developer', t('Developer'), t('Everything except teammates, keys and deleting apps.')],
  ['viewer', t('Viewer'), t('Reads only.')],
]

export const roleLabel = (role: Role): string => ROLES.find(([name]) => name === role)?.[1] ?? role

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

type ActionsOf<Paths> = {
  [P in keyof Paths & string]: {
    [M in Method & keyof Paths[P]]: [NonNullable<Paths[P][M]>] extends [never] ? never : `${Uppercase<M>} ${P}`
  }[Method & keyof Paths[P]]
}[keyof Paths & string]

/** A request of the portal, such as `POST /api/v1/dev/apps`. */
export type Action = ActionsOf<DeveloperPaths> | ActionsOf<SandboxPaths>

/** Role that an action needs, by the rule of the API: viewers read, developers change things, and exceptions are declared. */
const neededFor = (action: Action): Role => EXCEPTIONS[action] ?? (action.startsWith('GET ') ? 'viewer' : 'developer')

/** True if the signed-in developer's role allows an action. The API checks it as well. */
export const may = (action: Action): boolean => {
  const rank = (role: Role | undefined): number => ROLES.findIndex(([name]) => name === role)
  const own = rank(identity.value?.role)
  return own >= 0 && own <= rank(neededFor(action))
}

/** Says why the signed-in developer can't do something, or returns undefined if they can. */
export const refusalOf = (action: Action): string | undefined =>
  may(action)
    ? undefined
    : t('Your role, {role}, doesn’t allow this. Ask an owner of the account for the role {needed}.', {
        role: roleLabel(identity.value?.role ?? 'viewer'),
        needed: roleLabel(neededFor(action)),
      })
