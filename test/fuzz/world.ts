import { randomBytes } from 'node:crypto'
import type { Platform } from '#local/platform.ts'
import { must } from '#test/e2e/support.ts'
import { type Receiver, startReceiver, succeeds } from '#testkit/receiver.ts'
import type { Credential, Ids, WorldContext } from './world/context.ts'
import { createCustomer } from './world/customer.ts'
import { createStaff } from './world/staff.ts'
import { createVendor } from './world/vendor.ts'

/**
 * Creates related records of every kind, and everyone who may use them, over HTTP. Its agent answers every request at
 * once.
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
  const call: WorldContext['call'] = (method, to, headers, body) =>
    must(platform.baseUrl, method, to, { headers, ...(method !== 'GET' && { body: body ?? {} }) })
  const making = { platform, unique: randomBytes(5).toString('hex'), call }
  const vendor = await createVendor(making, agent)
  const customer = await createCustomer(making, agent, vendor)
  const staff = await createStaff(making)
  return {
    credentials: { developer: vendor.credential, ...customer.credentials, ...staff.credentials },
    client: { client_id: vendor.app.client_id, client_secret: vendor.app.client_secret },
    /** Existing ids by kind. */
    ids: { ...vendor.ids, ...customer.ids, ...staff.ids } as Ids,
    /** Path parameters that aren't ids, by operation or else by the parameter's name. */
    texts: { ...TEXTS, slug: vendor.slug } as Record<string, string>,
    /** Credentials for operations that end the caller's own credential, by operation. */
    spares: { ...vendor.spares, ...customer.spares } as Record<string, Credential>,
    /** A run that may end, and its callback token with it. */
    ending: customer.ending,
    /** Names of the rate limits' buckets that these credentials use. */
    buckets: [...vendor.buckets, ...customer.buckets, ...staff.buckets],
    close: () => agent.close(),
  }
}

export type World = Awaited<ReturnType<typeof createWorld>>

const SUCCEEDED = succeeds({ output: { text: 'done' } })

const TEXTS = {
  v: '1.0.0',
  page: 'quickstart',
  dataset: 'apps',
  'developer.sdkExamples.read': 'main.py',
  'api.tools.invoke': 'emit_event',
}
