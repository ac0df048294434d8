import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const KINDS = ['developer', 'workspace'] as const
export type RosterKind = (typeof KINDS)[number]

const roster = () => z.object({ kind: z.enum(KINDS), id: z.string(), list: z.string() })

/**
 * Where the platform’s staff finds a developer or a workspace: in the one list that says what state it is in. Written with
 * every change of that state, in its transaction.
 */
export const RosterEntity = defineEntity<z.infer<ReturnType<typeof roster>>>()({
  name: 'roster',
  schema: roster,
  pk: 'ROSTER#{kind}#{id}',
  sk: 'ROSTER',
  directory: ({ list, id }) => ({ list, sort: id }),
})

const rosterName = () => z.object({ kind: z.enum(KINDS), name: z.string(), id: z.string(), list: z.string() })

/** The same by what it is called, folded, in the order of the alphabet: found by how the name begins. */
export const RosterNameEntity = defineEntity<z.infer<ReturnType<typeof rosterName>>>()({
  name: 'roster-name',
  schema: rosterName,
  pk: 'ROSTERNAMES#{kind}',
  sk: 'NAME#{name}#{id}',
})
