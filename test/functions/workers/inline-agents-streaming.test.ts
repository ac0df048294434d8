import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { loadRun } from '#shared/work/runs/index.ts'
import { type RunEvent, runEvents, STREAM_START } from '#shared/work/runs/stream.ts'
import { usingModel } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { configureModel, inlineAgent, readRun } from './inline-agents-support.ts'

const platform = usingPlatform()
const model = usingModel()
beforeEach(() => {
  configureModel(platform, model, 15_000)
  model.requests.length = 0
  model.always({ text: 'done' })
})

const words = (content: string, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason }],
})

/** Lets a scripted model wait until a test has seen what it wrote. */
const gate = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}

interface Said {
  id: string
  type: string
  status: string
  output: { text?: string }
}

/** Starts a run and follows its stream. */
const followed = async (input: object = {}) => {
  const app = await inlineAgent(platform)
  const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input } })
  const key = { installation_id: app.installation.id, id: body.id as string }
  const events: RunEvent[] = []
  const messages = () =>
    events
      .filter(({ event }) => event === 'step')
      .map(({ data }) => data as unknown as Said)
      .filter(({ type }) => type === 'message')
  const working = platform.drain()
  const reading = (async () => {
    for await (const event of runEvents(platform.deps, await loadRun(platform.deps, key), STREAM_START, NEVER)) {
      if (event) events.push(event)
    }
  })()
  const until = async (text: string) => {
    while (!messages().some(({ output }) => output.text === text)) await pause(20)
  }
  const end = async () => {
    await Promise.all([working, reading])
    return readRun(platform, app, body.id)
  }
  return { app, key, messages, until, end }
}

const NEVER = new AbortController().signal

describe('what a model has written of its turn', () => {
  it('is in the run’s stream while it writes, as the step that the turn will be', async () => {
    const [first, second] = [gate(), gate()]
    model.next({
      chunks: (async function* () {
        yield words('Seven ')
        await first.passed
        yield words('pieces ')
        await second.passed
        yield words('left.', 'stop')
      })(),
    })
    const { key, messages, until, end } = await followed()
    await until('Seven ')
    expect((await loadRun(platform.deps, key)).step_count).toBe(0)
    first.open()
    await until('Seven pieces ')
    second.open()
    const run = await end()
    expect(run.output).toEqual({ text: 'Seven pieces left.' })
    expect(messages().map(({ status, output }) => [status, output.text])).toEqual([
      ['running', 'Seven '],
      ['running', 'Seven pieces '],
      ['done', 'Seven pieces left.'],
    ])
    const [step] = run.steps
    expect(new Set(messages().map(({ id }) => id))).toEqual(new Set([step.id]))
    expect(run.steps).toHaveLength(1)
    expect(await loadRun(platform.deps, key)).not.toHaveProperty('draft')
  })

  it('of two turns is two steps', async () => {
    const [first, second] = [gate(), gate()]
    const call = { index: 0, id: 'c', function: { name: 'workspace_info', arguments: '{}' } }
    model.next(
      {
        chunks: (async function* () {
          yield words('Let me see.')
          await first.passed
          yield { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }
        })(),
      },
      {
        chunks: (async function* () {
          yield words('Seven')
          await second.passed
          yield words('.', 'stop')
        })(),
      },
    )
    const { messages, until, end } = await followed()
    await until('Let me see.')
    first.open()
    await until('Seven')
    second.open()
    const run = await end()
    const steps = run.steps.filter(({ type }: Said) => type === 'message')
    expect(steps.map(({ output }: Said) => output.text)).toEqual(['Let me see.', 'Seven.'])
    expect(new Set(messages().map(({ id }) => id))).toEqual(new Set(steps.map(({ id }: Said) => id)))
  })

  it('is dropped with an attempt that failed', async () => {
    const [first, second] = [gate(), gate()]
    model.next(
      {
        chunks: (async function* () {
          yield words('half')
          await first.passed
          yield { error: { code: 503, message: 'busy' } }
        })(),
      },
      {
        chunks: (async function* () {
          yield words('whole')
          await second.passed
          yield words('!', 'stop')
        })(),
      },
    )
    const { messages, until, end } = await followed()
    await until('half')
    first.open()
    await until('whole')
    second.open()
    expect((await end()).output).toEqual({ text: 'whole!' })
    expect(messages().map(({ output }) => output.text)).not.toContain('halfwhole')
  })

  it('stays as the run’s last step when the run is cancelled meanwhile, however long it is', async () => {
    const first = gate()
    const text = 'ß'.repeat(9_999)
    model.next({
      chunks: (async function* () {
        yield words(text)
        await first.passed
        yield words('.', 'stop')
      })(),
    })
    const { app, key, messages, until, end } = await followed()
    await until(text)
    const { status } = await platform.call('POST', `/api/v1/runs/${key.id}/cancel`, { token: app.token, body: {} })
    expect(status).toBe(200)
    first.open()
    const run = await end()
    expect(run).toMatchObject({ status: 'cancelled', output: null })
    expect(run.steps).toMatchObject([{ id: messages()[0]?.id, type: 'message', status: 'done', output: { text } }])
    expect(await loadRun(platform.deps, key)).not.toHaveProperty('draft')
  })

  it('that can’t be stored is left out, and the run goes on', async () => {
    const transact = platform.deps.table.transact.bind(platform.deps.table)
    const first = gate()
    let failures = 0
    platform.deps.table.transact = async (writes, ...more) => {
      if (!JSON.stringify(writes).includes('"draft":{')) return transact(writes, ...more)
      failures++
      throw new Error('the table is busy')
    }
    try {
      model.next({
        chunks: (async function* () {
          yield words('Seven')
          await first.passed
          yield words('.', 'stop')
        })(),
      })
      const { end } = await followed()
      while (failures === 0) await pause(20)
      first.open()
      expect(await end()).toMatchObject({ status: 'succeeded', output: { text: 'Seven.' } })
    } finally {
      platform.deps.table.transact = transact
    }
  })
})
