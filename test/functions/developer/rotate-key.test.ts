import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { DeveloperEntity } from '#shared/identity/developers/entity.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { newDeveloper, type TestDeveloper } from '#testkit/developers.ts'
import { holdUntil } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

let developer: TestDeveloper
const platform = usingPlatform()
beforeEach(async () => {
  platform.clock.advance(60_000)
  developer = await newDeveloper(platform)
})

const PATH = '/api/v1/dev/me/rotate-key'
const rotate = (key = developer.key, idempotencyKey?: string) =>
  platform.call('POST', PATH, {
    headers: { 'x-developer-key': key, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) },
  })
const statusWith = async (key: string, method = 'GET', path = '/api/v1/dev/me', headers = {}) =>
  (await platform.call(method, path, { headers: { 'x-developer-key': key, ...headers } })).status

describe('rotating the developer key', () => {
  it('makes the new key work and revokes the old one at once, storing only a hash', async () => {
    const { status, body, headers } = await rotate()
    expect(status).toBe(200)
    expect(body).toEqual({ api_key: expect.stringMatching(/^dvk_[\w-]{43}$/) })
    expect(headers['cache-control']).toBe('no-store')
    expect([await statusWith(body.api_key), await statusWith(developer.key)]).toEqual([200, 401])
    const record = await platform.deps.table.get(DeveloperEntity, { id: developer.id })
    expect(record?.key_hash).toBe(sha256(body.api_key))
    expect(platform.logs.join('\n')).not.toContain(body.api_key.slice(4))
  })

  it('happens once under 10 concurrent requests, and the others are conflicts', async () => {
    const release = holdUntil(platform, 'developer-key', 10)
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate())).finally(release)
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    for (const { status, body } of answers)
      if (status !== 200) expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect(await statusWith(won[0]?.body.api_key)).toBe(200)
  })

  it('is audited without a secret', async () => {
    const { body } = await rotate()
    const { items } = await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 5 })
    const entry = items.find(({ action, actor }) => action === 'developer.key_rotated' && actor.id === developer.id)
    expect(entry?.target).toEqual({ type: 'developer', id: developer.id })
    expect(JSON.stringify(entry)).not.toContain(body.api_key.slice(4))
  })
})

describe('a lost response to a rotation', () => {
  it('is repeated for its Idempotency-Key, to the old key and the new one', async () => {
    const key = randomUUID()
    const first = await rotate(developer.key, key)
    for (const sent of [developer.key, first.body.api_key]) {
      const again = await rotate(sent, key)
      expect([again.status, again.text]).toEqual([200, first.text])
      expect(again.headers['idempotency-replayed']).toBe('true')
    }
    expect(await statusWith(first.body.api_key)).toBe(200)
  })

  it('is not repeated for another Idempotency-Key, after ten minutes, or for a guessable one', async () => {
    const key = randomUUID()
    await rotate(developer.key, key)
    expect((await rotate(developer.key, randomUUID())).status).toBe(401)
    expect((await rotate(developer.key)).status).toBe(401)
    platform.clock.advance(600_000)
    expect((await rotate(developer.key, key)).status).toBe(401)

    const other = await newDeveloper(platform)
    expect((await rotate(other.key, 'key-1')).status).toBe(200)
    expect((await rotate(other.key, 'key-1')).status).toBe(401)
  })

  it('is not repeated after another rotation, and nothing is rotated then', async () => {
    const key = randomUUID()
    const second = (await rotate(developer.key, key)).body.api_key
    const third = (await rotate(second)).body.api_key
    for (const sent of [developer.key, third]) {
      const again = await rotate(sent, key)
      expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
    }
    expect(await statusWith(third)).toBe(200)
  })

  it('is all that the old key can get: with the same Idempotency-Key, it can’t call anything else', async () => {
    const key = randomUUID()
    await rotate(developer.key, key)
    const header = { 'idempotency-key': key }
    expect(await statusWith(developer.key, 'GET', '/api/v1/dev/me', header)).toBe(401)
    expect(await statusWith(developer.key, 'POST', '/api/v1/dev/apps', header)).toBe(401)
    expect(await statusWith(developer.key, 'POST', '/api/v1/dev/sandbox/invite', header)).toBe(401)
  })
})
