import { beforeAll, describe, expect, it } from 'vitest'
import { TOOLS } from '#shared/agents/tools/catalogue.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { contents, difference } from '#testkit/contents.ts'
import { exampleBody } from '#testkit/derived-sample.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import type { CallOptions } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage } from '#testkit/using-stage.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'
import { fieldsWithIds, foreignIds } from './foreign-ids.ts'
import { mutations } from './mutations.ts'
import { batchesOf, bearer, endpoints, expectRefusal, nameOf } from './support.ts'
import { createTenant, integrationHeaders, pathWith, type Tenant } from './tenant.ts'

const platform = usingPlatform()
let theirs: Tenant
let mine: Tenant
const stage = usingStage(platform)
beforeAll(async () => {
  theirs = await createTenant(stage)
  mine = await createTenant(stage)
})

const send = (endpoint: Endpoint, path: string, headers: Record<string, string>) => {
  platform.clock.advance(100)
  const body = endpoint.method === 'GET' ? undefined : (exampleBody(endpoint) ?? (endpoint.body ? {} : undefined))
  return platform.call(endpoint.method, path, { headers, body })
}

/**
 * Ids that every signed-in person may know: apps in the marketplace and their publishers, wishes on the board. And passkeys, which need a recent sign-in
 * first, so `console-passkeys` and `developer-teammates` attack them.
 */
const PUBLIC = new Set([
  'console.publishers.get',
  'console.reviews.list',
  'console.reviews.write',
  'console.reviews.remove',
  'console.passkeys.remove',
  'developer.passkeys.remove',
])
const owned = endpoints.filter(
  ({ id, caller, params }) =>
    ['integration', 'console', 'developer'].includes(caller) &&
    Object.values(params).some((kind) => kind !== 'text' && kind !== 'agentRequest') &&
    !PUBLIC.has(id),
)
const ofRuns = owned.filter(({ caller, params }) => caller === 'integration' && Object.values(params).includes('run'))

describe(`the ids of another tenant at ${owned.length} endpoints with an id in the path`, () => {
  it('are not found with the caller’s own valid credential, and nothing changes', async () => {
    const before = await contents(platform)
    for (const endpoint of owned) {
      const own = mine.owning(endpoint)
      const other = theirs.owning(endpoint)
      expect(own && other, nameOf(endpoint)).toBeTruthy()
      const answer = await send(endpoint, pathWith(endpoint, other?.ids ?? {}), own?.headers ?? {})
      expectRefusal(answer, nameOf(endpoint), 'not_found')
    }
    expect(difference(before, await contents(platform))).toEqual({})
  })

  it('are found with their owner’s credential, so the credential decides', async () => {
    const reading = owned.filter(({ method, produces }) => method === 'GET' && produces !== 'text/event-stream')
    for (const endpoint of reading) {
      const own = theirs.owning(endpoint)
      const answer = await send(endpoint, pathWith(endpoint, own?.ids ?? {}), own?.headers ?? {})
      expect(answer.status, `${nameOf(endpoint)} ${answer.text.slice(0, 200)}`).toBeLessThan(400)
    }
  })

  it('are not found as part of the caller’s own record', async () => {
    for (const endpoint of owned.filter(({ params }) => Object.keys(params).length > 1)) {
      const own = mine.owning(endpoint)
      const inner = Object.values(endpoint.params).at(-1) ?? ''
      if (inner === 'text') continue
      const ids = { ...own?.ids, [inner]: theirs.owning(endpoint)?.ids[inner] ?? '' }
      expectRefusal(await send(endpoint, pathWith(endpoint, ids), own?.headers ?? {}), nameOf(endpoint), 'not_found')
    }
  })

  it('of another agent in the same workspace are not found; files and A2A agents belong to the workspace', async () => {
    const { token } = await installed(platform.deps, { workspaceId: theirs.workspaceId })
    const isShared = ({ group, params }: Endpoint) =>
      Object.values(params).includes('file') || (group === 'a2a' && !('task' in params))
    const ofAgents = owned.filter((endpoint) => endpoint.caller === 'integration' && !isShared(endpoint))
    for (const endpoint of ofAgents) {
      const path = pathWith(endpoint, theirs.owning(endpoint)?.ids ?? {})
      expectRefusal(await send(endpoint, path, integrationHeaders(endpoint, token)), nameOf(endpoint), 'not_found')
    }
  })

  it.each(ofRuns.map((one) => [nameOf(one), one] as const))(
    '%s: another run of the same agent is not found with a callback token',
    async (_name, endpoint) => {
      platform.clock.advance(2_000)
      const { body: run } = await platform.call('POST', '/api/v1/runs', { token: mine.token, body: {} })
      await platform.drain()
      const headers = bearer(await callbackToken(platform.deps, mine.app, run.id))
      expectRefusal(await send(endpoint, pathWith(endpoint, { run: mine.run }), headers), nameOf(endpoint), 'not_found')
      await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: mine.token })
    },
  )
})

const lists = endpoints.filter(
  ({ method, caller, params, produces }) =>
    method === 'GET' &&
    ['integration', 'console', 'developer'].includes(caller) &&
    Object.keys(params).length === 0 &&
    produces !== 'text/event-stream',
)

describe(`the ids of another tenant in the answers of ${lists.length} endpoints without an id in the path`, () => {
  /** Returns kinds of a tenant's records that a caller finds in any answer. */
  const found = async (
    ids: Tenant['ids'],
    headersOf: (endpoint: Endpoint) => Record<string, string>,
    asked = lists,
  ) => {
    const answers: string[] = []
    for (const endpoint of asked) {
      const answer = await send(endpoint, endpoint.path, headersOf(endpoint))
      expect(answer.status, `${nameOf(endpoint)} ${answer.text.slice(0, 200)}`).toBeLessThan(500)
      answers.push(answer.text)
    }
    const all = answers.join()
    return Object.entries(ids).flatMap(([kind, id]) => (id !== undefined && all.includes(id) ? [kind] : []))
  }

  it('are found by their owner, and none by another tenant', async () => {
    // The others have endpoints of their own only.
    const apart = ['delivery', 'folder', 'message']
    expect((await found(theirs.ids, (endpoint) => headersFor(endpoint, theirs))).sort()).toEqual(
      Object.keys(theirs.ids)
        .filter((kind) => kind !== 'text' && !apart.includes(kind))
        .sort(),
    )
    expect(await found(theirs.ids, headersFor)).toEqual([])
  })

  it('are found by another agent in the same workspace only where the workspace shares them', async () => {
    const { token } = await installed(platform.deps, { workspaceId: theirs.workspaceId })
    const ofAgents = lists.filter(({ caller }) => caller === 'integration')
    const owners = await found(theirs.ids, () => bearer(theirs.token), ofAgents)
    expect(owners).toEqual(expect.arrayContaining(['run', 'webhook', 'task', 'conversation']))
    expect(await found(theirs.ids, () => bearer(token), ofAgents)).toEqual(['file', 'installation', 'user'])
  })
})

const withIds = endpoints.filter(({ params }) => Object.values(params).some((kind) => kind !== 'text'))
const kindOf = ({ params }: Endpoint): string => Object.values(params).findLast((kind) => kind !== 'text') ?? ''

describe('malformed ids', () => {
  // The same check guards every endpoint. One endpoint per kind of id gets all forms, the others get a sample.
  const every = withIds.filter((one, i) => withIds.findIndex((other) => kindOf(other) === kindOf(one)) === i)
  const total = withIds.reduce((sum, one) => sum + mutations('run_0', every.includes(one)).length, 0)

  it(`are not found, ${total} of them at ${withIds.length} endpoints: they never reach a key, and nothing changes`, async () => {
    const before = await contents(platform)
    for (const endpoint of withIds) {
      const own = mine.owning(endpoint)
      const headers = own?.headers ?? headersFor(endpoint)
      const path = own ? pathWith(endpoint, own.ids) : pathWithUnknownIds(endpoint)
      // The last id parameter of the path.
      const name = Object.keys(endpoint.params).findLast((one) => endpoint.params[one] !== 'text')
      const place = endpoint.path.split('/').indexOf(`{${name}}`)
      const parts = path.split('/')
      for (const some of batchesOf(8, mutations(parts[place] ?? '', every.includes(endpoint)))) {
        platform.clock.advance(1_000)
        await Promise.all(
          some.map(async (altered) => {
            const answer = await send(endpoint, parts.with(place, altered).join('/'), headers)
            expectRefusal(answer, `${nameOf(endpoint)} ${altered.slice(0, 60)}`, 'not_found')
          }),
        )
      }
    }
    expect(difference(before, await contents(platform))).toEqual({})
  })
})

const headersFor = ({ caller, path }: Endpoint, tenant = mine): Record<string, string> =>
  ({
    admin: { 'x-admin-key': 'local-admin-key' },
    console: bearer(path.startsWith('/console/messenger') ? tenant.messenger.token : tenant.owner),
    developer: tenant.developer.headers,
    integration: bearer(tenant.token),
  })[caller as string] ?? {}

describe('ids of another tenant in bodies and queries', () => {
  it('every declared field that takes an id is attacked below', () => {
    expect(Object.keys(foreignIds).sort()).toEqual(fieldsWithIds().sort())
  })

  it.each(Object.entries(foreignIds))('%s: finds nothing and changes nothing', async (name, attack) => {
    const [id = ''] = name.split(' ')
    const endpoint = endpoints.find((one) => one.id === id)
    if (!endpoint) throw new Error(`there is no ${id}`)
    const own = pathWith(endpoint, mine.owning(endpoint)?.ids ?? {})
    const { path = own, query, body } = await attack(theirs, mine, stage)
    const headers = headersFor(endpoint)
    platform.clock.advance(1_000)
    const before = await contents(platform)
    const sent: CallOptions = { headers, body }
    const answer = await platform.call(endpoint.method, query ? `${path}?${new URLSearchParams(query)}` : path, sent)
    if (answer.status < 300) {
      const context = answer.text.slice(0, 200)
      if (answer.body.results) {
        // Each of several decisions has an error of its own.
        const refused = answer.body.results.map(({ error }: { error: { code: string } | null }) => error?.code)
        expect(refused, context).toEqual(['not_found'])
      } else {
        // A filter by a record that the caller can't see matches nothing.
        expect(endpoint.method, context).toBe('GET')
        expect(answer.body.items, context).toEqual([])
      }
    } else expectRefusal(answer, name, 'not_found', 'validation_error', 'bad_request', 'forbidden')
    expect(difference(before, await contents(platform))).toEqual({})
  })
})

it('every tool whose arguments take an id is attacked above', () => {
  const named = Object.keys(TOOLS).filter((tool) => Object.keys(foreignIds).some((name) => name.endsWith(`(${tool})`)))
  expect(named.sort()).toEqual(['ask_user', 'notify_user', 'save_file'])
})
