import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { SubscriptionEntity } from '#shared/delivery/webhooks/entity.ts'
import { iso } from '#shared/kernel/clock.ts'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { BROKEN_BODIES, type Received, startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { header, subscriber } from '#testkit/webhooks.ts'

const platform = usingPlatform()

const HOUR = 3_600_000

/** Sets the clock to the real time, which both libraries use. */
const atRealTime = () => platform.clock.advance(Date.now() - platform.clock.now())

describe('POST /api/v1/webhooks', () => {
  it('answers 201 with the record and its secret, which the list omits', async () => {
    const app = await subscriber(platform)
    const { status, body, headers } = await app.call('POST', '/webhooks', {
      url: 'https://hooks.example.com:8443/in?a=1',
      events: ['run.*', 'webhook.disabled', 'custom.order.*', 'run.*'],
      description: 'Orders',
    })
    expect(status).toBe(201)
    expect(headers['cache-control']).toBe('no-store')
    expect(body).toEqual({
      id: expect.stringMatching(/^whk_/),
      url: 'https://hooks.example.com:8443/in?a=1',
      events: ['run.*', 'webhook.disabled', 'custom.order.*'],
      description: 'Orders',
      filter: null,
      max_per_minute: null,
      status: 'active',
      last_error: null,
      consecutive_failures: 0,
      created_at: expect.stringMatching(/\+00:00$/),
      disabled_at: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    const listed = await app.call('GET', '/webhooks')
    const { secret, ...record } = body
    expect(listed.body).toEqual({ items: [record], next_cursor: null, has_more: false })
    const stored = await platform.deps.table.get(SubscriptionEntity, {
      installation_id: app.installation.id,
      id: body.id,
    })
    expect(JSON.stringify(stored)).not.toContain(secret)
  })

  it.each([
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'https://10.0.0.1/',
    'https://[::ffff:169.254.169.254]/',
    'https://0xa.1/',
    'https://user:pw@hooks.example.com/',
    'https://intranet/',
    'https://a.internal/',
  ])('refuses %s with blocked_target', async (url) => {
    const app = await subscriber(platform)
    const { status, body } = await app.call('POST', '/webhooks', { url, events: ['*'] })
    expect([status, body.error.code]).toEqual([422, 'blocked_target'])
    expect(body.error.details).toMatchObject({ reason: expect.any(String), fields: { url: [expect.any(String)] } })
  })

  it.each([
    [{ url: 'nonsense', events: ['*'] }, 'url'],
    [{ events: ['*'] }, 'url'],
    [{ url: 'https://a.example.com/' }, 'events'],
    [{ url: 'https://a.example.com/', events: [] }, 'events'],
    [{ url: 'https://a.example.com/', events: ['run.nothing'] }, 'events.0'],
    [{ url: 'https://a.example.com/', events: ['run.*', 'delivery.requested'] }, 'events.1'],
    [{ url: 'https://a.example.com/', events: ['*'], extra: 1 }, 'extra'],
  ])('answers %j with validation_error at %s', async (body, field) => {
    const app = await subscriber(platform)
    const answer = await app.call('POST', '/webhooks', body)
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error'])
    expect(Object.keys(answer.body.error.details.fields)).toContain(field)
  })

  it('allows exactly 20 subscriptions, even when they are created concurrently', async () => {
    const app = await subscriber(platform)
    for (let i = 0; i < 15; i++) await app.subscribe('https://a.example.com/')
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => app.call('POST', '/webhooks', { url: 'https://a.example.com/', events: ['*'] })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
      new Set(['403 webhook_limit_reached']),
    )
    const { body } = await app.call('GET', '/webhooks')
    expect(body.items).toHaveLength(20)
    expect((await app.call('DELETE', `/webhooks/${body.items[0].id}`)).status).toBe(204)
    expect((await app.call('POST', '/webhooks', { url: 'https://a.example.com/', events: ['*'] })).status).toBe(201)
  })
})

describe('a filter by data', () => {
  it('lets only events through that have an allowed value in every field, and can be removed', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const filter = { 'order.kind': ['gift', 'sample'], urgent: [true], tags: ['vip'] }
    const { body } = await app.call('POST', '/webhooks', { url: receiver.url, events: ['custom.*'], filter })
    expect(body.filter).toEqual(filter)
    const gift = { order: { kind: 'gift' }, urgent: true, tags: ['new', 'vip'] }
    const others = [
      { ...gift, order: { kind: 'sale' } },
      { ...gift, urgent: 'true' },
      { ...gift, tags: [] },
      { ...gift, order: null },
      { urgent: true, tags: 'vip', 'order.kind': 'gift' },
      {},
    ]
    await app.emit('order', gift)
    for (const data of others) await app.emit('order', data)
    await platform.drain()
    expect(receiver.requests.map(({ body: sent }) => JSON.parse(String(sent)).data)).toEqual([gift])
    expect(await app.deliveries(body.id)).toHaveLength(1)
    expect(await app.feed()).toHaveLength(others.length + 1)
    expect((await app.call('PATCH', `/webhooks/${body.id}`, { filter: null })).body.filter).toBe(null)
    await app.emit('order', {})
    await platform.drain()
    expect(receiver.requests).toHaveLength(2)
  })

  it('with a bad field, no value or too many of either is refused', async () => {
    const app = await subscriber(platform)
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`f${n}`, [1]]))
    const bad = [
      { 'a b': [1] },
      { a: [] },
      { a: 'x' },
      { a: [{}] },
      { a: Array(21).fill(1) },
      many,
      { 'a.b.c.d.e.f': [1] },
    ]
    for (const filter of bad) {
      const { body } = await app.call('POST', '/webhooks', { url: 'https://a.example.com/', events: ['*'], filter })
      expect(body.error?.code, JSON.stringify(filter)).toBe('validation_error')
    }
  })
})

describe('a limit in rate', () => {
  it('spaces the attempts evenly, loses none, and lasts until it is removed', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const input = { url: receiver.url, events: ['custom.*'], max_per_minute: 6 }
    const { body } = await app.call('POST', '/webhooks', input)
    expect(body.max_per_minute).toBe(6)
    for (let n = 0; n < 5; n++) await app.emit('a')
    await platform.drain()
    const counts = [receiver.requests.length]
    for (let n = 0; n < 5; n++) {
      platform.clock.advance(10_000)
      await platform.drain()
      counts.push(receiver.requests.length)
    }
    expect(counts).toEqual([1, 2, 3, 4, 5, 5])
    const deliveries: { status: string; attempt: number }[] = await app.deliveries(body.id)
    expect(deliveries.map(({ status, attempt }) => [status, attempt])).toEqual(Array(5).fill(['succeeded', 1]))
    await app.call('PATCH', `/webhooks/${body.id}`, { max_per_minute: null })
    for (let n = 0; n < 3; n++) await app.emit('a')
    await platform.drain()
    expect(receiver.requests).toHaveLength(8)
  })

  it('applies to retries, too, and a message that was lost or arrives twice sends nothing twice', async () => {
    await using receiver = await startReceiver()
    receiver.next({ kind: 'answer', status: 500 })
    const app = await subscriber(platform)
    const { body } = await app.call('POST', '/webhooks', { url: receiver.url, events: ['custom.*'], max_per_minute: 1 })
    await app.emit('a')
    await app.emit('b')
    await platform.drain()
    // The first attempt failed, and b has the next minute, so the repeat has the one after it.
    const at: number[] = []
    for (let n = 0; n < 30 && at.length < 2; n++) {
      platform.clock.advance(10_000)
      await platform.drain()
      await platform.drain()
      if (receiver.requests.length > at.length + 1) at.push((n + 1) * 10)
    }
    expect(at[0]).toBeGreaterThanOrEqual(60)
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(60)
    const deliveries: { status: string; attempt: number }[] = await app.deliveries(body.id)
    expect(deliveries.map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
    expect(receiver.requests).toHaveLength(3)
  })
})

describe('PATCH /api/v1/webhooks/{id}', () => {
  it('changes the given fields only, and GET shows them', async () => {
    const app = await subscriber(platform)
    const { id } = await app.subscribe('https://a.example.com/', ['run.*'])
    const { body: before } = await app.call('GET', `/webhooks/${id}`)
    const changes = { events: ['custom.*', 'custom.*'], description: 'Orders' }
    const { status, body } = await app.call('PATCH', `/webhooks/${id}`, changes)
    expect([status, body]).toEqual([200, { ...before, events: ['custom.*'], description: 'Orders' }])
    expect((await app.call('GET', `/webhooks/${id}`)).body).toEqual(body)
  })

  it('refuses forbidden addresses, types that may not be read, and unknown fields', async () => {
    const app = await subscriber(platform, { scopes: ['webhooks:manage'] })
    const { id } = await app.subscribe('https://a.example.com/', ['custom.*'])
    const before = await app.webhook(id)
    const code = async (body: object) => (await app.call('PATCH', `/webhooks/${id}`, body)).body.error.code
    expect(await code({ url: 'https://10.0.0.1/' })).toBe('blocked_target')
    expect(await code({ events: ['run.*'] })).toBe('insufficient_scope')
    expect(await code({ secret: 'whsec_mine' })).toBe('validation_error')
    expect(await code({ events: [] })).toBe('validation_error')
    expect(await app.webhook(id)).toEqual(before)
  })

  it('sends waiting deliveries to a new address, whose failures are counted from zero', async () => {
    await using old = await startReceiver()
    await using moved = await startReceiver()
    old.next({ kind: 'answer', status: 500 })
    const app = await subscriber(platform)
    const { id } = await app.subscribe(old.url)
    await app.emit('a')
    await platform.drain()
    const { body } = await app.call('PATCH', `/webhooks/${id}`, { url: moved.url })
    expect(body).toMatchObject({ url: moved.url, consecutive_failures: 0 })
    platform.clock.advance(HOUR)
    await platform.drain()
    expect([old.requests.length, moved.requests.length]).toEqual([1, 1])
    expect((await app.deliveries(id))[0]).toMatchObject({ status: 'succeeded', attempt: 2 })
  })

  it('pauses a subscription without an event, and resumes it; what was skipped can be recovered', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const { id } = await app.subscribe(receiver.url)
    const since = iso(platform.clock.now())
    const paused = await app.call('PATCH', `/webhooks/${id}`, { status: 'disabled' })
    expect(paused.body).toMatchObject({ status: 'disabled', last_error: null, disabled_at: expect.any(String) })
    await app.emit('a')
    await platform.drain()
    expect(receiver.requests).toHaveLength(0)
    expect((await app.feed()).map(({ type }) => type)).toEqual(['custom.a'])
    const resumed = await app.call('PATCH', `/webhooks/${id}`, { status: 'active' })
    expect(resumed.body).toMatchObject({ status: 'active', disabled_at: null })
    const { body } = await app.call('POST', `/webhooks/${id}/recover`, { since })
    expect(body.recovery).toEqual({ deliveries: 1, is_complete: true })
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
  })

  it('keeps one subscription for each address of a sandbox', async () => {
    const app = await subscriber(platform)
    await platform.deps.table.transact([InstallationEntity.update(app.installation, { set: { is_sandbox: true } })])
    await app.subscribe('https://a.example.com/')
    const { id } = await app.subscribe('https://b.example.com/')
    const { status, body } = await app.call('PATCH', `/webhooks/${id}`, { url: 'https://a.example.com/' })
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    // A subscription may change the spelling of its own address. One that moves on leaves the address to others.
    expect((await app.call('PATCH', `/webhooks/${id}`, { url: 'https://b.example.com/?again' })).status).toBe(200)
    expect((await app.call('PATCH', `/webhooks/${id}`, { url: 'https://c.example.com/' })).status).toBe(200)
    expect((await app.subscribe('https://b.example.com/')).status).toBe('active')
  })
})

describe('DELETE /api/v1/webhooks/{id}', () => {
  it('answers 204 once, then 404, and drops pending deliveries', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const { id } = await app.subscribe(receiver.url)
    await app.emit('a')
    await platform.deps.bus.put(platform.outbox.splice(0))
    for (const one of platform.messages.filter(({ queue }) => queue === 'fanout')) await platform.deliver(one)
    expect((await app.call('DELETE', `/webhooks/${id}`)).status).toBe(204)
    expect((await app.call('DELETE', `/webhooks/${id}`)).status).toBe(404)
    await platform.drain()
    platform.clock.advance(HOUR)
    await platform.sweep()
    await platform.drain()
    expect(receiver.requests).toHaveLength(0)
    expect(platform.messages.filter(({ group }) => group === id)).toEqual([])
  })
})

describe('POST /api/v1/webhooks/{id}/test', () => {
  it('sends at once regardless of the event filter, records a delivery, and adds webhook.test to the feed', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const { id } = await app.subscribe(receiver.url, ['run.failed'])
    await app.subscribe(`${receiver.url}/all`, ['*'])
    const { status, body } = await app.call('POST', `/webhooks/${id}/test`)
    expect([status, body]).toEqual([200, { delivered: true, response_code: 200, error: null }])
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
    const [request] = receiver.requests
    expect(request?.headers).toMatchObject({ 'x-svc-event': 'webhook.test', 'x-svc-attempt': '1' })
    const [event] = await app.feed()
    expect(event).toMatchObject({ type: 'webhook.test', data: { webhook_id: id } })
    expect(JSON.parse(String(request?.body))).toEqual(event)
    expect(await app.deliveries(id)).toMatchObject([
      { id: request?.headers['x-svc-delivery'], event_id: event?.id, status: 'succeeded', attempt: 1 },
    ])
  })

  it('reports a failure with a hint, after one attempt, and doesn’t count toward disabling', async () => {
    await using receiver = await startReceiver()
    receiver.answer({ kind: 'answer', status: 404 })
    const app = await subscriber(platform)
    const { id } = await app.subscribe(receiver.url)
    for (let i = 0; i < 6; i++) {
      const { status, body } = await app.call('POST', `/webhooks/${id}/test`)
      expect([status, body]).toEqual([
        200,
        {
          delivered: false,
          response_code: 404,
          error: 'The receiver answered HTTP 404.',
          hint: expect.stringContaining('path'),
        },
      ])
    }
    platform.clock.advance(HOUR)
    await platform.drain()
    await platform.sweep()
    await platform.drain()
    expect(receiver.requests).toHaveLength(6)
    expect(await app.webhook(id)).toMatchObject({ status: 'active', consecutive_failures: 0 })
  })

  it.each(BROKEN_BODIES)('is delivered to a receiver that answers 200 with a body that %s', async (_what, answer) => {
    await using receiver = await startReceiver()
    receiver.answer(answer)
    const app = await subscriber(platform)
    const { id } = await app.subscribe(receiver.url)
    const { status, body } = await app.call('POST', `/webhooks/${id}/test`)
    expect([status, body]).toEqual([200, { delivered: true, response_code: 200, error: null }])
  })

  it('reports an unreachable receiver as a failure without a response_code', async () => {
    const receiver = await startReceiver()
    await receiver.close()
    const app = await subscriber(platform)
    const { id } = await app.subscribe(receiver.url)
    const { body } = await app.call('POST', `/webhooks/${id}/test`)
    expect(body).toMatchObject({
      delivered: false,
      response_code: null,
      hint: expect.stringContaining('No server is listening'),
    })
  })
})

describe('POST /api/v1/webhooks/{id}/rotate-secret', () => {
  const stripe = new Stripe('sk_test_unused')
  const byStripe = (request: Received | undefined, secret: string) =>
    stripe.webhooks.constructEvent(String(request?.body), String(request?.headers['x-svc-signature']), secret)
  const byStandard = (request: Received | undefined, secret: string) =>
    new Webhook(secret).verify(String(request?.body), request?.headers as Record<string, string>)

  it('keeps the old secret valid for 24 hours and signs with both, in both schemes', async () => {
    atRealTime()
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const { id, secret: old } = await app.subscribe(receiver.url)
    const { status, body, headers } = await app.call('POST', `/webhooks/${id}/rotate-secret`)
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(body.secret).not.toBe(old)
    await app.emit('a')
    await platform.drain()
    const [request] = receiver.requests
    for (const secret of [old, body.secret]) {
      expect(byStripe(request, secret)).toMatchObject({ type: 'custom.a' })
      expect(byStandard(request, secret)).toMatchObject({ type: 'custom.a' })
    }
    expect(() => byStripe(request, 'whsec_b3RoZXI=')).toThrow()
    expect(() => byStandard(request, 'whsec_b3RoZXI=')).toThrow()

    platform.clock.advance(24 * HOUR)
    await app.emit('b')
    await platform.drain()
    const later = receiver.requests[1]
    const now = Math.floor(platform.clock.now() / 1_000)
    const verify = (secret: string) =>
      verifySvc(secret, String(later?.headers['x-svc-signature']), later?.body ?? '', now)
    expect([verify(old), verify(body.secret)]).toEqual([false, true])
  })

  it('answers conflict when five secrets are valid', async () => {
    const app = await subscriber(platform)
    const { id } = await app.subscribe('https://a.example.com/')
    const rotate = () => app.call('POST', `/webhooks/${id}/rotate-secret`)
    for (let i = 0; i < 4; i++) expect((await rotate()).status).toBe(200)
    expect((await rotate()).body.error.code).toBe('conflict')
    platform.clock.advance(24 * HOUR)
    expect((await rotate()).status).toBe(200)
  })
})

describe('GET /api/v1/webhooks/{id}/deliveries', () => {
  /** Creates deliveries of two types, half of which fail. */
  const delivered = async (each: number) => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const { id } = await app.subscribe(receiver.url, ['custom.*'])
    for (let i = 0; i < each * 4; i++) {
      if (i % 2 === 0) receiver.next({ kind: 'answer', status: 500 })
      // Deliveries sort by their event's time.
      platform.clock.advance(50)
      await app.emit(i % 4 < 2 ? 'order.paid' : 'stock.low', { i })
      await platform.drain()
    }
    const list = async (query: string) => {
      const { status, body } = await app.call('GET', `/webhooks/${id}/deliveries?${query}`)
      expect(status).toBe(200)
      return body as { items: { id: string; status: string; event_type: string }[]; next_cursor: string | null }
    }
    return { app, id, list }
  }

  it('finds deliveries by status and event type on the server', async () => {
    const { list } = await delivered(1)
    const shown = async (query: string) =>
      (await list(query)).items.map(({ event_type, status }) => `${event_type} ${status}`)
    expect(await shown('status=pending')).toEqual(['custom.stock.low pending', 'custom.order.paid pending'])
    expect(await shown('types=custom.order.*')).toEqual(['custom.order.paid succeeded', 'custom.order.paid pending'])
    expect(await shown('types=custom.order.paid,custom.stock.low&status=succeeded')).toEqual([
      'custom.stock.low succeeded',
      'custom.order.paid succeeded',
    ])
    expect(await shown('types=run.*')).toEqual([])
  })

  it('pages through what it finds, each delivery once', async () => {
    const { list } = await delivered(3)
    const found: string[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const page = await list(`status=succeeded&limit=2${cursor ? `&cursor=${cursor}` : ''}`)
      found.push(...page.items.map(({ id }) => id))
      cursor = page.next_cursor
      pages++
    } while (cursor)
    // One that doesn't match follows the last that does, so the last page is empty.
    expect([new Set(found).size, found.length, pages]).toEqual([6, 6, 4])
  })

  it('counts what waits for a disabled subscription as skipped', async () => {
    const { app, id, list } = await delivered(1)
    await app.call('PATCH', `/webhooks/${id}`, { status: 'disabled' })
    expect((await list('status=pending')).items).toEqual([])
    expect((await list('status=skipped')).items).toHaveLength(2)
  })

  it('refuses an unknown status and a type that doesn’t exist, and names them', async () => {
    const app = await subscriber(platform)
    const { id } = await app.subscribe('https://a.example.com/')
    for (const [query, field] of [
      ['status=lost', 'status'],
      ['types=run.nothing', 'types.0'],
    ]) {
      const { status, body } = await app.call('GET', `/webhooks/${id}/deliveries?${query}`)
      expect([status, Object.keys(body.error.details.fields)]).toEqual([422, [field]])
    }
  })
})

describe('enable, redeliver and recover', () => {
  /** Creates a subscription and disables it by six failures. */
  const disabled = async (url: string) => {
    const app = await subscriber(platform)
    const { id } = await app.subscribe(url, ['custom.*'])
    const { installation } = app
    await platform.deps.table.transact([
      SubscriptionEntity.update(
        { installation_id: installation.id, id },
        { set: { status: 'disabled', generation: 2, consecutive_failures: 5, disabled_at: platform.clock.now() } },
      ),
    ])
    return { app, id }
  }

  it('resets the failure count when enabling, and doesn’t send skipped events', async () => {
    await using receiver = await startReceiver()
    const { app, id } = await disabled(receiver.url)
    await app.emit('a')
    await platform.drain()
    const { status, body } = await app.call('POST', `/webhooks/${id}/enable`)
    expect([status, body]).toMatchObject([
      200,
      { status: 'active', consecutive_failures: 0, last_error: null, disabled_at: null },
    ])
    expect((await app.call('POST', `/webhooks/${id}/enable`)).status).toBe(200)
    await platform.drain()
    expect(receiver.requests).toHaveLength(0)
    expect(await app.deliveries(id)).toMatchObject([{ status: 'skipped', attempt: 0, next_attempt_at: null }])
    await app.emit('b')
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
  })

  it('refuses redeliver and recover while disabled with conflict, and sends a test', async () => {
    await using receiver = await startReceiver()
    const { app, id } = await disabled(receiver.url)
    await app.emit('a')
    await platform.drain()
    const [delivery] = await app.deliveries(id)
    const again = await app.call('POST', `/webhooks/${id}/deliveries/${delivery.id}/redeliver`)
    const recovery = await app.call('POST', `/webhooks/${id}/recover`, { since: delivery.created_at })
    expect([again.body.error.code, recovery.body.error.code]).toEqual(['conflict', 'conflict'])
    expect((await app.call('POST', `/webhooks/${id}/test`)).body.delivered).toBe(true)
  })

  it('redelivers the same event under the same delivery id, and continues its attempt count', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const { id } = await app.subscribe(receiver.url)
    await app.emit('a')
    await platform.drain()
    const [delivery] = await app.deliveries(id)
    receiver.next({ kind: 'answer', status: 500 })
    const { status, body } = await app.call('POST', `/webhooks/${id}/deliveries/${delivery.id}/redeliver`)
    expect([status, body]).toMatchObject([200, { id: delivery.id, status: 'pending', attempt: 1 }])
    await platform.drain()
    platform.clock.advance(10_000)
    await platform.drain()
    expect(receiver.requests.map((one) => header(one, 'x-svc-attempt'))).toEqual(['1', '2', '3'])
    expect(new Set(receiver.requests.map((one) => header(one, 'x-svc-delivery')))).toEqual(new Set([delivery.id]))
    expect((await app.deliveries(id))[0]).toMatchObject({ status: 'succeeded', attempt: 3 })
  })

  it('refuses redelivery during a delivery with conflict, and brings a waiting attempt forward', async () => {
    await using receiver = await startReceiver()
    receiver.next({ kind: 'answer', status: 500, delayMs: 300 })
    const app = await subscriber(platform)
    const { id } = await app.subscribe(receiver.url)
    await app.emit('a')
    const drained = platform.drain()
    await receiver.received(1)
    const [sending] = await app.deliveries(id)
    const path = `/webhooks/${id}/deliveries/${sending.id}/redeliver`
    const busy = await app.call('POST', path)
    expect([busy.status, busy.body.error.code]).toEqual([409, 'conflict'])
    await drained
    expect((await app.deliveries(id))[0]).toMatchObject({ status: 'pending', attempt: 1 })
    expect((await app.call('POST', path)).status).toBe(200)
    await platform.drain()
    expect((await app.deliveries(id))[0]).toMatchObject({ status: 'succeeded', attempt: 2 })
    platform.clock.advance(HOUR)
    await platform.drain()
    expect(receiver.requests).toHaveLength(2)
  })

  it('recovers everything that failed or was skipped since then, once each, whatever the volume', async () => {
    await using receiver = await startReceiver()
    const { app, id } = await disabled(receiver.url)
    await app.emit('too-old')
    await platform.drain()
    platform.clock.advance(48 * HOUR)
    const since = iso(platform.clock.now())
    for (let i = 0; i < 230; i++) {
      platform.clock.advance(1)
      await app.emit('lost', { i })
    }
    await platform.drain()
    await app.call('POST', `/webhooks/${id}/enable`)
    await app.emit('fine')
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
    const { status, body } = await app.call('POST', `/webhooks/${id}/recover`, { since })
    expect([status, body.id]).toEqual([200, id])
    expect(body.recovery).toEqual({ deliveries: 230, is_complete: true })
    await platform.drain()
    const got = receiver.requests.slice(1).map((one) => JSON.parse(String(one.body)).data.i)
    expect(got).toHaveLength(230)
    expect(new Set(got).size).toBe(230)
  })

  it.each([{}, { since: 'yesterday' }, { since: 5 }, { since: '2026-01-01T00:00:00' }])(
    'refuses to recover with %j',
    async (body) => {
      const app = await subscriber(platform)
      const { id } = await app.subscribe('https://a.example.com/')
      const answer = await app.call('POST', `/webhooks/${id}/recover`, body)
      expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error'])
    },
  )
})
