import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { expect, it } from 'vitest'
import { worker as fanout } from '#functions/workers/fan-out.ts'
import { OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/entity.ts'
import { emitEvent } from '#shared/foundation/outbox/outbox.ts'
import { runWorker } from '#shared/http/worker.ts'
import { Table } from '#shared/table/table.ts'
import { conversation } from '#testkit/fixtures.ts'
import type { Answer, TestPlatform } from '#testkit/platform.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

const platform = usingPlatform()

/** Returns the same numbers at every run, so that the actions are the same. Their timing is not. */
const dice = (seed: number) => {
  let state = seed
  /** Returns a number from 0 to below `sides`. */
  return (sides: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

const WRITERS = 6
const WRITES = DEEP ? 25 : 15
const WORKERS = 4

/** Remaining calls of one worker invocation to the store until it dies, before or after the last one. */
interface Life {
  left: number
  before: boolean
}
const lives = new AsyncLocalStorage<Life>()

/**
 * Makes the store as bad as it can be. Any call of a worker may be its last, its writes meet conflicts, and
 * eventually consistent reads lack recent writes.
 */
const atItsWorst = ({ store }: TestPlatform) => {
  const roll = dice(7)
  const counts = { deaths: 0, conflicts: 0, stale: 0 }
  store.client.middlewareStack.add(
    (next) => async (args) => {
      const life = lives.getStore()
      const input = args.input as unknown as Record<string, unknown>
      if (life && --life.left <= 0 && (life.before || life.left < 0)) {
        counts.deaths += 1
        throw new Error('the worker is dead')
      }
      if (life && 'TransactItems' in input && roll(2) === 0) {
        counts.conflicts += 1
        const reasons = (input.TransactItems as unknown[]).map(() => ({ Code: 'TransactionConflict' }))
        throw Object.assign(new Error('conflict'), {
          name: 'TransactionCanceledException',
          CancellationReasons: reasons,
        })
      }
      if (life && ('Item' in input || 'UpdateExpression' in input) && roll(4) === 0) {
        counts.conflicts += 1
        throw Object.assign(new Error('conflict'), { name: 'TransactionConflictException' })
      }
      const result = await next(args)
      const [batch] = Object.values((input.RequestItems ?? {}) as Record<string, { ConsistentRead?: boolean }>)
      if ((input.ConsistentRead ?? batch?.ConsistentRead) !== true && roll(2) === 0) {
        counts.stale += 1
        stale(result.output as Output, () => roll(3) === 0)
      }
      if (life?.left === 0) {
        counts.deaths += 1
        throw new Error('the worker dies')
      }
      return result
    },
    { step: 'initialize', priority: 'low', name: 'at-its-worst' },
  )
  return counts
}

/** Randomly drops items from a read, as if they had been written recently. */
const stale = (output: Output, drop: () => boolean): void => {
  if (output.Items) output.Items = output.Items.filter(() => !drop())
  if (output.Item && drop()) delete output.Item
  for (const [table, items] of Object.entries(output.Responses ?? {})) {
    if (output.Responses) output.Responses[table] = items.filter(() => !drop())
  }
}

interface Output {
  Item?: unknown
  Items?: unknown[]
  Responses?: Record<string, unknown[]>
}

/** Event that a new version of an app sends its workspace. */
const updated = ({ installation: { workspace_id, app_id, id, status, scopes } }: App) =>
  emitEvent(platform.clock, {
    type: 'installation.updated',
    workspace_id,
    app_id,
    data: { installation_id: id, app_id, status, scopes },
  })

type App = Awaited<ReturnType<typeof subscriber>>
interface Seen {
  id: string
  type: string
}

/** Repeats rate-limited requests. When the sweep advances the clock by a minute, the limit refills. */
const patient = async (request: () => Promise<Answer>): Promise<Answer> => {
  for (;;) {
    const answer = await request()
    if (answer.status !== 429) return answer
    await pause(20)
  }
}

/** Reads the feed while others write, and on to its end. */
const poll = async (
  app: App,
  seed: number,
  types: string | undefined,
  by: 'cursor' | 'since',
  isOver: () => boolean,
) => {
  const roll = dice(seed)
  const seen: Seen[] = []
  let cursor: string | null = null
  for (let quiet = 0; quiet < 2; ) {
    const over = isOver()
    const since = seen.at(-1)?.id
    const query = new URLSearchParams({
      limit: String(1 + roll(9)),
      ...(types && { types }),
      ...(cursor !== null ? { cursor } : since && { since }),
    })
    const { status, body } = await patient(() => app.call('GET', `/events?${query}`))
    expect(status).toBe(200)
    seen.push(...body.items.map(({ id, type }: Seen) => ({ id, type })))
    // A poller by `since` drops the cursor, unless a page without a match leaves it nothing else to continue from.
    cursor = by === 'cursor' || body.items.length === 0 ? body.next_cursor : null
    if (over && !body.has_more) quiet += 1
    await pause(roll(4) === 0 ? 15 : 1)
  }
  return seen
}

const POLLERS = [
  { types: undefined, by: 'cursor' },
  { types: undefined, by: 'since' },
  { types: 'run.*', by: 'cursor' },
  { types: 'custom.*,message.*', by: 'since' },
] as const

/** Visibility of an event (contract/events-and-webhooks.md#who-sees-an-event), as this test defines it. */
const sees = ({ installation, scopes }: { installation: App['installation']; scopes: readonly string[] }) => {
  const own = /^(run|custom|message)\./
  return (event: OutboxEvent): boolean =>
    own.test(event.type)
      ? event.installation_id === installation.id
      : event.type.startsWith('installation.') &&
        event.workspace_id === installation.workspace_id &&
        scopes.includes('workspace:read')
}

it('every poller sees every event of its installation exactly once and in the same order, and no other’s', async () => {
  const scopes = ['runs:write', 'chat:write', 'tools:invoke', 'webhooks:manage', 'workspace:read'] as const
  const first = await subscriber(platform, { scopes })
  const second = await subscriber(platform, { scopes, workspaceId: first.workspaceId })
  const third = await subscriber(platform, { scopes: scopes.slice(0, 4), workspaceId: first.workspaceId })
  const stranger = await subscriber(platform, { scopes })
  const apps = [first, second, third, stranger]
  const talks = await Promise.all(apps.map((app) => conversation(platform.deps, app)))

  const counts = atItsWorst(platform)
  const { emitted } = platform
  emitted.length = 0
  let writing = WRITERS
  let arriving = true
  const roll = dice(3)

  const write = async (seed: number) => {
    const roll = dice(seed)
    for (let i = 0; i < WRITES; i++) {
      const at = roll(apps.length)
      const app = apps[at] as App
      const post = (path: string, body?: unknown) => patient(() => app.call('POST', path, body))
      switch (roll(5)) {
        case 0: {
          const { status, body } = await post('/runs', {})
          // An installation may have five active runs. A refused one has no events.
          if (status === 201) expect((await post(`/runs/${body.id}/cancel`)).status).toBe(200)
          break
        }
        case 1:
          expect((await post(`/conversations/${talks[at]?.id}/messages`, { text: `${seed}.${i}` })).status).toBe(201)
          break
        case 2:
          await platform.deps.table.transact([updated(app)])
          break
        default: {
          const event = { type: `t${roll(3)}`, data: { seed, i } }
          expect((await post('/tools/emit_event/invoke', { arguments: event })).status).toBe(200)
        }
      }
      await pause(roll(8))
    }
    writing -= 1
  }

  /** Relays the outbox to the bus in bursts, and sometimes loses one. */
  const relay = async () => {
    while (arriving) {
      const events = platform.outbox.splice(0)
      if (events.length > 0 && roll(6) > 0) await platform.deps.bus.put(events)
      await pause(roll(12))
    }
  }

  /** Runs an instance of the fan-out with its own table client, like a separate process. */
  const work = async () => {
    const client = DynamoDBDocumentClient.from(platform.store.client, {
      marshallOptions: { removeUndefinedValues: true },
    })
    const table = new Table({ client, tableName: platform.tableName, shards: 2, checkWrites: true })
    const handle = runWorker(fanout, () => ({ ...platform.deps, table }))
    while (arriving) {
      const batch = Array.from({ length: 1 + roll(4) }, () => {
        const [message] = platform.messages.splice(roll(platform.messages.length), 1)
        return message?.queue === 'fanout' ? [message] : []
      }).flat()
      const Records = batch.map((message, i) => ({
        messageId: String(i),
        body: JSON.stringify(message.body),
        attributes: {},
      }))
      const life = { left: roll(3) === 0 ? 1 + roll(6) : Number.POSITIVE_INFINITY, before: roll(2) === 0 }
      const result = await lives.run(life, () => handle({ Records }))
      const failed = new Set(result?.batchItemFailures.map(({ itemIdentifier }) => Number(itemIdentifier)))
      // Failed messages are redelivered, and sometimes handled ones, too.
      platform.messages.push(...batch.filter((_, i) => failed.has(i) || roll(4) === 0))
      await pause(roll(5))
    }
  }

  /** The sweep finds lost events through the index, until none is left to be put on the bus. */
  const sweep = async () => {
    for (let waiting = true; waiting; ) {
      await pause(40)
      platform.clock.advance(61_000)
      await platform.sweep()
      if (writing > 0 || platform.outbox.length > 0) continue
      const events: (OutboxEvent | undefined)[] = await platform.deps.table.getAll(
        emitted.map(({ id }) => OutboxEntity.ref({ id })),
      )
      waiting = events.some((event) => event?.due_at !== undefined)
    }
    arriving = false
  }

  const polling = apps.map((app, a) =>
    Promise.all(POLLERS.map(({ types, by }, p) => poll(app, 50 + 10 * a + p, types, by, () => !arriving))),
  )
  const [polled] = await Promise.all([
    Promise.all(polling),
    ...Array.from({ length: WRITERS }, (_, i) => write(100 + i)),
    ...Array.from({ length: WORKERS }, work),
    relay(),
    sweep(),
  ])

  expect(
    Object.values(counts).every((count) => count > WRITES / 5),
    JSON.stringify(counts),
  ).toBe(true)
  for (const [a, app] of apps.entries()) {
    const [whole = [], ...others] = polled[a] ?? []
    const expected = emitted.filter(sees({ installation: app.installation, scopes: app.installation.scopes }))
    expect(whole.length).toBeGreaterThan(0.8 * WRITES)
    expect(whole.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort())
    const [again = [], runs = [], rest = []] = others
    expect(again).toEqual(whole)
    expect(runs).toEqual(whole.filter(({ type }) => type.startsWith('run.')))
    expect(rest).toEqual(whole.filter(({ type }) => /^(custom|message)\./.test(type)))
    expect((await app.feed()).map(({ id }) => id)).toEqual(whole.map(({ id }) => id))
  }
})
