import type { Developer } from '../../entities/developers.ts'
import type { Workspace } from '../../entities/people.ts'
import { RosterEntity, type RosterKind, RosterNameEntity } from '../../entities/roster.ts'
import type { Write } from '../../table/entity.ts'
import { counted, movedBetween } from '../totals.ts'

export const DEVELOPER_STATUSES = ['active', 'blocked'] as const
export const WORKSPACE_STATUSES = ['active', 'suspended', 'deleting'] as const

/** Where something stands in the rosters, and by which names it is found there. */
export interface Place {
  kind: RosterKind
  id: string
  list: string
  names: string[]
}

export const developersBy = (status: Developer['status'], verified: boolean): string =>
  `developers-${status}-${verified ? 'verified' : 'unverified'}`

export const workspacesBy = (status: Workspace['status'], isSandbox: boolean): string =>
  `workspaces-${status}-${isSandbox ? 'sandbox' : 'customer'}`

const NAME_CHARACTERS = 200

/** As names are compared: without case, without the differences that Unicode makes between alike characters. */
export const folded = (name: string): string => name.normalize('NFKC').trim().toLowerCase().slice(0, NAME_CHARACTERS)

const names = (...given: (string | undefined)[]): string[] => [
  ...new Set(given.map((name) => folded(name ?? '')).filter((name) => name !== '')),
]

export const placeOfDeveloper = ({
  id,
  status,
  verified,
  email,
  name,
  company,
}: Pick<Developer, 'id' | 'status' | 'verified' | 'email' | 'name' | 'company'>): Place => ({
  kind: 'developer',
  id,
  list: developersBy(status, verified),
  names: names(email, name, company),
})

export const placeOfWorkspace = ({
  id,
  status,
  is_sandbox,
  name,
}: Pick<Workspace, 'id' | 'status' | 'is_sandbox' | 'name'>): Place => ({
  kind: 'workspace',
  id,
  list: workspacesBy(status, is_sandbox),
  names: names(name),
})

/**
 * Moves something from one place in the rosters to another, with the totals; undefined: it is new, or goes. Both come from the
 * record itself, so the transaction has to hold its status and names to what they were.
 */
export const rosterWrites = (before: Place | undefined, after: Place | undefined): Write[] => {
  const place = after ?? before
  if (!place) return []
  const { kind, id } = place
  const list = after?.list
  const moved = before?.list !== list
  const gone = (before?.names ?? []).filter((name) => !after?.names.includes(name))
  const written = (after?.names ?? []).filter((name) => moved || !before?.names.includes(name))
  return [
    ...(moved && list !== undefined ? [RosterEntity.replace({ kind, id, list })] : []),
    ...(list === undefined ? [RosterEntity.delete({ kind, id })] : []),
    ...gone.map((name) => RosterNameEntity.delete({ kind, name, id })),
    ...(list === undefined ? [] : written.map((name) => RosterNameEntity.replace({ kind, name, id, list }))),
    ...totals(before?.list, list, id),
  ]
}

const totals = (from: string | undefined, to: string | undefined, id: string): Write[] => {
  if (from !== undefined && to !== undefined) return movedBetween(from, to, id)
  if (to !== undefined) return [counted(to, id, 1)]
  return from === undefined ? [] : [counted(from, id, -1)]
}
