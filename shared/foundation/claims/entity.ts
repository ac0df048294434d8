import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const claim = () => z.object({ kind: z.string(), value: z.string(), owner_id: z.string() })

/** Value that only one owner may have: developer e-mail, vendor, slug, admin e-mail. Created in the owner's transaction. */
export const ClaimEntity = defineEntity({
  name: 'claim',
  schema: claim,
  pk: 'CLAIM#{kind}#{value}',
  sk: 'CLAIM',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})

const counter = () =>
  z.object({ owner: z.string(), counter: z.string(), n: z.number() }).catchall(z.union([z.string(), z.number()]))

/**
 * Exact count per owner, updated in the transaction that creates or removes a counted record. A counter of few records
 * may also name them, under their ids.
 */
export const CounterEntity = defineEntity({
  name: 'counter',
  schema: counter,
  pk: 'COUNT#{owner}',
  sk: 'COUNT#{counter}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
