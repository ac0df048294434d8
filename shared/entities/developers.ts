import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const developer = () =>
  z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    company: z.string().optional(),
    status: z.enum(['active', 'blocked']),
    /** Why the platform’s staff blocked it. */
    status_reason: z.string().optional(),
    /** First part of manifest ids, unique, fixed by the first publication. */
    vendor: z.string().optional(),
    verified: z.boolean(),
    sandbox_workspace_id: z.string(),
    /** The newest link into it, which may have been used. */
    sandbox_invitation_id: z.string().optional(),
    key_hash: z.string(),
    created_at: z.number(),
  })

export type Developer = z.infer<ReturnType<typeof developer>>

export const DeveloperEntity = defineEntity<Developer>()({
  name: 'developer',
  schema: developer,
  pk: 'DEV#{id}',
  sk: 'DEV',
  directory: ({ id }) => ({ list: 'developers', sort: id }),
})

const key = () =>
  z.object({
    key_hash: z.string(),
    developer_id: z.string(),
    /** Repeats the account's status, so that authentication is one read. `ended` opens nothing but its own rotation's answer. */
    status: z.enum(['active', 'blocked', 'ended']),
    created_at: z.number(),
    /** Of an ended one: SHA-256 of the Idempotency-Key under which its rotation is asked for again, and until when. */
    recovery_hash: z.string().optional(),
    expires_at: z.number().optional(),
  })

/** The hash of a developer key → whose it is. Rotation ends the old one. */
export const DeveloperKeyEntity = defineEntity<z.infer<ReturnType<typeof key>>>()({
  name: 'developer-key',
  schema: key,
  pk: 'DEVKEY#{key_hash}',
  sk: 'KEY',
  expires: ({ expires_at }) => expires_at,
})

const claim = () => z.object({ kind: z.string(), value: z.string(), owner_id: z.string() })

/** A value that only one owner may have: developer e-mail, vendor, slug, admin e-mail. Created in the owner's transaction. */
export const ClaimEntity = defineEntity<z.infer<ReturnType<typeof claim>>>()({
  name: 'claim',
  schema: claim,
  pk: 'CLAIM#{kind}#{value}',
  sk: 'CLAIM',
})

const counter = () => z.object({ owner: z.string(), counter: z.string(), n: z.number() })

/** An exact count beside its owner, moved in the transaction that creates or removes what it counts. */
export const CounterEntity = defineEntity<z.infer<ReturnType<typeof counter>>>()({
  name: 'counter',
  schema: counter,
  pk: 'COUNT#{owner}',
  sk: 'COUNT#{counter}',
})
