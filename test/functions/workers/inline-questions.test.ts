import { beforeEach, describe, expect, it } from 'vitest'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { dieAtEach } from '#test/faults/die-at-each.ts'
import type { Installed } from '#testkit/fixtures.ts'
import { usingModel } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { configureModel, inlineAgent, readRun, runOf } from './inline-agents-support.ts'

const platform = usingPlatform()
const model = usingModel()
beforeEach(() => {
  platform.clock.advance(7_200_000)
  configureModel(platform, model)
  model.always(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { text: JSON.stringify({ heard: JSON.stringify(messages.at(-1)) }) }
      : { calls: [{ tool: 'ask_user', arguments: { question: 'Which bank?' } }] },
  )
})

const answer = async (app: Installed, id: string) => {
  const [step] = (await readRun(platform, app, id)).steps.filter(
    ({ type, status }: { type: string; status: string }) => type === 'input_request' && status === 'pending',
  )
  if (!step) return
  const [key = ''] = Object.keys(step.output.input_requests)
  await platform.call('POST', `/console/runs/${id}/input`, {
    token: app.person.token,
    body: { responses: { [key]: { action: 'accept', content: { answer: 'The blue one' } } } },
  })
}

describe('an inline agent that asks a person', () => {
  it('waits without a worker, and gets the answer as the result of its call', async () => {
    const app = await inlineAgent(platform)
    const run = await runOf(platform, app)
    expect(run).toMatchObject({ status: 'running' })
    platform.clock.advance(3_600_000)
    await platform.sweep()
    await platform.drain()
    expect((await readRun(platform, app, run.id)).status).toBe('running')
    await answer(app, run.id)
    await platform.drain()
    const done = await readRun(platform, app, run.id)
    expect(done.status).toBe('succeeded')
    expect(done.output.heard).toContain('The blue one')
    expect(done.steps.filter(({ type }: { type: string }) => type === 'input_request')).toMatchObject([
      { status: 'answered', output: { result: { action: 'accept', answer: 'The blue one' } } },
    ])
  })

  it('asks once when its worker dies after any effect', async () => {
    await dieAtEach(platform, { limit: 40, counted: 'effects' }, async (n, dying) => {
      platform.clock.advance(7_200_000)
      const app = await inlineAgent(platform)
      const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
      await dying(platform.drain)
      for (let round = 0; round < 4; round++) {
        await platform.drain()
        await answer(app, run.id)
        platform.clock.advance(61_000)
        await platform.sweep()
      }
      await platform.drain()
      const done = await readRun(platform, app, run.id)
      expect(done.status, `killed after effect ${n}`).toBe('succeeded')
      expect(done.steps.filter(({ type }: { type: string }) => type === 'input_request')).toHaveLength(1)
    })
  })

  it('gets the answer once, and ends once, when the request or its worker dies at any call of the store', async () => {
    await dieAtEach(platform, { limit: 60, least: 19 }, async (n, dying) => {
      platform.clock.advance(7_200_000)
      const app = await inlineAgent(platform)
      const run = await runOf(platform, app)
      await dying(() => answer(app, run.id), platform.drain)
      for (let round = 0; round < 4; round++) {
        await platform.drain()
        await answer(app, run.id)
        platform.clock.advance(61_000)
        await platform.sweep()
      }
      await platform.drain()
      const done = await readRun(platform, app, run.id)
      const at = `killed at call ${n}`
      expect(done.status, at).toBe('succeeded')
      expect(done.output.heard, at).toContain('The blue one')
      const types = done.steps.map(({ type, status }: { type: string; status: string }) => `${type} ${status}`)
      expect(types, at).toEqual(['message done', 'input_request answered', 'message done'])
      const { body } = await platform.call('GET', '/api/v1/events?types=run.*&limit=100', { token: app.token })
      const events = body.items.map(({ type }: { type: string }) => type)
      for (const type of ['run.input_required', 'run.input_received', 'run.succeeded']) {
        expect(
          events.filter((one: string) => one === type),
          `${type}, ${at}`,
        ).toHaveLength(1)
      }
      for (const name of ['active_runs', 'waiting_runs']) {
        const counter = { owner: app.installation.id, counter: name }
        expect((await platform.deps.table.get(CounterEntity, counter))?.n ?? 0, `${name}, ${at}`).toBe(0)
      }
    })
  })
})
