import { describe, expect, it, vi } from 'vitest'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { type Answer, BROKEN_BODIES, startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { header, subscriber } from '#testkit/webhooks.ts'

const platform = usingPlatform()

const SECOND = 1_000

const MINUTE = 60 * SECOND

describe('a delivery', () => {
  it('carries the event and the headers of the contract, once per matching subscription', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const webhook = await app.subscribe(`${receiver.url}/a`, ['custom.*'])
    await app.subscribe(`${receiver.url}/b`, ['run.*'])
    const id = await app.emit('greeted', { name: 'Ada', née: 'Byron' })
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
    const [request] = receiver.requests
    const delivery = (await app.deliveries(webhook.id))[0]
    expect(request).toMatchObject({ method: 'POST', path: '/a' })
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-svc-event': 'custom.greeted',
      'x-svc-delivery': delivery.id,
      'x-svc-attempt': '1',
      'webhook-id': id,
      'webhook-timestamp': expect.stringMatching(/^\d+$/),
      'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}=$/),
      'x-svc-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
    })
    expect(JSON.parse(String(request?.body))).toEqual({
      id,
      type: 'custom.greeted',
      created_at: expect.stringMatching(/\+00:00$/),
      workspace_id: app.workspaceId,
      data: { name: 'Ada', née: 'Byron' },
    })
    expect(delivery).toMatchObject({
      event_id: id,
      event_type: 'custom.greeted',
      status: 'succeeded',
      attempt: 1,
      next_attempt_at: null,
      attempts: [{ n: 1, response_code: 200, error: null, hint: null }],
    })
  })

  it.each([200, 201, 204, 299])('succeeds with any 2xx answer: %i', async (status) => {
    await using receiver = await startReceiver()
    receiver.answer({ kind: 'answer', status })
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    await app.emit('a')
    await platform.drain()
    expect((await app.deliveries(webhook.id))[0].status).toBe('succeeded')
  })

  it.each(BROKEN_BODIES)('succeeds with a 200 whose body %s', async (_what, answer) => {
    await using receiver = await startReceiver()
    receiver.answer(answer)
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    await app.emit('a')
    await platform.drain()
    expect((await app.deliveries(webhook.id))[0]).toMatchObject({
      status: 'succeeded',
      attempts: [{ n: 1, response_code: 200, error: null, hint: null }],
    })
    expect(receiver.requests).toHaveLength(1)
  })

  it.each<[what: string, answer: Answer, response_code: number | null]>([
    ['headers are cut off', { kind: 'raw', text: 'HTTP/1.1 200 OK\r\ncontent-len' }, null],
    ['body is incomplete at the deadline', { kind: 'drip', everyMs: 20 }, 200],
    ['body is cut off after a 500', { kind: 'reset', when: 'body', status: 500 }, 500],
    ['body is cut off after a 302', { kind: 'reset', when: 'body', status: 302 }, 302],
  ])('is retried when the %s', async (_what, answer, response_code) => {
    await using receiver = await startReceiver()
    receiver.answer(answer)
    if (answer.kind === 'drip') {
      const { http } = platform.deps
      const send = http.send
      vi.spyOn(http, 'send').mockImplementation((request) => send({ ...request, deadlineMs: 1_000 }))
    }
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    await app.emit('a')
    await platform.drain()
    expect((await app.deliveries(webhook.id))[0]).toMatchObject({
      status: 'pending',
      attempts: [{ response_code, response_body: null, error: expect.any(String), hint: expect.any(String) }],
    })
  })

  it('is retried after 10 s, 1 m, 5 m, 30 m, 2 s, with the same bytes and ids, and fails after the sixth attempt', async () => {
    await using receiver = await startReceiver()
    receiver.answer({ kind: 'answer', status: 500, body: 'x'.repeat(3_000) })
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    await app.emit('a', { deep: [1, { two: null }] })
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
    for (const delay of [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * SECOND]) {
      const before = receiver.requests.length
      platform.clock.advance(delay - 1)
      await platform.drain()
      expect(receiver.requests).toHaveLength(before)
      platform.clock.advance(1)
      await platform.drain()
      expect(receiver.requests).toHaveLength(before + 1)
    }
    const delivery = (await app.deliveries(webhook.id))[0]
    expect(delivery).toMatchObject({ status: 'failed', attempt: 6, next_attempt_at: null })
    expect(delivery.attempts.map((attempt: { n: number }) => attempt.n)).toEqual([1, 2, 3, 4, 5, 6])
    expect(delivery.attempts[0]).toMatchObject({
      response_code: 500,
      response_body: 'x'.repeat(1_024),
      error: 'The receiver answered HTTP 500.',
      hint: expect.stringContaining('logs'),
    })
    expect(new Set(receiver.requests.map(({ body }) => String(body))).size).toBe(1)
    expect(new Set(receiver.requests.map((one) => header(one, 'x-svc-delivery'))).size).toBe(1)
    expect(new Set(receiver.requests.map((one) => header(one, 'webhook-id'))).size).toBe(1)
    expect(receiver.requests.map((one) => header(one, 'x-svc-attempt'))).toEqual(['1', '2', '3', '4', '5', '6'])
    const stamps = receiver.requests.map((one) => Number(header(one, 'webhook-timestamp')))
    expect(stamps).toEqual([...stamps].sort((a, b) => a - b))
    platform.clock.advance(24 * 60 * MINUTE)
    await platform.drain()
    await platform.sweep()
    await platform.drain()
    expect(receiver.requests).toHaveLength(6)
    expect((await app.webhook(webhook.id)).consecutive_failures).toBe(1)
  })

  it('doesn’t follow redirects; the hint says to enter the other address', async () => {
    await using receiver = await startReceiver()
    receiver.answer({ kind: 'redirect', location: `${receiver.url}/elsewhere` })
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    await app.emit('a')
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
    const [attempt] = (await app.deliveries(webhook.id))[0].attempts
    expect(attempt).toMatchObject({ response_code: 302, hint: expect.stringContaining('Set the address') })
  })

  it('keeps its schedule despite Retry-After or 410, which the hint explains', async () => {
    await using receiver = await startReceiver()
    receiver.next({ kind: 'answer', status: 429, headers: { 'retry-after': '3600' } }, { kind: 'answer', status: 410 })
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    await app.emit('a')
    await platform.drain()
    platform.clock.advance(10 * SECOND)
    await platform.drain()
    platform.clock.advance(MINUTE)
    await platform.drain()
    const { status, attempts } = (await app.deliveries(webhook.id))[0]
    expect(status).toBe('succeeded')
    expect(attempts.map((one: { hint: string | null }) => one.hint)).toEqual([
      expect.stringContaining('Retry-After'),
      expect.stringContaining('no longer exists'),
      null,
    ])
  })

  it('to a target that became forbidden fails with the reason, and nothing is sent', async () => {
    const app = await subscriber(platform)
    const webhook = await app.subscribe('https://hooks.example.com/')
    const send = platform.deps.http.send
    platform.deps.http.send = async () => ({
      kind: 'failure',
      phase: 'blocked',
      sent: false,
      message: 'The name leads to an address that is not a public one.',
      hint: 'Use a public one.',
      durationMs: 1,
    })
    await app.emit('a')
    await platform.drain().finally(() => {
      platform.deps.http.send = send
    })
    expect((await app.deliveries(webhook.id))[0]).toMatchObject({
      status: 'pending',
      attempts: [{ response_code: null, error: 'The name leads to an address that is not a public one.' }],
    })
  })

  it('drops duplicate, late and outdated messages to its worker', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    await app.emit('a')
    await platform.deps.bus.put(platform.outbox.splice(0))
    for (const message of platform.messages.filter(({ queue }) => queue === 'fanout')) await platform.deliver(message)
    const message = platform.messages.find(({ group }) => group === webhook.id)
    if (!message) throw new Error('no message')
    await Promise.all([platform.deliver(message), platform.deliver(message), platform.deliver(message)])
    await platform.deliver(message)
    expect(receiver.requests).toHaveLength(1)
  })

  it('is not delayed by another hanging receiver', async () => {
    await using hanging = await startReceiver()
    await using quick = await startReceiver()
    const hang = Promise.withResolvers<Answer>()
    hanging.answer(() => hang.promise)
    const app = await subscriber(platform)
    await app.subscribe(hanging.url)
    const webhook = await app.subscribe(quick.url)
    const send = platform.deps.http.send
    const deadlines: number[] = []
    let gaveUp = false
    platform.deps.http.send = async (request) => {
      deadlines.push(request.deadlineMs)
      const result = await send(request)
      if (request.url.startsWith(hanging.url)) gaveUp = true
      return result
    }
    try {
      await app.emit('a')
      const drained = platform.drain()
      await Promise.all([hanging.received(1), quick.received(1)])
      expect(gaveUp).toBe(false)
      hang.resolve({ kind: 'answer' })
      await drained
      expect(deadlines).toEqual([10_000, 10_000])
    } finally {
      platform.deps.http.send = send
    }
    expect((await app.deliveries(webhook.id))[0].status).toBe('succeeded')
  })

  it('is skipped for a suspended app, and can be recovered', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    const { AppEntity } = await import('#shared/catalogue/apps/entity.ts')
    await platform.deps.table.transact([AppEntity.update({ id: app.app.id }, { set: { status: 'suspended' } })])
    await app.emit('a')
    await platform.drain()
    await platform.deps.table.transact([AppEntity.update({ id: app.app.id }, { set: { status: 'approved' } })])
    expect(receiver.requests).toHaveLength(0)
    expect((await app.deliveries(webhook.id))[0].status).toBe('skipped')
  })
})

describe('five failed deliveries in a row', () => {
  const fail = async (app: Awaited<ReturnType<typeof subscriber>>, beforeTheLast = async () => {}) => {
    await app.emit('a')
    await platform.drain()
    for (const delay of [10, 60, 300, 900, 900]) {
      platform.clock.advance(delay * SECOND)
      await platform.drain()
    }
    await beforeTheLast()
    platform.clock.advance(5 * SECOND)
    await platform.drain()
  }

  it('disable the subscription, with last_error, an event and an audit entry; pending deliveries are skipped', async () => {
    await using receiver = await startReceiver()
    await using watcher = await startReceiver()
    receiver.answer({ kind: 'answer', status: 503 })
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url, ['custom.*'])
    await app.subscribe(watcher.url, ['webhook.*'])
    for (let i = 0; i < 4; i++) await fail(app)
    expect(await app.webhook(webhook.id)).toMatchObject({ status: 'active', consecutive_failures: 4, last_error: null })
    await fail(app, async () => {
      await app.emit('waits')
      await platform.drain()
    })
    const disabled = await app.webhook(webhook.id)
    expect(disabled).toMatchObject({
      status: 'disabled',
      consecutive_failures: 5,
      last_error: expect.stringContaining('503'),
      disabled_at: expect.any(String),
    })
    const events = await app.feed('&types=webhook.*')
    expect(events).toHaveLength(1)
    expect(events[0]?.data).toEqual({ webhook_id: webhook.id, url: receiver.url, last_error: disabled.last_error })
    expect(watcher.requests).toHaveLength(1)
    const audit = await platform.deps.table.query(AuditEntity, { scope: app.workspaceId }, { limit: 10 })
    expect(audit.items).toMatchObject([{ action: 'webhook.disabled', target: { type: 'webhook', id: webhook.id } }])

    await app.emit('later')
    await platform.drain()
    const sent = receiver.requests.length
    platform.clock.advance(3_600 * SECOND)
    await platform.drain()
    expect(receiver.requests).toHaveLength(sent)
    expect((await app.deliveries(webhook.id)).map((one: { status: string }) => one.status).sort()).toEqual([
      'failed',
      'failed',
      'failed',
      'failed',
      'failed',
      'skipped',
      'skipped',
    ])
  })

  it('are interrupted by a success, which resets the count', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    receiver.answer({ kind: 'answer', status: 500 })
    for (let i = 0; i < 4; i++) await fail(app)
    receiver.answer({ kind: 'answer' })
    await app.emit('b')
    await platform.drain()
    expect((await app.webhook(webhook.id)).consecutive_failures).toBe(0)
  })

  it('are counted exactly when they end at the same time', async () => {
    await using receiver = await startReceiver()
    receiver.answer({ kind: 'answer', status: 500 })
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url, ['custom.*'])
    for (let i = 0; i < 8; i++) await app.emit('a')
    for (const delay of [0, 10, 60, 300, 900, 900, 5]) {
      platform.clock.advance(delay * SECOND)
      await platform.drain()
    }
    expect(await app.webhook(webhook.id)).toMatchObject({ status: 'disabled', consecutive_failures: 5 })
    expect(await app.feed('&types=webhook.disabled')).toHaveLength(1)
  })
})
