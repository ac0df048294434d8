import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { killAfter } from '#testkit/faults.ts'
import { activeRuns, type Installed } from '#testkit/fixtures.ts'
import { usingModel, usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { whileWorking } from '#testkit/while-working.ts'
import { configureModel, decide, inlineAgent, readRun } from './inline-agents-support.ts'

const platform = usingPlatform()
const model = usingModel()
const page = usingReceiver()
beforeEach(() => {
  configureModel(platform, model)
  page.answer({ kind: 'answer', status: 200, body: 'the page' })
})

const notify = { tool: 'notify_user', arguments: { title: 'Hello', body: 'World' } }
const save = { tool: 'save_file', arguments: { name: 'notes.txt', content: 'notes' } }

/** Scripts the model by turn: two calls with effects, one that needs an approval, then the end. */
const script = () =>
  model.always(({ messages }) => {
    const turns = messages.filter(({ role }) => role === 'assistant').length
    if (turns === 0) return { text: 'first', calls: [notify, save] }
    if (turns === 1) return { calls: [{ tool: 'http_fetch', arguments: { url: page.url } }] }
    return { text: 'done' }
  })

const inlineMessages = () => {
  const found = platform.messages.filter(({ queue }) => queue === 'inline-runs')
  for (const message of found) platform.messages.splice(platform.messages.indexOf(message), 1)
  return found
}

/** Delivers all messages except those for the inline worker. */
const relay = async () => {
  for (let i = 0; i < 6; i++) {
    await platform.deps.bus.put(platform.outbox.splice(0))
    const due = platform.messages.filter(({ queue }) => queue !== 'inline-runs')
    for (const message of due) platform.messages.splice(platform.messages.indexOf(message), 1)
    for (const message of due) await platform.deliver(message)
  }
}

/** Advances the clock and runs the sweeper, and approves every pending call. */
const recover = async (app: Installed, id: string) => {
  for (let i = 0; i < 8; i++) {
    await platform.drain()
    const run = await readRun(platform, app, id)
    if (run.status === 'awaiting_approval') await decide(platform, app, run, 'approve')
    platform.clock.advance(60_000)
    await platform.sweep()
  }
  await platform.drain()
}

describe('a worker of inline agents that crashes at any point', () => {
  it.each([
    ['before the approval', false],
    ['after the approval', true],
  ])(
    '%s leaves a run that finishes, with every call executed once',
    async (_when, approved) => {
      script()
      let points = 0
      for (let n = 1; n < 60; n++) {
        platform.clock.advance(7_200_000)
        page.requests.length = 0
        const app = await inlineAgent(platform)
        const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
        if (approved) {
          await platform.drain()
          await decide(platform, app, await readRun(platform, app, run.id), 'approve')
        }
        await relay()
        const due = inlineMessages()
        expect(due.length).toBeGreaterThan(0)
        const death = killAfter(platform, n)
        for (const message of due) await platform.deliver(message)
        const reached = death.restore()
        // The queue redelivers unacknowledged messages, and sometimes acknowledged ones.
        for (const message of due) await platform.deliver(message)
        await recover(app, run.id)
        const ended = await readRun(platform, app, run.id)
        expect(ended, `died after effect ${n}`).toMatchObject({ status: 'succeeded', output: { text: 'done' } })
        const made = ended.steps.map(({ type, tool }: { type: string; tool: string | null }) => tool ?? type)
        expect(made).toEqual(['message', 'notify_user', 'save_file', 'message', 'http_fetch', 'message'])
        const notifications = await platform.deps.table.query(
          NotificationEntity,
          { workspace_id: app.workspaceId },
          { limit: 100 },
        )
        expect(notifications.items.filter(({ kind }) => kind === 'agent.notice')).toHaveLength(1)
        const files = await platform.call('GET', '/api/v1/files', { token: app.token })
        expect(files.body.items.filter(({ name }: { name: string }) => name === 'notes.txt')).toHaveLength(1)
        expect(page.requests.length).toBe(1)
        expect(await activeRuns(platform.deps, app)).toBe(0)
        if (!reached) break
        points = n
      }
      expect(points).toBe(approved ? 3 : 8)
    },
    60_000,
  )
})

describe('a worker that crashes while another agent answers its question', () => {
  it('is succeeded by one that waits for the same answer, without asking again', async () => {
    const input_schema = { type: 'object' }
    const target = await inlineAgent(platform, { tools: [{ name: 'count', description: 'Counts.', input_schema }] })
    const asking = await inlineAgent(platform, { workspaceId: target.workspaceId })
    model.always(({ messages }) => {
      if (JSON.parse(messages[1]?.content ?? '').tool) return { text: '{"pieces": 7}' }
      if (messages.some(({ role }) => role === 'tool')) return { text: 'done' }
      return { calls: [{ tool: 'ask_agent', arguments: { agent: target.app.slug, tool: 'count' } }] }
    })
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: asking.token, body: {} })
    await relay()
    // Started, turn stored, call counted, question asked: then it crashes.
    const death = killAfter(platform, 4)
    for (const message of inlineMessages()) await platform.deliver(message)
    expect(death.restore()).toBe(true)
    const begun = await platform.call('GET', '/api/v1/runs', { token: target.token })
    expect(begun.body.items).toMatchObject([{ status: 'queued' }])
    // The message that dispatches the asked run was lost as well.
    platform.clock.advance(LIMITS.inlineHold)
    await platform.sweep()
    const again = platform.messages.splice(0)
    await whileWorking(platform, Promise.all(again.map((message) => platform.deliver(message))))
    await platform.drain()
    expect(await readRun(platform, asking, run.id)).toMatchObject({ status: 'succeeded', output: { text: 'done' } })
    const asked = await platform.call('GET', '/api/v1/runs', { token: target.token })
    expect(asked.body.items).toMatchObject([{ status: 'succeeded', output: { pieces: 7 }, trigger: 'agent' }])
  })
})

describe('wake-ups', () => {
  it('start one worker per turn when ten arrive concurrently', async () => {
    script()
    const app = await inlineAgent(platform)
    model.requests.length = 0
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await relay()
    const [message] = inlineMessages()
    if (!message) throw new Error('no worker was woken')
    await Promise.all(Array.from({ length: 10 }, () => platform.deliver(message)))
    expect(model.requests).toHaveLength(2)
    await recover(app, run.id)
    expect(model.requests).toHaveLength(3)
    expect((await readRun(platform, app, run.id)).status).toBe('succeeded')
  })

  it('that were all lost are replaced by the sweeper', async () => {
    script()
    const app = await inlineAgent(platform)
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    platform.outbox.length = 0
    platform.clock.advance(60_000)
    await platform.sweep()
    await platform.drain()
    expect((await readRun(platform, app, run.id)).status).toBe('awaiting_approval')
  })

  it('don’t start another worker while a slow one sends heartbeats', async () => {
    const app = await inlineAgent(platform)
    const gate = Promise.withResolvers<void>()
    model.requests.length = 0
    model.always({ text: 'done' })
    model.next(async () => {
      await gate.promise
      return { calls: [notify] }
    })
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await relay()
    const [message] = inlineMessages()
    if (!message) throw new Error('no worker was woken')
    const slow = platform.deliver(message)
    while (model.requests.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    await platform.deliver(message)
    expect(model.requests).toHaveLength(1)
    // The clock jumps without a heartbeat: another worker takes over, and the slow one's results are dropped.
    platform.clock.advance(LIMITS.inlineHold + 1)
    await platform.deliver(message)
    expect(await readRun(platform, app, run.id)).toMatchObject({ status: 'succeeded' })
    gate.resolve()
    expect(await slow).toBe(true)
    const notifications = await platform.deps.table.query(
      NotificationEntity,
      { workspace_id: app.workspaceId },
      { limit: 10 },
    )
    expect(notifications.items).toEqual([])
  })

  it('end for a turn that crashes every worker, and the run fails', async () => {
    const app = await inlineAgent(platform)
    const real = platform.deps.model
    platform.deps.model = {
      turn: () => {
        throw new Error('the worker is out of memory')
      },
    }
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    for (let i = 0; i < 8; i++) {
      await relay()
      for (const message of inlineMessages()) await platform.deliver(message)
      platform.clock.advance(60_000)
      await platform.sweep()
    }
    platform.deps.model = real
    expect(await readRun(platform, app, run.id)).toMatchObject({ status: 'failed', error_code: 'agent_timeout' })
  })
})

describe('a slow worker', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** Sets the interval of heartbeats. */
  const beating = (ms: number) => {
    const real = setInterval
    vi.spyOn(globalThis, 'setInterval').mockImplementation(((beat: () => void, every: number) =>
      real(beat, every === LIMITS.inlineBeat ? ms : every)) as typeof setInterval)
  }
  /** Waits for a heartbeat after the clock was moved, so that the sweeper finds nothing overdue. */
  const beaten = async ({ installation }: Installed, id: string) => {
    const key = { installation_id: installation.id, id }
    const soon = platform.clock.now() + 2_000
    while (((await platform.deps.table.get(RunEntity, key))?.due_at ?? 0) < soon)
      await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const started = async () => {
    const app = await inlineAgent(platform)
    model.requests.length = 0
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await relay()
    const [message] = inlineMessages()
    if (!message) throw new Error('no worker was woken')
    const working = platform.deliver(message)
    while (model.requests.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    return { app, run, message, working }
  }

  it('keeps its run with heartbeats, even when the sweeper runs', async () => {
    beating(10)
    const gate = Promise.withResolvers<void>()
    model.always(async () => {
      await gate.promise
      return { text: 'done' }
    })
    const { app, run, message, working } = await started()
    for (let i = 0; i < 4; i++) {
      platform.clock.advance(LIMITS.inlineHold - 1_000)
      await beaten(app, run.id)
      await platform.sweep()
      await platform.deliver(message)
    }
    expect([model.requests.length, inlineMessages().length]).toEqual([1, 0])
    gate.resolve()
    await working
    expect((await readRun(platform, app, run.id)).status).toBe('succeeded')
  })

  it('stops waiting for the model when the run is cancelled', async () => {
    beating(10)
    configureModel(platform, model, 600_000)
    model.always({ hang: true })
    const { app, run, working } = await started()
    await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: app.token })
    expect(await working).toBe(true)
    expect((await readRun(platform, app, run.id)).status).toBe('cancelled')
  })

  it('hands the run over to another worker before its own time limit', async () => {
    let ahead = 0
    const real = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => real() + ahead)
    model.always({ text: 'done' })
    model.next(() => {
      ahead = LIMITS.inlineShift + 1
      return { calls: [notify] }
    })
    const { app, run, working } = await started()
    await working
    expect((await readRun(platform, app, run.id)).steps).toHaveLength(1)
    await platform.drain()
    expect(await readRun(platform, app, run.id)).toMatchObject({ status: 'succeeded' })
    expect(model.requests).toHaveLength(2)
  })
})
