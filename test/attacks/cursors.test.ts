import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { encodeCursor } from '#shared/kernel/cursor.ts'
import { parseKeyring } from '#shared/kernel/keyring.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage } from '#testkit/using-stage.ts'
import { bearer, endpoints, expectRefusal, nameOf } from './support.ts'
import { createTenant, pathWith, type Tenant } from './tenant.ts'

const platform = usingPlatform()
let tenant: Tenant
/** Cursors of the tenant's files and runs. Each first page has one of two records. */
const cursors = { files: '', runs: '' }

const stage = usingStage(platform)
beforeAll(async () => {
  tenant = await createTenant(stage)
  const { token } = tenant
  for (const name of ['b.txt', 'c.txt']) {
    platform.clock.advance(1_000)
    await platform.call('POST', '/api/v1/files', { token, body: { name, content_type: 'text/plain', content: 'x' } })
    await platform.call('POST', '/api/v1/runs', { token, body: {} })
  }
  const first = async (list: 'files' | 'runs') =>
    (await platform.call('GET', `/api/v1/${list}?limit=1`, { token })).body.next_cursor
  cursors.files = await first('files')
  cursors.runs = await first('runs')
})

const offer = (path: string, cursor: string, headers: Record<string, string>, rest = 'limit=1') => {
  platform.clock.advance(300)
  return platform.call('GET', `${path}?${rest}&cursor=${encodeURIComponent(cursor)}`, { headers })
}
const expectNone = (answer: Awaited<ReturnType<typeof offer>>, what: string) =>
  expectRefusal(answer, what, 'bad_request')

/** Lists that have a cursor, each with a credential. */
const lists = endpoints.filter(({ list, query }) => list === 'page' && query)
const headersFor = (endpoint: Endpoint): Record<string, string> =>
  tenant.owning(endpoint)?.headers ??
  (endpoint.caller === 'integration'
    ? bearer(tenant.token)
    : endpoint.caller === 'console'
      ? bearer(tenant.owner)
      : tenant.developer.headers)

describe('a cursor', () => {
  it('works for the caller and the list that it was issued for', async () => {
    expect((await offer('/api/v1/files', cursors.files, bearer(tenant.token))).status).toBe(200)
    expect((await offer('/api/v1/runs', cursors.runs, bearer(tenant.token))).status).toBe(200)
  })

  it(`of one list is refused by the ${lists.length} others`, async () => {
    for (const endpoint of lists) {
      const ids = { ...tenant.owning(endpoint)?.ids, app: tenant.developer.app.id }
      const path = pathWith(endpoint, ids)
      for (const [of, cursor] of Object.entries(cursors)) {
        if (endpoint.id === `api.${of}.list`) continue
        expectNone(await offer(path, cursor, headersFor(endpoint)), `${of} at ${nameOf(endpoint)}`)
      }
    }
  })

  it('of one caller is refused for others: another workspace’s agent, another agent, the run’s token, a person', async () => {
    const { token: stranger } = await installed(platform.deps)
    const { token: neighbour } = await installed(platform.deps, { workspaceId: tenant.workspaceId })
    const ofRun = await callbackToken(platform.deps, tenant.app, tenant.run)
    for (const [who, token] of Object.entries({ stranger, neighbour, ofRun })) {
      expectNone(await offer('/api/v1/files', cursors.files, bearer(token)), who)
      expectNone(await offer('/api/v1/runs', cursors.runs, bearer(token)), who)
    }
    expectNone(await offer('/console/files', cursors.files, bearer(tenant.owner)), 'a person')
    expectNone(await offer('/console/runs', cursors.runs, bearer(tenant.owner)), 'a person')
  })

  it('of one query is refused for another', async () => {
    const headers = bearer(tenant.token)
    const filters = ['status=failed', 'status=queued', 'status=running', 'status=awaiting_approval']
    for (const filter of filters) expectNone(await offer('/api/v1/runs', cursors.runs, headers, filter), filter)
    const folder = `folder_id=${tenant.folder}`
    expectNone(await offer('/api/v1/files', cursors.files, headers, folder), folder)
  })
})

describe('a cursor that was tampered with is refused', () => {
  const tamper = async (name: string, alter: (cursor: string, at: number) => string) => {
    const headers = bearer(tenant.token)
    const { length } = cursors.files
    for (let at = 0; at < length; at++) {
      expectNone(await offer('/api/v1/files', alter(cursors.files, at), headers), `${name} at ${at} of ${length}`)
    }
  }

  it('with a character changed at any position', () =>
    tamper('changed', (cursor, at) => cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1)))

  it('truncated at any position', () => tamper('cut', (cursor, at) => cursor.slice(0, at || 1)))

  it('with a bit of any byte flipped', async () => {
    const bytes = Buffer.from(cursors.files, 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
      expectNone(await offer('/api/v1/files', flipped.toString('base64url'), bearer(tenant.token)), `byte ${at}`)
    }
  })

  it('made up, encoded differently, oversized, or authenticated with another key', async () => {
    const raw = Buffer.from(cursors.files, 'base64url')
    const position = raw.subarray(16).toString().split('\n')[1] ?? ''
    const context = JSON.stringify([tenant.installation, 'api.files.list', null])
    const foreign = parseKeyring(JSON.stringify({ current: 'k1', k1: 'another'.repeat(10) }))
    const guessed = Buffer.from(`k1\n${position}`)
    const mac = createHmac('sha256', Buffer.alloc(32)).update(`${context}\n${position}`).digest().subarray(0, 16)
    const made: Record<string, string> = {
      'the bare position': position,
      'a bare id': tenant.file,
      'the position in base64url': Buffer.from(position).toString('base64url'),
      'a zeroed code': Buffer.concat([Buffer.alloc(16), guessed]).toString('base64url'),
      'a code made with an empty key': Buffer.concat([mac, guessed]).toString('base64url'),
      'another deployment’s key': encodeCursor(foreign, context, position),
      'the key id current': Buffer.concat([mac, Buffer.from(`current\n${position}`)]).toString('base64url'),
      'the key id __proto__': Buffer.concat([mac, Buffer.from(`__proto__\n${position}`)]).toString('base64url'),
      'a code alone': raw.subarray(0, 16).toString('base64url'),
      'standard base64 with padding': `${raw.toString('base64')}=`,
      hexadecimal: raw.toString('hex'),
      'the cursor twice': cursors.files + cursors.files,
      'a leading blank': ` ${cursors.files}`,
      'a trailing line break': `${cursors.files}\n`,
      'an embedded NUL': `${cursors.files.slice(0, 5)}\u0000${cursors.files.slice(5)}`,
      'letters that look alike': cursors.files.replace(/[ace]/, 'а'),
      JSON: '{"pk":"x","sk":"y"}',
      'JSON in base64url': Buffer.from('{"pk":"x","sk":"y"}').toString('base64url'),
      null: 'null',
      zero: '0',
      'a path': '../../etc/passwd',
      'a hundred kilobytes': 'A'.repeat(100_000),
      'the cursor with a hundred kilobytes appended': cursors.files + 'A'.repeat(100_000),
    }
    for (const [what, cursor] of Object.entries(made)) {
      expectNone(await offer('/api/v1/files', cursor, bearer(tenant.token)), what)
    }
  })
})

describe('resuming from a position', () => {
  it('since refuses an event of another installation or of none, and accepts the caller’s own', async () => {
    const other = await createTenant(stage)
    const poll = (since: string) => {
      platform.clock.advance(500)
      return platform.call('GET', `/api/v1/events?since=${encodeURIComponent(since)}`, { token: other.token })
    }
    expect((await poll(other.event)).status).toBe(200)
    const upper = other.event.toUpperCase()
    for (const since of [
      tenant.event,
      upper,
      other.event.slice(0, -1),
      other.run,
      '*',
      '__proto__',
      'x'.repeat(10_000),
    ]) {
      expectRefusal(await poll(since), since.slice(0, 40), 'bad_request', 'validation_error')
    }
  })

  it('Last-Event-ID, whatever its value, shows only events of the stream’s own run', async () => {
    const app = await stage.running()
    await platform.call('POST', `/api/v1/runs/${app.run.id}/cancel`, { token: app.app.token })
    for (const id of ['-1', '0', '1e9', 'NaN', '__proto__', tenant.event, '9'.repeat(400), '1\r\nx: y']) {
      platform.clock.advance(1_000)
      const headers = { ...bearer(app.app.token), 'last-event-id': id }
      const answer = await platform.call('GET', `/api/v1/runs/${app.run.id}/stream`, { headers })
      expect(answer.status, `${id} ${answer.text.slice(0, 100)}`).toBeLessThan(500)
      expect(answer.text, id).not.toContain(tenant.run)
    }
  })
})
