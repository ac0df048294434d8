import { totalMoveWrites, totalWrite } from '#shared/foundation/totals/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { RosterEntity, type RosterKind, RosterNameEntity } from './entity.ts'

export const DEVELOPER_STATUSES = ['active', 'blocked'] as const

type DeveloperStatus = (typeof DEVELOPER_STATUSES)[number]
export const WORKSPACE_STATUSES = ['active', 'suspended', 'deleting'] as const
type WorkspaceStatus = (typeof WORKSPACE_STATUSES)[number]

/** Place of a developer or workspace in the roster: its list and the names it is found by. */
export interface Place {
  kind: RosterKind
  id: string
  list: string
  names: string[]
}

export const developersBy = (status: DeveloperStatus, verified: boolean): string =>
  `developers-${status}-${verified ? 'verified' : 'unverified'}`

export const workspacesBy = (status: WorkspaceStatus, isSandbox: boolean): string =>
  `workspaces-${status}-${isSandbox ? 'sandbox' : 'customer'}`

const NAME_CHARACTERS = 200

/** Folds a name for comparison: ignores case and Unicode compatibility differences. */
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
}: {
  id: string
  status: DeveloperStatus
  verified: boolean
  email: string
  name: string
  company?: string | undefined
}): Place => ({
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
}: {
  id: string
  status: WorkspaceStatus
  is_sandbox: boolean
  name: string
}): Place => ({
  kind: 'workspace',
  id,
  list: workspacesBy(status, is_sandbox),
  names: names(name),
})

/**
 * Returns the writes that move a record from one place in the roster to another, with the totals. An undefined place
 * means that the record is new or deleted. The transaction must also check that the record's status and names are
 * unchanged, because both places derive from them.
 */
export const rosterWrites = (before: Place | undefined, after: Place | undefined): Write[] => {
  const place = after ?? before
  if (!place) return []
  const { kind, id } = place
  const list = after?.list
  const moved = before?.list !== list
  const removed = (before?.names ?? []).filter((name) => !after?.names.includes(name))
  const written = (after?.names ?? []).filter((name) => moved || !before?.names.includes(name))
  return [
    ...(moved && list !== undefined ? [RosterEntity.replace({ kind, id, list })] : []),
    ...(list === undefined ? [RosterEntity.delete({ kind, id })] : []),
    ...removed.map((name) => RosterNameEntity.delete({ kind, name, id })),
    ...(list === undefined ? [] : written.map((name) => RosterNameEntity.replace({ kind, name, id, list }))),
    ...totals(before?.list, list, id),
  ]
}

const totals = (from: string | undefined, to: string | undefined, id: string): Write[] => {
  if (from !== undefined && to !== undefined) return totalMoveWrites(from, to, id)
  if (to !== undefined) return [totalWrite(to, id, 1)]
  return from === undefined ? [] : [totalWrite(from, id, -1)]
}
