import { randomBytes } from 'node:crypto'
import type { Platform } from '#local/platform.ts'
import type { IdKind } from '#shared/kernel/ids.ts'
import { must } from '#test/e2e/support.ts'
import { type Receiver, startReceiver } from '#test/support/receiver.ts'
import { createCustomer } from './world/customer.ts'
import { createStaff } from './world/staff.ts'
import { createVendor } from './world/vendor.ts'

/** Headers that show who calls, named as the OpenAPI document has them. */
export type Credential = Record<string, string>

export type Ids = Partial<Record<IdKind, string>>

/** How long what workers do is waited for, on a machine that is busy. */
export const PATIENCE_MS = 120_000

/** What a part of a world is made with. */
export interface Making {
  platform: Platform
  /** In no other world's names. */
  unique: string
  /** Sends a request that must succeed. @returns the answer's body */
  call(method: string, to: string, credential: Credential, body?: object): ReturnType<typeof must>
}

export const bearer = (token: string): Credential => ({ Authorization: `Bearer ${token}` })

/** Has every right of the staff, locally. */
export const LOCAL_ADMIN: Credential = { 'X-Admin-Key': 'local-admin-key' }

/**
 * Makes records of every kind that hang together, and everybody who may use them, over HTTP. The agent in it answers
 * whatever it is sent, at once.
 */
export const createWorld = async (platform: Platform) => {
  const agent = await startReceiver()
  agent.answer(SUCCEEDED)
  return fill(platform, agent).catch(async (error) => {
    await agent.close()
    throw error
  })
}

const fill = async (platform: Platform, agent: Receiver) => {
  const call: Making['call'] = (method, to, headers, body) =>
    must(platform.baseUrl, method, to, { headers, ...(method !== 'GET' && { body: body ?? {} }) })
  const making = { platform, unique: randomBytes(5).toString('hex'), call }
  const vendor = await createVendor(making, agent)
  const customer = await createCustomer(making, agent, vendor)
  const staff = await createStaff(making)
  return {
    credentials: { developer: vendor.credential, ...customer.credentials, ...staff.credentials },
    client: { client_id: vendor.app.client_id, client_secret: vendor.app.client_secret },
    /** An id that exists, by its kind. */
    ids: { ...vendor.ids, ...customer.ids, ...staff.ids } as Ids,
    /** What stands in a path and is no id, by the operation or else the parameter's name. */
    texts: { ...TEXTS, slug: vendor.slug } as Record<string, string>,
    /** Who does what ends their own credential, by operation. */
    spares: { ...vendor.spares, ...customer.spares } as Record<string, Credential>,
    /** A run that may end, and with it its callback token. */
    ending: customer.ending,
    /** Names of the rate limits' buckets that all these share. */
    buckets: [...vendor.buckets, ...customer.buckets, ...staff.buckets],
    close: () => agent.close(),
  }
}

export type World = Awaited<ReturnType<typeof createWorld>>

const SUCCEEDED = {
  kind: 'answer',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ status: 'succeeded', output: { text: 'done' } }),
} as const

const TEXTS = {
  v: '1.0.0',
  page: 'quickstart',
  dataset: 'apps',
  'developer.sdkExamples.read': 'main.py',
  'api.tools.invoke': 'emit_event',
}
