import type { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { ENTITIES } from '#shared/entities.ts'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { iso, MINUTE } from '#shared/kernel/clock.ts'
import { idTime } from '#shared/kernel/ids.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { currentShapes } from '#test/shapes/compare.ts'
import { killAfter } from '#testkit/faults.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { hostActors } from '#testkit/hosts.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage } from '#testkit/using-stage.ts'

type Item = Record<string, unknown>

/** Entities whose record belongs to another one, created with it, by the field that names that one. */
const BELONGING: Record<string, string> = {
  'workspace-run': 'run_id',
  'run-child': 'child_id',
  'observed-run': 'run_id',
  'active-run': 'run_id',
  'feed-entry': 'event_id',
  'feed-mark': 'event_id',
}

/** Entities with an id and a creation time, by the field with the id. */
const stamped = new Map(
  Object.entries(currentShapes()).flatMap(([name, { schema }]) => {
    const fields = Object.keys(schema.properties ?? {})
    const id = BELONGING[name] ?? (fields.includes('id') ? 'id' : undefined)
    return fields.includes('created_at') && id !== undefined ? [[name, id] as const] : []
  }),
)

/** Events of a creation, with the field of their data that names the record. */
const ANNOUNCED: Record<string, string> = {
  'run.created': 'run_id',
  'task.created': 'task_id',
  'message.created': 'message_id',
  'notification.created': 'notification_id',
  'installation.created': 'installation_id',
}

it('entities whose records belong to another are declared', () => {
  expect(Object.keys(BELONGING).filter((name) => !ENTITIES.has(name))).toEqual([])
})

describe('what requests to every endpoint create, with a clock that advances between readings', () => {
  const platform = usingPlatform()
  const stage = usingStage(platform)
  const items: Item[] = []

  beforeAll(async () => {
    platform.store.documents.middlewareStack.add(
      (next) => async (args) => {
        const { Item: item, TransactItems = [] } = args.input as Partial<
          PutCommand['input'] & TransactWriteCommand['input']
        >
        items.push(...(item ? [item] : []), ...TransactItems.flatMap(({ Put }) => Put?.Item ?? []))
        return next(args)
      },
      { step: 'initialize', priority: 'high', name: 'moments-tap' },
    )
    platform.clock.tick(7)
    for (const endpoint of Object.values(requestFunctions).flat()) {
      if (endpoint.method === 'GET') continue
      await stage.call(endpoint, await sampleCall(stage, endpoint))
    }
    await platform.drain()
    const app = await installed(platform.deps)
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await platform.call('POST', '/api/v1/runs', { token: await callbackToken(platform.deps, app, run.id), body: {} })
    const host = hostActors(platform)
    const client = await host.register()
    await host.redeem(client, await host.consented(client, (await stage.actors.signIn()).token))
  })

  const made = () => items.filter((item) => stamped.has(String(item[TABLE_LAYOUT.entity])))
  const idOf = (item: Item): string => String(item[stamped.get(String(item[TABLE_LAYOUT.entity])) ?? 'id'])

  it('is of every entity with an id and a creation time', () => {
    const seen = new Set(made().map((item) => item[TABLE_LAYOUT.entity]))
    expect([...stamped.keys()].filter((name) => !seen.has(name))).toEqual([])
  })

  it('has the time in its id as its creation time', () => {
    const wrong = made().flatMap((item) => {
      const time = idTime(idOf(item))
      // An id that derives from a name has no time.
      return time === 0 || item.created_at === time ? [] : [`${item[TABLE_LAYOUT.entity]}: ${item.created_at} ${time}`]
    })
    expect(wrong).toEqual([])
  })

  it('is told of by an event of the same time', () => {
    const events = items.filter((item) => item[TABLE_LAYOUT.entity] === OutboxEntity.name && !item.test)
    const seen = new Set<unknown>()
    for (const { type, data, created_at } of events) {
      const field = ANNOUNCED[String(type)]
      if (field === undefined) continue
      seen.add(type)
      expect(created_at, String(type)).toBe(idTime(JSON.parse(String(data))[field]))
    }
    expect([...seen].sort()).toEqual(Object.keys(ANNOUNCED).sort())
  })
})

describe('lists of runs, with a clock that advances between readings', () => {
  const platform = usingPlatform()

  it('are newest first, and a range that begins with the creation of a run contains it', async () => {
    const { token, person } = await installed(platform.deps)
    platform.clock.tick(7)
    for (let i = 0; i < 9; i++) {
      // Some ids come from the request's time, and some from the Idempotency-Key's.
      const headers: Record<string, string> = i % 3 === 0 ? { 'idempotency-key': crypto.randomUUID() } : {}
      const body = { input: { i } }
      const { status, body: run } = await platform.call('POST', '/api/v1/runs', { token, headers, body })
      expect(status).toBe(201)
      await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token })
    }
    const own = (await platform.call('GET', '/api/v1/runs?limit=100', { token })).body.items as Run[]
    expect(own).toHaveLength(9)
    expect(own.map(({ created_at }) => created_at)).toEqual(
      own
        .map(({ created_at }) => created_at)
        .sort()
        .reverse(),
    )
    for (const { id, created_at } of own) {
      const list = async (query: Record<string, string>): Promise<string[]> => {
        const path = `/console/runs?${new URLSearchParams({ limit: '100', ...query })}`
        return (await platform.call('GET', path, { token: person.token })).body.items.map((run: Run) => run.id)
      }
      expect((await list({ since: created_at })).at(-1)).toBe(id)
      expect(await list({ until: created_at })).not.toContain(id)
    }
  })
})

interface Run {
  id: string
  created_at: string
}

describe('a call that is repeated under its Idempotency-Key after it died', () => {
  const platform = usingPlatform()

  it('creates what it creates at the time of the first attempt', async () => {
    const { token } = await installed(platform.deps)
    let died = 0
    // The first effect takes from the rate limit, and the second locks the key.
    for (let n = 2; n <= 6; n++) {
      const headers = { 'idempotency-key': `moment-${n}` }
      const call = () => platform.call('POST', '/api/v1/runs', { token, headers, body: {} })
      const first = platform.clock.now()
      const death = killAfter(platform, n)
      await call()
      if (death.restore()) died++
      platform.clock.advance(10 * MINUTE)
      const { status, body } = await call()
      expect(status, `died after effect ${n}`).toBe(201)
      expect([body.created_at, idTime(body.id)], `died after effect ${n}`).toEqual([iso(first), first])
      await platform.call('POST', `/api/v1/runs/${body.id}/cancel`, { token })
    }
    expect(died).toBeGreaterThan(1)
  })
})
