import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { fanOutEvent } from '#shared/delivery/fan-out/fan-out.ts'
import { eventsOf, FeedEntryEntity } from '#shared/delivery/feed/entity.ts'
import { appendToFeed } from '#shared/delivery/feed/feed.ts'
import { readFeed } from '#shared/delivery/feed/polling.ts'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { emitEvent } from '#shared/foundation/outbox/outbox.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { Table } from '#shared/table/table.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

const platform = usingPlatform()

/**
 * Creates function instances with their own tables, so that they share only the store. A third of their transactions is
 * cancelled as DynamoDB does when two conflict, which the local store never does.
 */
const instances = (count: number) =>
  Array.from({ length: count }, () => {
    const real = DynamoDBDocumentClient.from(platform.store.client, {
      marshallOptions: { removeUndefinedValues: true },
    })
    const client = {
      send: async (command: TransactWriteCommand) => {
        if (!(command instanceof TransactWriteCommand) || Math.random() > 1 / 3) return real.send(command)
        throw Object.assign(new Error('met another transaction'), {
          name: 'TransactionCanceledException',
          CancellationReasons: [{ Code: 'TransactionConflict' }],
        })
      },
    } as unknown as DynamoDBDocumentClient
    return createWorkerWork({
      ...platform.deps,
      table: new Table({ client, tableName: platform.tableName, shards: 2 }),
    })
  })

const numbers = async (installation_id: string) => {
  const { items } = await platform.deps.table.query(
    FeedEntryEntity,
    { installation_id },
    { limit: 1_000, ascending: true },
  )
  return items.flatMap(eventsOf)
}

describe('the feed', () => {
  it('has each of 100 concurrent events under one number, without a gap, whoever writes them', async () => {
    const app = await subscriber(platform)
    const ids = await Promise.all(Array.from({ length: 100 }, (_, i) => app.emit('many', { i })))
    const workers = instances(10)
    // Every event goes to two instances, like a redelivered message.
    await Promise.all(ids.flatMap((id, i) => [0, 1].map((n) => fanOutEvent(workers[(i + n) % 10] as never, id))))
    const entries = await numbers(app.installation.id)
    expect(entries.map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
    expect(new Set(entries.map(({ event_id }) => event_id))).toEqual(new Set(ids))
  })

  it('gives a poller every event once, in the order of the feed, while writers write', async () => {
    const app = await subscriber(platform)
    const ids = await Promise.all(Array.from({ length: 60 }, (_, i) => app.emit('race', { i })))
    const workers = instances(6)
    let writing = true
    const writers = Promise.all(ids.map((id, i) => fanOutEvent(workers[i % 6] as never, id))).finally(() => {
      writing = false
    })
    const reader = { installation: app.installation, scopes: [], workspace: { denied_scopes: [] } }
    const got: string[] = []
    const poll = async () => {
      const since = got.at(-1)
      const page = await readFeed(platform.deps, reader, { since }, { limit: 7 })
      got.push(...page.items.map(({ id }) => id))
      return page.items.length
    }
    while (writing) await poll()
    await writers
    while ((await poll()) > 0);
    expect(got).toHaveLength(60)
    expect(got).toEqual((await numbers(app.installation.id)).map(({ event_id }) => event_id))
  })
})

describe('an event without a subscription', () => {
  const isWrite = (input: object): boolean => !('KeyConditionExpression' in input || 'RequestItems' in input)
  /** Runs `fanOutEvent` on a store that counts its writes, and fails all writes after the first `allowed`. */
  const fanOut = async (id: string, allowed = Number.POSITIVE_INFINITY) => {
    const real = DynamoDBDocumentClient.from(platform.store.client, {
      marshallOptions: { removeUndefinedValues: true },
    })
    const writes: string[] = []
    const client = {
      send: async (command: TransactWriteCommand) => {
        const name = command.constructor.name
        if (isWrite(command.input) && name !== 'GetCommand') {
          if (writes.length === allowed) throw new Error('the worker is dead')
          writes.push(name)
        }
        return real.send(command)
      },
    } as unknown as DynamoDBDocumentClient
    const table = new Table({ client, tableName: platform.tableName, shards: 2 })
    await fanOutEvent(createWorkerWork({ ...platform.deps, table }) as never, id).catch(() => {})
    return writes
  }
  const setUp = async () => {
    const app = await subscriber(platform)
    const since = async (id: string) => {
      const { status, body } = await app.call('GET', `/events?since=${id}`)
      return [status, body.items?.map((item: { id: string }) => item.id)]
    }
    return { app, since, installation_id: app.installation.id }
  }

  it('costs two plain writes: its entry, and its own number, with which it is no longer due', async () => {
    const { app, since } = await setUp()
    // The first of a hundred moves the floor.
    await fanOut(await app.emit('first'))
    const id = await app.emit('second')
    expect(await fanOut(id)).toEqual(['PutCommand', 'UpdateCommand'])
    expect((await platform.deps.table.get(OutboxEntity, { id }))?.due_at).toBeUndefined()
    expect(await since(id)).toEqual([200, []])
  })

  it.each([0, 1, 2, 3, 4])(
    'is found by since, and appended once, when its worker died after creating the entry, which %i others followed',
    async (others) => {
      const { app, since, installation_id } = await setUp()
      const record = () => platform.deps.table.get(OutboxEntity, { id: lost })
      await fanOut(await app.emit('first'))
      const lost = await app.emit('lost')
      expect(await fanOut(lost, 1)).toEqual(['PutCommand'])
      expect((await record())?.feed_n).toBeUndefined()
      expect(await since(lost)).toEqual([200, []])
      const next: string[] = []
      for (let i = 0; i < others; i++) {
        next.push(await app.emit('next', { i }))
        await fanOut(next[i] as string)
        expect(await since(lost)).toEqual([200, next])
      }
      // Whoever pushes it out of the last entries records its position.
      expect((await record())?.feed_n).toBe(others > 2 ? 2 : undefined)
      await fanOut(lost)
      expect((await numbers(installation_id)).map(({ n, event_id }) => [n, event_id]).slice(1)).toEqual([
        [2, lost],
        ...next.map((id, i) => [3 + i, id]),
      ])
      expect(await record()).toMatchObject({ feed_n: 2 })
      expect((await record())?.due_at).toBeUndefined()
    },
  )

  it('gets a number above all earlier ones after the store has deleted them', async () => {
    const { app, installation_id } = await setUp()
    for (let i = 0; i < 3; i++) await fanOut(await app.emit('old', { i }))
    await platform.deps.table.transact([1, 2, 3].map((n) => FeedEntryEntity.delete({ installation_id, n })))
    await fanOut(await app.emit('new'))
    expect((await numbers(installation_id))[0]?.n).toBeGreaterThan(3)
  })
})

describe('events that arrive at one instance together', () => {
  it('share an entry, in the order of their creation', async () => {
    const { installation, emit } = await subscriber(platform)
    const first = await emit('first')
    platform.clock.advance(1)
    const second = await emit('second')
    const work = createWorkerWork(platform.deps)
    await Promise.all([second, first].map((id) => fanOutEvent(work as never, id)))
    const { items } = await platform.deps.table.query(
      FeedEntryEntity,
      { installation_id: installation.id },
      { limit: 10 },
    )
    expect(items.map((entry) => eventsOf(entry).map(({ event_id }) => event_id))).toEqual([[first, second]])
  })

  it('of which one failed after it was appended is recorded before it leaves the last entries', async () => {
    const { installation, emit } = await subscriber(platform)
    const { table } = platform.deps
    const append = async (finish?: () => Promise<boolean>): Promise<string> => {
      const event = await table.get(OutboxEntity, { id: await emit('any') })
      if (!event) throw new Error('no event')
      await appendToFeed(table, installation.id, { event, finish })
      return event.id
    }
    const fails = async () => {
      throw new Error('the worker fails')
    }
    await expect(append(fails)).rejects.toThrow('the worker fails')
    const sending = await append(async () => false)
    for (let i = 0; i < 3; i++) await append()
    expect(await table.get(OutboxEntity, { id: sending })).toMatchObject({ feed_n: 2 })
    expect((await numbers(installation.id)).map(({ n }) => n)).toEqual([1, 2, 3, 4, 5])
  })
})

describe('the visibility of an event', () => {
  const installationEvent = async (workspace_id: string) => {
    const write = emitEvent(platform.clock, {
      type: 'installation.updated',
      workspace_id,
      data: { installation_id: 'ins_x', app_id: 'app_x', status: 'active', scopes: [] },
    })
    await platform.deps.table.transact([write])
    await platform.drain()
  }

  it('custom.* and run.*: only its own installation', async () => {
    const app = await subscriber(platform)
    const neighbour = await subscriber(platform, { workspaceId: app.workspaceId })
    await app.emit('mine')
    await platform.drain()
    expect(await app.feed()).toHaveLength(1)
    expect(await neighbour.feed()).toHaveLength(0)
  })

  it('installation.*: only active installations of the workspace with workspace:read', async () => {
    const app = await subscriber(platform)
    const { workspaceId } = app
    const reader = await subscriber(platform, { workspaceId, scopes: ['workspace:read'] })
    const blind = await subscriber(platform, { workspaceId, scopes: ['runs:write'] })
    const removed = await subscriber(platform, { workspaceId })
    const elsewhere = await subscriber(platform)
    await platform.deps.table.transact([
      InstallationEntity.update(
        { workspace_id: workspaceId, id: removed.installation.id },
        { set: { status: 'revoked' } },
      ),
    ])
    await installationEvent(workspaceId)
    const seen = await Promise.all([app, reader, blind, removed, elsewhere].map((one) => numbers(one.installation.id)))
    expect(seen.map((entries) => entries.length)).toEqual([1, 1, 0, 0, 0])
  })

  it('installation.*: no installation where an admin of the workspace denied workspace:read', async () => {
    const app = await subscriber(platform)
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: app.workspaceId }, { set: { denied_scopes: ['workspace:read'] } }),
    ])
    await installationEvent(app.workspaceId)
    expect(await numbers(app.installation.id)).toEqual([])
  })

  it('internal events: no installation', async () => {
    const app = await subscriber(platform)
    const write = emitEvent(platform.clock, {
      type: 'delivery.requested',
      workspace_id: app.workspaceId,
      installation_id: app.installation.id,
      data: { installation_id: app.installation.id, webhook_id: 'whk_x', delivery_ids: ['whd_x'] },
    })
    await platform.deps.table.transact([write])
    await platform.drain()
    expect(await app.feed()).toEqual([])
  })
})
