import { describe, expect, it } from 'vitest'
import { isSettled, OutboxEntity } from '#shared/foundation/outbox/index.ts'
import { createdEventId, endEventId } from '#shared/work/runs/emit.ts'
import { type Run, RunEntity } from '#shared/work/runs/entity.ts'
import { loadRunsInSlots } from '#shared/work/runs/slots.ts'
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
    [createdEventId(run.id), endEventId(run)].map((id) => platform.deps.table.get(OutboxEntity, { id })),
  )
  expect(events.map((event) => event && isSettled(event))).toEqual([true, true])
}

/** Checks that a run ended once, whatever died: in the feed, in the figures, and in the counter of its installation. */
const expectEnded = async (app: Installed, key: { installation_id: string; id: string }) => {
  const run = await read(key)
  expect(run).toMatchObject({ status: 'succeeded' })
  await expectSettled(run)
  expect(await feedOf(app)).toEqual(['run.created', 'run.succeeded'])
  expect(await countedOf(app)).toEqual([1, 1])
  expect(await activeRuns(platform.deps, app)).toBe(0)
  expect(await loadRunsInSlots(platform.deps, key.installation_id)).toMatchObject({ active: [], last: { id: key.id } })
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

it('one of several simultaneous answers ends the run, with a single event', async () => {
  const app = await install()
  const { key } = await accepted(app)
  const answers = await Promise.all([1, 2, 3].map((by) => complete(app, key.id, undefined, { by })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  await platform.drain()
  await expectEnded(app, key)
})
