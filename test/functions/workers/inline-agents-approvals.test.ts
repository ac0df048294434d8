import { beforeEach, describe, expect, it } from 'vitest'
import { lastResult } from '#testkit/model-server.ts'
import { usingModel, usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { configureModel, decide, inlineAgent, readRun, runOf } from './inline-agents-support.ts'

const platform = usingPlatform()
const model = usingModel()
const page = usingReceiver()
beforeEach(() => {
  configureModel(platform, model)
  model.requests.length = 0
  model.always((request) => ({ text: lastResult(request) ?? 'nothing' }))
  page.requests.length = 0
  page.answer({ kind: 'answer', status: 200, body: 'the page' })
})

const fetchPage = () => ({ tool: 'http_fetch', arguments: { url: page.url } })

/** Advances the clock by a minute and runs the sweeper, as the schedule would. */
const minute = async () => {
  await platform.drain()
  platform.clock.advance(60_000)
  await platform.sweep()
  await platform.drain()
}

describe('a call that needs an approval', () => {
  it('pauses the run, without keeping a worker waiting', async () => {
    const app = await inlineAgent(platform)
    model.next({ text: 'Let me look.', calls: [fetchPage()] })
    const run = await runOf(platform, app)
    expect(run.status).toBe('awaiting_approval')
    expect(run.steps).toMatchObject([
      { type: 'message', output: { text: 'Let me look.' } },
      { type: 'approval', status: 'pending', tool: 'http_fetch' },
    ])
    await minute()
    expect(model.requests).toHaveLength(1)
    expect(page.requests).toEqual([])
  })

  it('is executed once after its approval, and the model continues with its result and the whole conversation', async () => {
    const app = await inlineAgent(platform)
    model.next({ text: 'Let me look.', calls: [fetchPage()] })
    const waiting = await runOf(platform, app)
    expect((await decide(platform, app, waiting, 'approve')).status).toBe(200)
    await platform.drain()
    const run = await readRun(platform, app, waiting.id)
    expect(run).toMatchObject({ status: 'succeeded', output: { body: 'the page' } })
    expect(page.requests).toHaveLength(1)
    expect(model.requests).toHaveLength(2)
    expect(model.requests[1]?.messages.map(({ role, content }) => [role, content?.slice(0, 12)])).toEqual([
      ['system', 'You are the '],
      ['user', '{"input":{"q'],
      ['assistant', 'Let me look.'],
      ['tool', expect.stringContaining('{')],
    ])
    expect(run.cost_units).toBe(30)
  })

  it('is reported to the model as rejected after its rejection', async () => {
    const app = await inlineAgent(platform)
    model.next({ calls: [fetchPage()] })
    const waiting = await runOf(platform, app)
    await decide(platform, app, waiting, 'reject')
    await platform.drain()
    const run = await readRun(platform, app, waiting.id)
    expect(run).toMatchObject({ status: 'succeeded', output: { error: { code: 'rejected' } } })
    expect(page.requests).toEqual([])
  })

  it('delays the calls after it, which are executed after the decision', async () => {
    const app = await inlineAgent(platform)
    const info = { tool: 'workspace_info' }
    model.next({ calls: [info, fetchPage(), info] })
    const waiting = await runOf(platform, app)
    expect(waiting.steps.map(({ type }: { type: string }) => type)).toEqual(['message', 'tool_call', 'approval'])
    await decide(platform, app, waiting, 'approve')
    await platform.drain()
    const run = await readRun(platform, app, waiting.id)
    expect(run.status).toBe('succeeded')
    expect(run.steps.map(({ type }: { type: string }) => type)).toEqual([
      'message',
      'tool_call',
      'approval',
      'tool_call',
      'message',
    ])
  })

  it('is decided twice when it is made twice in one turn', async () => {
    const app = await inlineAgent(platform)
    model.next({ calls: [fetchPage(), fetchPage()] })
    let run = await runOf(platform, app)
    for (let decided = 0; decided < 2; decided++) {
      expect(run.status).toBe('awaiting_approval')
      await decide(platform, app, run, 'approve')
      await platform.drain()
      run = await readRun(platform, app, run.id)
    }
    expect(run.status).toBe('succeeded')
    expect(page.requests).toHaveLength(2)
  })

  it('continues within two minutes when the message about the decision is lost', async () => {
    const app = await inlineAgent(platform)
    model.next({ calls: [fetchPage()] })
    const waiting = await runOf(platform, app)
    await decide(platform, app, waiting, 'reject')
    platform.outbox.length = 0
    await minute()
    await minute()
    expect(await readRun(platform, app, waiting.id)).toMatchObject({ status: 'succeeded' })
  })

  it('isn’t executed if the run was cancelled in the meantime', async () => {
    const app = await inlineAgent(platform)
    model.next({ calls: [fetchPage()] })
    const waiting = await runOf(platform, app)
    await platform.call('POST', `/api/v1/runs/${waiting.id}/cancel`, { token: app.token })
    await minute()
    expect((await readRun(platform, app, waiting.id)).status).toBe('cancelled')
    expect([model.requests.length, page.requests.length]).toEqual([1, 0])
  })

  it('is refused without asking for an approval when the address is blocked', async () => {
    const app = await inlineAgent(platform)
    model.next({ calls: [{ tool: 'http_fetch', arguments: { url: 'https://10.0.0.1/' } }] })
    expect(await runOf(platform, app)).toMatchObject({
      status: 'succeeded',
      output: { error: { code: 'blocked_target' } },
    })
  })
})
