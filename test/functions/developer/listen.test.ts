import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ListenedMessageEntity, ListenedRequestEntity, ListenerEntity } from '#shared/agents/outgoing/entity.ts'
import { findListener } from '#shared/agents/outgoing/lease.ts'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { newApp, newDeveloper, publish, type TestApp, type TestDeveloper } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { whileWorking } from '#testkit/while-working.ts'
import { answerTo, type ListenerEvent, listenOnce, newSandboxedApp, PLACEHOLDER, until } from './listen-support.ts'

const platform = usingPlatform()
let developer: TestDeveloper
let app: TestApp
let token: string

const receiver = usingReceiver()
beforeEach(async () => {
  platform.clock.advance(120_000)
  receiver.requests.length = 0
  receiver.answer({ kind: 'answer' })
  developer = await newDeveloper(platform)
  ;({ app, token } = await newSandboxedApp(developer))
})

const start = async () =>
  (await platform.call('POST', '/api/v1/runs', { token, body: { input: { question: 'Häufig?' } } })).body.id as string
const readRun = async (id: string) => (await platform.call('GET', `/api/v1/runs/${id}`, { token })).body
const subscribe = async (url = 'https://hooks.not-there.example/in', events = ['custom.*']) =>
  (await platform.call('POST', '/api/v1/webhooks', { token, body: { url, events } })).body
const emit = () =>
  platform.call('POST', '/api/v1/tools/emit_event/invoke', {
    token,
    body: { arguments: { type: 'custom.order.paid', data: { n: 1 } } },
  })
const deliveries = async (webhook: { id: string }) =>
  (await platform.call('GET', `/api/v1/webhooks/${webhook.id}/deliveries`, { token })).body.items

const requestIn = (heard: ListenerEvent[]) => heard.find(({ event }) => event === 'request')

/** Listens until a request arrives. */
const nextRequest = (by = developer, of = app): Promise<ListenerEvent> =>
  until(async () => requestIn(await listenOnce(by, of)))

const reconnect = (lastEventId = '') =>
  developer.call('GET', `/api/v1/dev/listen?app_id=${app.id}`, undefined, { 'last-event-id': lastEventId })

const listening = () =>
  findListener(platform.deps, { is_sandbox: true, workspace_id: developer.workspaceId, app_id: app.id })

const answered = (status: number, value: unknown) => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
})

describe('a connected listener', () => {
  it('receives run.execute, signed as it would be sent, and its answer is the agent’s', async () => {
    const [ready] = await listenOnce(developer, app)
    expect(ready).toMatchObject({
      event: 'ready',
      data: { listener: expect.stringMatching(/^lsn_/), app_id: app.id, workspace_id: developer.workspaceId },
    })
    const id = await start()
    const drained = platform.drain()
    const { data } = await nextRequest()
    expect(data).toMatchObject({
      kind: 'run.execute',
      event: 'run.execute',
      run_id: id,
      delivery_id: null,
      method: 'POST',
      url: PLACEHOLDER,
      headers: { 'content-type': 'application/json', 'x-svc-event': 'run.execute', 'accept-encoding': 'identity' },
      connect_retry_pauses_ms: [1_000, 3_000],
    })
    expect(data.time_left_ms).toBeLessThanOrEqual(30_000)
    const body = Buffer.from(data.body_base64, 'base64')
    const now = platform.clock.now() / 1_000
    expect(verifySvc(app.signing_secret, data.headers['x-svc-signature'], body, now)).toBe(true)
    expect(JSON.parse(body.toString()).run).toMatchObject({ id, input: { question: 'Häufig?' } })

    const answer = await answerTo(developer, data.id, answered(200, { status: 'succeeded', output: { n: 42 } }))
    expect(answer.body).toMatchObject({ id: data.id, state: 'answered', app_id: app.id })
    await drained
    expect(await readRun(id)).toMatchObject({ status: 'succeeded', output: { n: 42 } })
    const kept = await platform.deps.table.get(ListenedMessageEntity, { request_id: data.id, part: 'request' })
    expect(kept).toBeUndefined()
  })

  it('has its stored requests sealed', async () => {
    await listenOnce(developer, app)
    await start()
    const drained = platform.drain()
    const { data } = await nextRequest()
    const kept = await platform.deps.table.get(ListenedMessageEntity, { request_id: data.id, part: 'request' })
    expect(JSON.stringify(kept)).not.toContain('run.execute')
    await answerTo(developer, data.id, answered(202, {}))
    await drained
  })

  it.each([
    ['an error status', { status: 500 }, 'agent_unreachable', 'HTTP 500'],
    ['invalid JSON', { status: 200, body: 'Hello' }, 'agent_invalid_response', 'not JSON'],
    ['more than 1 MiB', { status: 200, body: '{}', truncated: true }, 'agent_invalid_response', 'exceeds 1 MiB'],
    ['a refused connection', { failure: 'connect' }, 'agent_unreachable', 'couldn’t connect'],
    ['a timeout', { failure: 'timeout' }, 'agent_unreachable', 'got no answer in time'],
  ])('%s has the same effect on the run as over the network', async (_what, body, code, message) => {
    await listenOnce(developer, app)
    const id = await start()
    const drained = platform.drain()
    const { data } = await nextRequest()
    expect((await answerTo(developer, data.id, body)).status).toBe(200)
    await drained
    const run = await readRun(id)
    expect(run).toMatchObject({ status: 'failed', error_code: code })
    expect(run.error_message).toContain(message)
  })

  it('transfers an input and an answer of nearly 1 MiB', async () => {
    await listenOnce(developer, app)
    const text = 'x'.repeat(900_000)
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token, body: { input: { text } } })
    const drained = platform.drain()
    const { data } = await nextRequest()
    expect(JSON.parse(Buffer.from(data.body_base64, 'base64').toString()).run.input.text).toBe(text)
    const long = Buffer.from(JSON.stringify({ status: 'succeeded', output: { text } })).toString('base64')
    expect((await answerTo(developer, data.id, { status: 200, body_base64: long })).status).toBe(200)
    await drained
    const found = await readRun(run.id)
    expect([found.status, found.output.text?.length]).toEqual(['succeeded', 900_000])
    expect([...platform.objects.keys()].filter((key) => key.includes('listening'))).toEqual([])
  })

  it('receives webhook deliveries and webhook tests', async () => {
    const webhook = await subscribe()
    await listenOnce(developer, app)
    await emit()
    const drained = platform.drain()
    const { data } = await nextRequest()
    const [delivery] = await deliveries(webhook)
    expect(data).toMatchObject({
      kind: 'webhook',
      event: 'custom.order.paid',
      run_id: null,
      delivery_id: delivery.id,
      attempt: 1,
      url: webhook.url,
    })
    const body = Buffer.from(data.body_base64, 'base64')
    const now = platform.clock.now() / 1_000
    expect(verifySvc(webhook.secret, data.headers['x-svc-signature'], body, now)).toBe(true)
    await answerTo(developer, data.id, { status: 204 })
    await drained
    expect(await deliveries(webhook)).toMatchObject([
      { status: 'succeeded', attempts: [{ n: 1, response_code: 204, error: null }] },
    ])

    const testing = platform.call('POST', `/api/v1/webhooks/${webhook.id}/test`, { token })
    const { data: test } = await nextRequest()
    expect(test).toMatchObject({ kind: 'webhook', event: 'webhook.test' })
    await answerTo(developer, test.id, { status: 503, body: 'Later.' })
    expect((await testing).body).toMatchObject({ delivered: false, response_code: 503 })
  })

  it('has a failed answer retried on schedule and counted toward disabling', async () => {
    const webhook = await subscribe()
    await listenOnce(developer, app)
    await emit()
    const drained = platform.drain()
    const { data } = await nextRequest()
    await answerTo(developer, data.id, { status: 500 })
    await drained
    const [delivery] = await deliveries(webhook)
    expect(delivery).toMatchObject({ status: 'pending', attempts: [{ n: 1, response_code: 500 }] })
    expect(delivery.next_attempt_at).toEqual(expect.any(String))
  })
})

describe('a listener’s answer', () => {
  const taken = async () => {
    await listenOnce(developer, app)
    const runId = await start()
    const drained = platform.drain()
    const { data } = await nextRequest()
    return { id: data.id as string, runId, drained }
  }

  it('is accepted once: the first one counts, and any concurrent or later one is a conflict', async () => {
    const { id, drained } = await taken()
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        answerTo(developer, id, answered(200, { status: 'succeeded', output: { n } })),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
    await drained
    const again = await answerTo(developer, id, { status: 200 })
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
  })

  it('stays the first one when a later one is too large for the table, which leaves nothing behind', async () => {
    const { objects } = platform.deps
    const large = (who: string) => answered(200, { status: 'succeeded', output: { who, filler: 'x'.repeat(300_000) } })
    const kept = new Set<string>()
    let overtaken = () => {}
    let over = () => {}
    const first = new Promise<void>((resolve) => {
      overtaken = resolve
    })
    const second = new Promise<void>((resolve) => {
      over = resolve
    })
    const { put, get, delete: remove } = objects
    const isAnswer = (key: string) => /listening\/.*\/answer/.test(key)
    let puts = 0
    vi.spyOn(objects, 'put').mockImplementation(async (...args) => {
      if (isAnswer(args[0]) && ++puts === 1) await first
      await put.apply(objects, args)
      if (isAnswer(args[0])) kept.add(args[0])
    })
    // The waiting worker reads only after the late answer was refused.
    vi.spyOn(objects, 'get').mockImplementation(async (...args) => {
      if (isAnswer(args[0])) await second
      return get.apply(objects, args)
    })
    vi.spyOn(objects, 'delete').mockImplementation(async (...args) => {
      await remove.apply(objects, args)
      kept.delete(args[0])
    })
    const { id, runId, drained } = await taken()
    const slow = answerTo(developer, id, large('slow'))
    await until(() => (puts === 1 ? true : undefined))
    expect((await answerTo(developer, id, large('fast'))).status).toBe(200)
    overtaken()
    expect((await slow).status).toBe(409)
    over()
    await drained
    vi.restoreAllMocks()
    expect((await readRun(runId)).output.who).toBe('fast')
    expect([...kept]).toEqual([])
  })

  it('is 404 for an unknown id', async () => {
    const { id, drained } = await taken()
    expect((await answerTo(developer, id.replace(/.{4}$/, '0000'), { status: 200 })).status).toBe(404)
    expect((await answerTo(developer, id, { status: 202 })).status).toBe(200)
    await drained
  })

  it('is a conflict after the deadline, and the silent listener counts as disconnected', async () => {
    const { id, drained } = await taken()
    platform.clock.advance(31_000)
    expect((await answerTo(developer, id, { status: 200 })).body.error.code).toBe('conflict')
    await drained
    expect((await answerTo(developer, id, { status: 200 })).body.error.code).toBe('conflict')
    expect(await platform.deps.table.get(ListenerEntity, { workspace_id: developer.workspaceId, app_id: app.id })).toBe(
      undefined,
    )
  })

  it('is refused with its limit when it is too large', async () => {
    const { id, drained } = await taken()
    const { status } = await answerTo(developer, id, { status: 200, body: 'x'.repeat(1_600_000) })
    expect(status).toBe(413)
    await answerTo(developer, id, { status: 202 })
    await drained
  })
})

describe('a listener that disconnects', () => {
  it('before it received a delivery makes that attempt fail to connect, and it is retried later', async () => {
    const webhook = await subscribe(receiver.url)
    await listenOnce(developer, app)
    await emit()
    const drained = platform.drain()
    await until(async () => {
      const page = await platform.deps.table.query(ListenedRequestEntity, { developer_id: developer.id }, { limit: 1 })
      return page.items[0]
    })
    platform.clock.advance(15_001)
    await drained
    const [delivery] = await deliveries(webhook)
    expect(delivery.attempts).toMatchObject([{ n: 1, response_code: null }])
    expect(delivery.attempts[0].error).toContain('disconnected before')
    expect(receiver.requests).toHaveLength(0)

    platform.clock.advance(60_000)
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
    expect((await deliveries(webhook))[0]).toMatchObject({ status: 'succeeded' })
  })

  it('on purpose has further requests sent the normal way at once', async () => {
    const [ready] = await listenOnce(developer, app)
    await subscribe(receiver.url)
    const path = `/api/v1/dev/listen?app_id=${app.id}&listener=`
    const other = String(ready?.data.listener).replace(/.{4}$/, '0000')
    expect((await developer.call('DELETE', path + other)).status).toBe(204)
    const at = { workspace_id: developer.workspaceId, app_id: app.id }
    expect(await platform.deps.table.get(ListenerEntity, at)).toBeDefined()
    expect((await developer.call('DELETE', path + ready?.data.listener)).status).toBe(204)
    await emit()
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
  })

  it('and reconnects gets the events that it missed, once', async () => {
    const [ready] = await listenOnce(developer, app)
    await start()
    const drained = platform.drain()
    const first = await until(async () => requestIn(await listenOnce(developer, app, ready?.id)))
    // Disconnected before the request arrived: the last event it received is `ready`.
    const again = requestIn(await listenOnce(developer, app, ready?.id))
    expect(again?.data.id).toBe(first.data.id)
    expect(requestIn(await listenOnce(developer, app, first.id))).toBeUndefined()
    // A new listener doesn't receive requests that an agent may have seen.
    expect(requestIn(await listenOnce(developer, app))).toBeUndefined()
    await answerTo(developer, first.data.id, { status: 202 })
    await drained
  })
})

describe('two listeners', () => {
  it('send requests to the newer one, and notify the older one, which gets 204 whenever it reconnects', async () => {
    const open = listenOnce(developer, app)
    await pause(100)
    const [second] = await listenOnce(developer, app)
    platform.clock.advance(6_000)
    const [first] = await open
    expect(second?.data.listener).not.toBe(first?.data.listener)
    expect((await reconnect(first?.id)).status).toBe(204)
    await start()
    const drained = platform.drain()
    const request = await until(async () => requestIn(await listenOnce(developer, app, second?.id)))
    await answerTo(developer, request.data.id, { status: 202 })
    await drained
  })

  it('for two apps of one developer each receive their own requests', async () => {
    const other = await newSandboxedApp(developer)
    await listenOnce(developer, app)
    await listenOnce(developer, other.app)
    const id = await start()
    const drained = platform.drain()
    expect(requestIn(await listenOnce(developer, other.app))).toBeUndefined()
    const { data } = await nextRequest()
    expect(data.run_id).toBe(id)
    await answerTo(developer, data.id, { status: 202 })
    await drained
  })
})

it('a listener that ended itself gets 204 when it reconnects, and the next one listens', async () => {
  const [first] = await listenOnce(developer, app)
  const path = `/api/v1/dev/listen?app_id=${app.id}&listener=${first?.data.listener}`
  expect((await developer.call('DELETE', path)).status).toBe(204)
  expect(await listening()).toBeUndefined()
  expect((await reconnect(first?.id)).status).toBe(204)
  expect(await listening()).toBeUndefined()
  const [second] = await listenOnce(developer, app)
  expect((await listening())?.id).toBe(second?.data.listener)
})

describe('requests of others', () => {
  it('can’t be received by another developer', async () => {
    const other = await newDeveloper(platform)
    const { status, body } = await other.call('GET', `/api/v1/dev/listen?app_id=${app.id}`)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
    expect((await platform.call('GET', `/api/v1/dev/listen?app_id=${app.id}`, { token })).status).toBe(403)
  })

  it('to a customer’s installation are sent normally, without an additional read', async () => {
    const customer = await installed(platform.deps, { endpoint: receiver.url })
    await listenOnce(developer, app)
    receiver.answer({ kind: 'answer', status: 202 })
    // Makes the developer's lease cover everything: a customer's installation doesn't check it.
    await platform.deps.table.transact([
      ListenerEntity.replace({
        workspace_id: customer.workspaceId,
        app_id: customer.app.id,
        developer_id: developer.id,
        id: 'lsn_01kf0rdqg00000000000000001',
        connection: 'req_x',
        until: platform.clock.now() + 60_000,
      }),
    ])
    await platform.call('POST', '/api/v1/runs', { token: customer.token, body: {} })
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
    const get = vi.spyOn(platform.deps.table, 'get')
    expect(await findListener(platform.deps, customer.installation)).toBeUndefined()
    expect(get).not.toHaveBeenCalled()
    get.mockRestore()
  })

  it('to the app’s installation in another developer’s sandbox are sent normally', async () => {
    await listenOnce(developer, app)
    const elsewhere = { is_sandbox: true, workspace_id: 'ws_01kf0rdqg00000000000000001', app_id: app.id }
    expect(await findListener(platform.deps, elsewhere)).toBeUndefined()
    expect(await findListener(platform.deps, { ...elsewhere, workspace_id: developer.workspaceId })).toBeDefined()
  })

  it('are sent normally once a lease expires without renewal', async () => {
    await listenOnce(developer, app)
    const own = { is_sandbox: true, workspace_id: developer.workspaceId, app_id: app.id }
    platform.clock.advance(15_001)
    expect(await findListener(platform.deps, own)).toBeUndefined()
  })
})

it('a test run over a listener is a real run', async () => {
  const made = await newApp(developer)
  await publish(developer, made, { runtime: { type: 'webhook', endpoint: PLACEHOLDER } })
  await listenOnce(developer, made)
  const testing = whileWorking(platform, developer.call('POST', `/api/v1/dev/apps/${made.id}/test-run`, { input: {} }))
  const { data } = await nextRequest(developer, made)
  await answerTo(developer, data.id, answered(200, { status: 'succeeded', output: { ok: true } }))
  expect((await testing).body.run).toMatchObject({ status: 'succeeded', output: { ok: true } })
})

it('an invalid position is refused', async () => {
  const { status, body } = await developer.call('GET', `/api/v1/dev/listen?app_id=${app.id}`, undefined, {
    'last-event-id': '17',
  })
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
})
