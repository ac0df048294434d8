import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { fanOutEvent } from '#shared/delivery/fan-out/fan-out.ts'
import { FeedEntryEntity, FeedHeadEntity } from '#shared/delivery/feed/entity.ts'
import { readFeed } from '#shared/delivery/feed/polling.ts'
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
  return items
}

describe('the feed', () => {
  it('has each of 100 concurrent events under one number, without a gap, whoever writes them', async () => {
    const app = await subscriber(platform)
    const ids = await Promise.all(Array.from({ length: 100 }, (_, i) => app.emit('many', { i })))
    const workers = instances(10)
    const begun = performance.now()
    // Every event goes to two instances, like a redelivered message.
    await Promise.all(ids.flatMap((id, i) => [0, 1].map((n) => fanOutEvent(workers[(i + n) % 10] as never, id))))
    const took = performance.now() - begun
    const entries = await numbers(app.installation.id)
    expect(entries.map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
    expect(new Set(entries.map(({ event_id }) => event_id))).toEqual(new Set(ids))
    const head = await platform.deps.table.get(FeedHeadEntity, { installation_id: app.installation.id })
    expect(head?.n).toBe(100)
    expect(took).toBeLessThan(10_000)
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
