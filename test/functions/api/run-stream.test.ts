import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { beforeEach, describe, expect, it } from 'vitest'
import { endpoints as ofApi } from '#functions/api/run-stream.ts'
import { endpoints as ofConsole } from '#functions/console/run-stream.ts'
import { OpenStreamsEntity } from '#shared/foundation/limits/entity.ts'
import { closeStream, isStreamOpen, openStream } from '#shared/foundation/limits/streams.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import type { StreamedResult } from '#shared/http/streamed.ts'
import { MemberEntity } from '#shared/identity/people/entity.ts'
import { changeRun, runWrite } from '#shared/work/runs/change.ts'
import { everyAuthenticator } from '#testkit/authenticators.ts'
import { callbackToken, installed, member } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { parseStream } from './run-stream-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => {
  platform.clock.advance(3_600_000)
  agent.answer({ kind: 'answer', status: 202 })
})

/** Starts a run that its agent has accepted. */
const running = async (options: Parameters<typeof installed>[1] = {}) => {
  const app = await installed(platform.deps, { endpoint: agent.url, ...options })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: { q: 1 } } })
  await platform.drain()
  const callback = await callbackToken(platform.deps, app, run.id)
  const key = { installation_id: app.installation.id, id: run.id as string }
  const act = async (what: string, body: object = {}) =>
    (await platform.call('POST', `/api/v1/runs/${run.id}/${what}`, { token: callback, body })).body
  const follow = (lastEventId?: string | number, token = app.token) =>
    platform.call('GET', `/api/v1/runs/${run.id}/stream`, {
      token,
      headers: lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) },
    })
  return { app, run, callback, key, act, follow }
}

describe('the stream of a run', () => {
  it('starts with all past events in order, and ends with the result', async () => {
    const { act, follow, run, app } = await running()
    const step = (await act('steps', { type: 'message', output: { text: 'a\nb\u2028c' } })).items[0]
    await act('complete', { status: 'succeeded', output: { n: 1 }, cost_units: 2 })
    const answer = await follow()
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    expect(answer.text.startsWith('retry: 1000\nid: ')).toBe(true)
    // Each block has data: some clients take any other for an event.
    for (const block of answer.text.split('\n\n').filter((text) => text !== '')) expect(block).toMatch(/^data: /m)
    const events = parseStream(answer.text)
    expect(events.map(({ id, event, data }) => [id, event, data.status])).toEqual([
      ['1', 'state', 'queued'],
      ['2', 'state', 'running'],
      ['3', 'step', 'done'],
      ['4', 'state', 'succeeded'],
    ])
    expect(events[0]?.data).toMatchObject({ run_id: run.id, started_at: null, agent: { id: app.version.agent_id } })
    expect(events[0]?.data).not.toHaveProperty('output')
    expect(events[2]?.data).toEqual(step)
    expect(events[3]?.data).toMatchObject({ output: { n: 1 }, cost_units: 2, error_code: null, duration_ms: 0 })
    expect(events.every(({ data }) => !('input' in data))).toBe(true)
  })

  it('resumes after Last-Event-ID, and answers 204 once every event was sent', async () => {
    const { act, follow } = await running()
    await act('complete', { status: 'failed', error_code: 'broken', error_message: 'It broke.', steps: [{}] })
    const rest = parseStream((await follow(3)).text)
    expect(rest.map(({ id }) => id)).toEqual(['4'])
    expect(rest[0]?.data).toMatchObject({ status: 'failed', error_code: 'broken', error_message: 'It broke.' })
    const over = await follow(4)
    expect([over.status, over.text, over.headers['content-type']]).toEqual([204, '', undefined])
    expect(parseStream((await follow('')).text)).toHaveLength(4)
  })

  it('repeats a step under a higher number when it was decided, executed or voided', async () => {
    const { act, follow, callback, app, run } = await running()
    const args = { arguments: { url: agent.url } }
    const asked = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token: callback, body: args })
    const seen = parseStream((await follow()).text)
    expect(seen.slice(2).map(({ id, event, data }) => [id, event, data.status])).toEqual([
      ['3', 'step', 'pending'],
      ['4', 'state', 'awaiting_approval'],
    ])
    await platform.call('POST', `/console/runs/${run.id}/steps/${asked.body.step_id}/decision`, {
      token: app.person.token,
      body: { decision: 'approve' },
    })
    expect(parseStream((await follow(4)).text).map(({ id, data }) => [id, data.status])).toEqual([
      ['5', 'approved'],
      ['6', 'running'],
    ])
    await platform.drain()
    const [executed] = parseStream((await follow(6)).text)
    expect(executed).toMatchObject({ id: '7', data: { id: asked.body.step_id, output: { result: { status: 202 } } } })

    await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token: callback,
      body: { arguments: { url: `${agent.url}/2` } },
    })
    await act('complete', { status: 'succeeded' })
    expect(parseStream((await follow(9)).text).map(({ id, data }) => [id, data.status])).toEqual([
      ['10', 'voided'],
      ['11', 'succeeded'],
    ])
  })

  it('sends a result that arrives after the end to clients that reconnect', async () => {
    const { act, follow, callback, app, run } = await running()
    agent.answer(async () => {
      await act('complete', { status: 'succeeded' })
      return { kind: 'answer', body: 'late' }
    })
    const asked = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token: callback,
      body: { arguments: { url: agent.url } },
    })
    await platform.call('POST', `/console/runs/${run.id}/steps/${asked.body.step_id}/decision`, {
      token: app.person.token,
      body: { decision: 'approve' },
    })
    await platform.drain()
    const events = parseStream((await follow(6)).text)
    expect(events.map(({ id, data }) => [id, data.status])).toEqual([
      ['7', 'succeeded'],
      ['8', 'executed'],
    ])
    expect((await follow(7)).status).toBe(200)
    expect((await follow(8)).status).toBe(204)
  })

  it('reports a gap when older states were dropped or the position is unknown', async () => {
    const { act, follow, key } = await running()
    await act('steps', { type: 'message' })
    for (let i = 0; i < 60; i++) {
      await changeRun(platform.deps, key, (run) =>
        platform.deps.table.transact([
          runWrite(run, { status: run.status === 'running' ? 'awaiting_approval' : 'running' }),
        ]),
      )
    }
    const all = parseStream((await follow()).text)
    expect(all[0]).toEqual({ id: undefined, event: 'gap', data: { after: 0, before: 14 } })
    expect(all.slice(1).map(({ id }) => Number(id))).toEqual([3, ...Array.from({ length: 50 }, (_, i) => 14 + i)])
    expect(parseStream((await follow(12)).text)[0]).toMatchObject({ event: 'gap', data: { after: 12, before: 14 } })
    expect(parseStream((await follow(13)).text)[0]).toMatchObject({ id: '14', event: 'state' })
    const unknown = parseStream((await follow(9_999)).text)
    expect(unknown[0]).toEqual({ id: undefined, event: 'gap', data: { after: 9_999, before: 1 } })
    expect(unknown.at(-1)?.id).toBe('63')
  })

  it('is logged once, with its whole duration', async () => {
    const { follow } = await running()
    platform.logs.length = 0
    await follow()
    const lines = platform.logs.map((line) => JSON.parse(line)).filter(({ endpoint }) => endpoint === 'api.runs.stream')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ status: 200 })
    expect(lines[0].duration_ms).toBeGreaterThan(300)
  })
})

describe('a caller’s streams', () => {
  it('are limited to three: a fourth ends the oldest, and an ended one frees a slot', async () => {
    const { app, follow } = await running()
    await follow()
    const caller = app.installation.id
    expect((await platform.deps.table.get(OpenStreamsEntity, { caller }))?.open).toEqual([])
    const request = (n: number) => `req_${n}`
    for (let n = 1; n <= 4; n++) await openStream(platform.deps, caller, request(n))
    const stands = () => Promise.all([1, 2, 4].map((n) => isStreamOpen(platform.deps, caller, request(n))))
    expect(await stands()).toEqual([false, true, true])
    await closeStream(platform.deps, caller, request(4))
    await Promise.all([7, 8].map((n) => openStream(platform.deps, caller, request(n))))
    expect(await stands()).toEqual([false, false, false])
  })
})

describe('an open stream', () => {
  /** Opens a stream as a member of the workspace. It ends only by itself. */
  const opened = async () => {
    const { app, run } = await running()
    const person = await member(platform.deps, app.workspaceId, 'member')
    // Close to the session's end, when callers are authenticated again.
    platform.clock.advance(12 * 3_600_000 - 1_500)
    const handle = createPipeline([...ofApi, ...ofConsole], everyAuthenticator, async () => platform.deps)
    const headers = { authorization: `Bearer ${person.token}` }
    const event = {
      httpMethod: 'GET',
      path: `/console/runs/${run.id}/stream`,
      headers,
    } as unknown as APIGatewayProxyEvent
    const result = (await handle(event, {} as Context)) as StreamedResult
    const stop = new AbortController()
    const ended = Readable.from(result.pieces(stop.signal))
      .toArray()
      .then(() => 'ended')
    const within = (ms: number) => Promise.race([ended, pause(ms, 'open')])
    return { app, person, within, stop }
  }

  it('continues while its caller has access, and ends when the member is removed', async () => {
    const { app, person, within, stop } = await opened()
    expect(await within(2_500)).toBe('open')
    await platform.deps.table.transact([
      MemberEntity.delete({ workspace_id: app.workspaceId, user_id: person.user.id }),
    ])
    expect(await within(2_500)).toBe('ended')
    stop.abort()
  })

  it('ends with its caller’s session', async () => {
    const { within, stop } = await opened()
    platform.clock.advance(2_000)
    expect(await within(2_500)).toBe('ended')
    stop.abort()
  })
})

describe('a stream request', () => {
  it.each(['x', '-1', '1.5', '1e3', '9'.repeat(13)])('is refused with 400 for Last-Event-ID “%s”', async (id) => {
    const { follow } = await running()
    const answer = await follow(id)
    expect([answer.status, answer.body.error.code]).toEqual([400, 'bad_request'])
  })

  it('is refused with 404 for a run of another workspace, another installation or another callback token', async () => {
    const { run, app, act } = await running()
    const stranger = await running()
    const neighbour = await installed(platform.deps, { workspaceId: app.workspaceId })
    for (const token of [stranger.app.token, stranger.callback, neighbour.token]) {
      expect((await platform.call('GET', `/api/v1/runs/${run.id}/stream`, { token })).status).toBe(404)
    }
    const path = `/console/runs/${run.id}/stream`
    expect((await platform.call('GET', path, { token: stranger.app.person.token })).status).toBe(404)
    await act('complete', { status: 'succeeded' })
    const viewer = await member(platform.deps, app.workspaceId, 'member')
    const seen = await platform.call('GET', path, { token: viewer.token })
    expect(parseStream(seen.text).map(({ data }) => data.status)).toEqual(['queued', 'running', 'succeeded'])
  })
})
