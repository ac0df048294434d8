import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const KINDS = ['developer', 'workspace'] as const

export type RosterKind = (typeof KINDS)[number]

const roster = () => z.object({ kind: z.enum(KINDS), id: z.string(), list: z.string() })

/**
 * Roster entry that lists a developer or a workspace by status for admins. Each is in exactly one list. Written in the
 * transaction of every change of status.
 */
export const RosterEntity = defineEntity({
  name: 'roster',
  schema: roster,
  pk: 'ROSTER#{kind}#{id}',
  sk: 'ROSTER',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  directory: ({ list, id }) => ({ list, sort: id }),
})

const rosterName = () => z.object({ kind: z.enum(KINDS), name: z.string(), id: z.string(), list: z.string() })

/** Roster entry by folded name, in alphabetical order, for search by name prefix. */
export const RosterNameEntity = defineEntity({
  name: 'roster-name',
  schema: rosterName,
  pk: 'ROSTERNAMES#{kind}',
  sk: 'NAME#{name}#{id}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})
