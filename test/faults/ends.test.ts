import { describe, expect, it } from 'vitest'
import { isSettled, OutboxEntity } from '#shared/foundation/outbox/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { listActiveRuns } from '#shared/work/runs/chain.ts'
import { createdEventOf, endEventOf } from '#shared/work/runs/emit.ts'
import { type Run, RunEntity } from '#shared/work/runs/entity.ts'
import { loadNamedRuns } from '#shared/work/runs/places.ts'
import { appFigures } from '#testkit/app-figures.ts'
import { activeRuns, callbackToken, type Installed, installed } from '#testkit/fixtures.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { dieAtEach, recover } from './die-at-each.ts'

const platform = usingPlatform()
const agent = usingReceiver({ kind: 'answer', status: 202 })

const ACCEPTED = { kind: 'answer', status: 202 } as const
const SUCCEEDED = { kind: 'answer', status: 200, body: JSON.stringify({ status: 'succeeded', output: {} }) } as const

const start = ({ token }: Installed) => platform.call('POST', '/api/v1/runs', { token, body: {} })

const install = () => installed(platform.deps, { endpoint: agent.url })

/** Starts a run whose agent accepts it. */
const accepted = async (app: Installed) => {
  agent.answer(ACCEPTED)
  const { body } = await start(app)
  await platform.drain()
  return { key: { installation_id: app.installation.id, id: body.id as string } }
}

const complete = async (app: Installed, id: string, key?: string, output = {}) =>
  platform.call('POST', `/api/v1/runs/${id}/complete`, {
    token: await callbackToken(platform.deps, app, id),
    body: { status: 'succeeded', output },
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  })

const read = async (key: { installation_id: string; id: string }) => {
  const run = await platform.deps.table.get(RunEntity, key)
  if (!run) throw new Error('no run')
  return run
}

/** Types of the events in the feed, in order. */
const feedOf = async ({ token }: Installed): Promise<string[]> => {
  const { body } = await platform.call('GET', '/api/v1/events?limit=100', { token })
  return body.items.map(({ type }: { type: string }) => type)
}

/** Runs, and those that succeeded, that the app's statistics count. */
const countedOf = async ({ app }: Installed) => {
  const { runs, succeeded } = await appFigures(platform.deps, app.id)
  return [runs, succeeded]
}

/** Checks that neither a run nor one of its events is due. */
const expectSettled = async (run: Run) => {
  expect(run.due_at).toBeUndefined()
  const events = await Promise.all(
    [createdEventOf(run), endEventOf(run)].map((event) => platform.deps.table.get(OutboxEntity, event)),
  )
  expect(events.map((event) => event && isSettled(event))).toEqual([true, true])
}

/** Starts runs until one is refused. */
const fill = async (app: Installed): Promise<number> => {
  agent.answer(ACCEPTED)
  for (let started = 0; ; started++) if ((await start(app)).status !== 201) return started
}

/** Checks that a run ended once, whatever died: in the feed, in the figures, and in the counter of its installation. */
const expectEnded = async (app: Installed, key: { installation_id: string; id: string }) => {
  const run = await read(key)
  expect(run).toMatchObject({ status: 'succeeded' })
  await expectSettled(run)
  expect(await feedOf(app)).toEqual(['run.created', 'run.succeeded'])
  expect(await countedOf(app)).toEqual([1, 1])
  expect(await activeRuns(platform.deps, app)).toBe(0)
  expect(await loadNamedRuns(platform.deps, key.installation_id)).toMatchObject({ active: [], last: { id: key.id } })
}

const deaths = { limit: 60, stride: 3, least: DEEP ? 4 : 1 } as const

describe('the end of a run happens once, whatever dies', () => {
  it('at any call of the request that completes it, with or without an Idempotency-Key', async () => {
    for (const idempotencyKey of [undefined, 'once']) {
      await dieAtEach(platform, deaths, async (_n, dying) => {
        const app = await install()
        const { key } = await accepted(app)
        await dying(() => complete(app, key.id, idempotencyKey))
        platform.clock.advance(40_000)
        const again = await complete(app, key.id, idempotencyKey)
        const { status } = await read(key)
        expect(status).toBe('succeeded')
        if (idempotencyKey === undefined) expect([200, 409]).toContain(again.status)
        else expect(again.body).toMatchObject({ id: key.id, status: 'succeeded' })
        await recover(platform, 60_000)
        await expectEnded(app, key)
      })
    }
  })

  it('at any call of the dispatcher whose agent answers at once', async () => {
    for (const isLost of [false, true]) {
      await dieAtEach(platform, deaths, async (_n, dying) => {
        const app = await install()
        agent.answer(SUCCEEDED)
        const { body } = await start(app)
        const key = { installation_id: app.installation.id, id: body.id as string }
        const [message] = platform.messages.splice(0)
        await dying(() => platform.deliver(message as never))
        if (!isLost) await platform.deliver(message as never)
        await recover(platform, 60_000)
        const { status } = await read(key)
        if (status === 'succeeded') await expectEnded(app, key)
        // The agent was called, but its answer was lost.
        else expect((await read(key)).error_code).toBe('agent_unreachable')
        expect(await activeRuns(platform.deps, app)).toBe(0)
        await expectSettled(await read(key))
      })
    }
  })

  it('at any call of the sweeper that completes it', async () => {
    await dieAtEach(platform, deaths, async (_n, dying) => {
      const { app, key } = await endedOnly()
      platform.clock.advance(60_000)
      await dying(() => platform.sweep())
      await recover(platform, 60_000)
      await expectEnded(app, key)
    })
  })

  it('at any call of the fan-out that brings its event', async () => {
    await dieAtEach(platform, deaths, async (n, dying) => {
      const app = await install()
      const { key } = await accepted(app)
      await complete(app, key.id)
      const messages = platform.messages.splice(0)
      expect(messages.map(({ queue }) => queue)).toEqual(['fanout'])
      await dying(() => platform.deliver(messages[0] as never))
      if (n % 2 === 0) await platform.deliver(messages[0] as never)
      await recover(platform, 60_000)
      await expectEnded(app, key)
    })
  })
})

const endsRun = (writes: readonly Write[]): boolean =>
  writes.some(({ entity, changes }) => entity === RunEntity && changes?.set?.status === 'succeeded')

/** Completes a run in a request that dies right after it ended the run. @param before what happens right before that */
const completeAndDie = async (app: Installed, id: string, before = async () => {}) => {
  const { table } = platform.deps
  const { transact } = table
  let dead = false
  let begun = false
  table.transact = async (writes) => {
    if (dead) throw new Error('died')
    if (endsRun(writes) && !begun) {
      begun = true
      table.transact = transact
      await before()
      table.transact = dying
    }
    await transact.call(table, writes)
    dead = endsRun(writes)
    if (dead) throw new Error('died')
  }
  const dying = table.transact
  await complete(app, id)
  table.transact = transact
  expect(dead).toBe(true)
}

/** Completes a new run in a request that dies right after it ended the run. */
const endedOnly = async () => {
  const app = await install()
  const { key } = await accepted(app)
  await completeAndDie(app, key.id)
  expect((await read(key)).status).toBe('succeeded')
  expect(await activeRuns(platform.deps, app)).toBe(1)
  return { app, key }
}

describe('a run that ended, and whose worker died before it freed the place', () => {
  it('isn’t active to anybody, and whoever needs the place gets it at once', async () => {
    const { app, key } = await endedOnly()
    expect(await listActiveRuns(platform.deps, key.installation_id)).toEqual([])
    const { body } = await platform.call('GET', '/api/v1/runs?status=running', { token: app.token })
    expect(body.items).toEqual([])
    expect(await fill(app)).toBe(5)
    expect(await activeRuns(platform.deps, app)).toBe(5)
    // When the sweeper completes the end later, it doesn't free another run's place.
    platform.clock.advance(60_000)
    await platform.sweep()
    expect(await activeRuns(platform.deps, app)).toBe(5)
    expect((await read(key)).due_at).toBeUndefined()
    platform.messages.length = 0
    await platform.drain()
  })

  it('is completed within two minutes, also if its agent had an hour to report', async () => {
    const { key } = await endedOnly()
    const now = platform.clock.now()
    expect((await read(key)).due_at).toBe(now + 45_000)
    platform.clock.advance(44_000)
    await platform.sweep()
    expect(await platform.deps.table.get(OutboxEntity, endEventOf(await read(key)))).toBeUndefined()
    platform.clock.advance(1_000)
    await platform.sweep()
    expect(await platform.deps.table.get(OutboxEntity, endEventOf(await read(key)))).toBeDefined()
    expect((await read(key)).due_at).toBeUndefined()
    await platform.drain()
  })

  /** Starts a run whose agent reported just before the sweeper checks whether it is silent. The check then moves by an hour. */
  const checkedSoon = async () => {
    const app = await install()
    const { key } = await accepted(app)
    const { due_at = 0 } = await read(key)
    platform.clock.advance(due_at - 1_000 - platform.clock.now())
    const token = await callbackToken(platform.deps, app, key.id)
    const body = { steps: [{ type: 'message', output: {} }] }
    expect((await platform.call('POST', `/api/v1/runs/${key.id}/steps`, { token, body })).status).toBe(201)
    platform.clock.advance(1_000)
    return { app, key }
  }

  const expectAnnouncedSoon = async (key: { installation_id: string; id: string }) => {
    await recover(platform, 60_000)
    expect(await platform.deps.table.get(OutboxEntity, endEventOf(await read(key)))).toBeDefined()
    await expectSettled(await read(key))
  }

  it('is completed in time, although the sweeper moved its check just before its end', async () => {
    const { app, key } = await checkedSoon()
    await completeAndDie(app, key.id, () => platform.sweep())
    await expectAnnouncedSoon(key)
  })

  it('is completed in time, although it ended just before the sweeper moved its check', async () => {
    const { app, key } = await checkedSoon()
    const { table } = platform.deps
    const { transact } = table
    let begun = false
    table.transact = async (writes) => {
      const [only] = writes
      if (
        !begun &&
        only?.entity === RunEntity &&
        only.key.sk.includes(key.id) &&
        'due_at' in (only.changes?.set ?? {})
      ) {
        begun = true
        table.transact = transact
        await completeAndDie(app, key.id)
      }
      return transact.call(table, writes)
    }
    await platform.sweep()
    table.transact = transact
    expect(begun).toBe(true)
    await expectAnnouncedSoon(key)
  })

  it('counts for the time limit of its chain from when the place is freed, and hides no later one', async () => {
    const { app, key } = await endedOnly()
    platform.clock.advance(50_000)
    const later = await accepted(app)
    await complete(app, later.key.id)
    const now = platform.clock.now()
    await platform.sweep()
    expect((await loadNamedRuns(platform.deps, key.installation_id)).last?.ended_at).toBe(now)
    await platform.drain()
  })
})

it('the sweeper leaves an end alone that a worker is just completing', async () => {
  const app = await install()
  agent.answer(SUCCEEDED)
  const { body } = await start(app)
  const key = { installation_id: app.installation.id, id: body.id as string }
  const [message] = platform.messages.splice(0)
  const { table } = platform.deps
  const { transact } = table
  let swept = false
  let event: unknown
  table.transact = async (writes) => {
    await transact.call(table, writes)
    if (swept || !endsRun(writes)) return
    swept = true
    // The check of the queued run is due by now.
    platform.clock.advance(44_000)
    await platform.sweep()
    event = await table.get(OutboxEntity, endEventOf(await read(key)))
  }
  platform.clock.advance(2_000)
  await platform.deliver(message as never)
  table.transact = transact
  expect(swept).toBe(true)
  expect(event).toBeUndefined()
  await recover(platform, 60_000)
  await expectEnded(app, key)
})

it('one of several simultaneous answers ends the run, with a single event', async () => {
  const app = await install()
  const { key } = await accepted(app)
  const answers = await Promise.all([1, 2, 3].map((by) => complete(app, key.id, undefined, { by })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  await platform.drain()
  await expectEnded(app, key)
})
