import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { contents } from '#testkit/contents.ts'
import { installed } from '#testkit/fixtures.ts'
import type { Moment } from '#testkit/killing.ts'
import { actors } from '#testkit/oauth.ts'
import { type Answer, startPlatform, type TestPlatform } from '#testkit/platform.ts'
import { startStore } from '#testkit/store.ts'

/** Longer than a dead request holds the lock on its Idempotency-Key. */
const LOCK_OVER_MS = 36_000

let platform: TestPlatform
let act: ReturnType<typeof actors>
type Client = Awaited<ReturnType<typeof act.connected>>
const start = async (env: Record<string, string> = {}): Promise<void> => {
  // These tests need the SDK's retries.
  platform = await startPlatform(env, await startStore({ sdk: true }))
  act = actors(platform)
}

/** Returns the statuses of a client's grants and the number of its usable refresh tokens. */
const chain = async ({ tokens }: Client) => {
  const { installation_id } = tokens
  const { items } = await platform.deps.table.query(GrantEntity, { installation_id }, { limit: 5 })
  const live = [...(await contents(platform))].filter(
    ([key, item]) =>
      key.startsWith('refresh-token ') && item.includes(installation_id) && !item.includes('"rotated_at"'),
  )
  return { grants: items.map(({ status }) => status), liveTokens: live.length }
}
const WHOLE = { grants: ['active'], liveTokens: 1 }

/** Asserts that the answer's pair opens the API, refreshes once more, and is the only one. */
const lives = async (client: Client, answer: Answer, what: string): Promise<void> => {
  expect(answer.status, `${what}: ${answer.text}`).toBe(200)
  expect(await chain(client), what).toEqual(WHOLE)
  expect(await act.works(answer.body.access_token), what).toBe(200)
  expect((await act.refresh(client, answer.body.refresh_token)).status, what).toBe(200)
}

/** Exchanges: a refresh token, or a code whose client has no tokens from it yet. */
const EXCHANGES = ['refresh', 'code'] as const
type Exchange = (headers?: Record<string, string>) => Promise<Answer>
const prepare = async (kind: (typeof EXCHANGES)[number]): Promise<{ client: Client; exchange: Exchange }> => {
  platform.clock.advance(60_000)
  platform.outbox.length = 0
  if (kind === 'refresh') {
    const client = await act.connected()
    return { client, exchange: (headers = {}) => act.refresh(client, client.tokens.refresh_token, {}, headers) }
  }
  const made = await installed(platform.deps)
  const consent = await act.consented(made.app)
  const partition = { workspace_id: consent.person.workspace.id }
  const [installation] = (await platform.deps.table.query(InstallationEntity, partition, { limit: 1 })).items
  const client = { ...made, consent, tokens: { installation_id: installation?.id ?? '' } } as Client
  return { client, exchange: (headers = {}) => act.redeem(made, consent, {}, headers) }
}

class Dead extends Error {}

/** Kills the request's worker at its n-th write, not counting rate limits. @returns whether it got that far */
const killed = async (exchange: () => Promise<Answer>, n: number, moment: Moment): Promise<boolean> => {
  const { table } = platform.deps
  const { transact, get } = table
  let left = n
  let dead = false
  const die = (): never => {
    dead = true
    throw new Dead()
  }
  table.transact = async (writes) => {
    if (dead) throw new Dead()
    if (writes.every(({ entity }) => entity.name === 'bucket')) return transact.call(table, writes)
    left--
    if (left === 0 && moment === 'before') die()
    await transact.call(table, writes)
    if (left === 0) die()
  }
  table.get = (async (...given: Parameters<typeof get>) => {
    if (dead) throw new Dead()
    return get.apply(table, given)
  }) as typeof get
  try {
    // The dead worker's answer never reaches the client.
    await exchange()
    return dead
  } finally {
    Object.assign(table, { transact, get })
  }
}

describe('a worker that dies at any write', () => {
  beforeAll(() => start())
  afterAll(() => platform.stop())

  it.each(EXCHANGES)('%s: the retry with the same Idempotency-Key gets the only pair', async (kind) => {
    let deaths = 0
    for (const moment of ['before', 'after'] as const) {
      for (let n = 1; ; n++) {
        const { client, exchange } = await prepare(kind)
        const key = { 'idempotency-key': `${kind}-${moment}-${n}` }
        if (!(await killed(() => exchange(key), n, moment))) break
        deaths++
        platform.clock.advance(LOCK_OVER_MS)
        await lives(client, await exchange(key), `${moment} write ${n}`)
      }
    }
    expect(deaths).toBe(4)
  })

  it.each(EXCHANGES)(
    '%s: the retry without a key gets a pair if nothing was written, otherwise ends the chain',
    async (kind) => {
      const before = await prepare(kind)
      expect(await killed(before.exchange, 1, 'before')).toBe(true)
      await lives(before.client, await before.exchange(), 'before')

      const after = await prepare(kind)
      expect(await killed(after.exchange, 1, 'after')).toBe(true)
      const retried = await after.exchange()
      expect([retried.status, retried.body.error?.code]).toEqual([400, 'invalid_grant'])
      expect((await chain(after.client)).grants).toEqual(['revoked'])
      expect(platform.outbox.map(({ type }) => type)).toContain('notification.created')
    },
  )
})

describe('a worker that dies while REFRESH_REUSE_WINDOW_SECONDS is 30', () => {
  beforeAll(() => start({ REFRESH_REUSE_WINDOW_SECONDS: '30' }))
  afterAll(() => platform.stop())

  it('retrying a refresh needs no key for 30 seconds', async () => {
    const { client, exchange } = await prepare('refresh')
    expect(await killed(exchange, 1, 'after')).toBe(true)
    platform.clock.advance(30_000)
    await lives(client, await exchange(), 'in time')
    const late = await prepare('refresh')
    expect(await killed(late.exchange, 1, 'after')).toBe(true)
    platform.clock.advance(30_001)
    expect((await late.exchange()).body.error?.code).toBe('invalid_grant')
    expect((await chain(late.client)).grants).toEqual(['revoked'])
  })

  it('a code is still used only once', async () => {
    const { client, exchange } = await prepare('code')
    expect(await killed(exchange, 1, 'after')).toBe(true)
    expect((await exchange()).body.error?.code).toBe('invalid_grant')
    expect((await chain(client)).grants).toEqual(['revoked'])
  })
})

/**
 * Faults of the store in a transaction. `written`: the write happened anyway. `once`: lasting faults equal those of
 * another entry.
 */
const FAULTS: Record<string, { error: () => Error; written: boolean; once?: true }> = {
  'a throttle': { error: () => fault('ThrottlingException', { $retryable: { throttling: true } }), written: false },
  'a throughput limit': { error: () => fault('ProvisionedThroughputExceededException'), written: false, once: true },
  'a transaction conflict': { error: () => cancelled('TransactionConflict'), written: false, once: true },
  'a throttled transaction': { error: () => cancelled('ThrottlingError'), written: false, once: true },
  'an error of its own': { error: () => fault('InternalServerError', {}, 500), written: false, once: true },
  'a timeout before the write': { error: () => fault('TimeoutError'), written: false },
  'a timeout after the write': { error: () => fault('TimeoutError'), written: true },
  'a broken connection after the write': { error: () => fault('Error', { code: 'ECONNRESET' }), written: true },
}

const fault = (name: string, more: object = {}, httpStatusCode = 400): Error =>
  Object.assign(new Error(`the store: ${name}`), { name, $metadata: { httpStatusCode }, ...more })
const cancelled = (Code: string): Error =>
  fault('TransactionCanceledException', { CancellationReasons: [{ Code: 'None' }, { Code }] })

describe.each(Object.entries(FAULTS))('%s of the store', (what, { error, written, once }) => {
  let remaining = 0
  beforeAll(async () => {
    await start()
    platform.store.client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (!String(commandName).startsWith('TransactWrite') || remaining === 0) return next(args)
          remaining--
          if (written) await next(args)
          throw error()
        },
      // Below the SDK's retries, so it sees each attempt.
      { step: 'deserialize', priority: 'high', name: 'store-fault' },
    )
  })
  beforeEach(() => {
    remaining = 0
  })
  afterEach(() => {
    remaining = 0
  })
  afterAll(() => platform.stop())

  it.each(EXCHANGES)('once, in the middle of %s: the client doesn’t notice it', async (kind) => {
    for (const key of [undefined, { 'idempotency-key': `once ${kind}` }]) {
      const { client, exchange } = await prepare(kind)
      remaining = 1
      const answer = await exchange(key)
      expect(remaining).toBe(0)
      await lives(client, answer, what)
    }
  })

  if (once) return

  it.each(EXCHANGES)('for longer than the retries, in %s: the chain lives, whatever the client saw', async (kind) => {
    const { client, exchange } = await prepare(kind)
    remaining = Number.POSITIVE_INFINITY
    const answer = await exchange()
    remaining = 0
    // A completed exchange answers with success; an incomplete one can be sent again unchanged.
    expect(answer.status).toBe(written ? 200 : 503)
    await lives(client, written ? answer : await exchange(), what)
  })

  it.each(EXCHANGES)('and with an Idempotency-Key, in %s: the retry gets the only pair', async (kind) => {
    const { client, exchange } = await prepare(kind)
    const key = { 'idempotency-key': `long ${kind}` }
    remaining = Number.POSITIVE_INFINITY
    const answer = await exchange(key)
    remaining = 0
    expect([409, 503]).toContain(answer.status)
    const retried = await exchange(key)
    expect(retried.headers['idempotency-replayed']).toBe(written ? 'true' : undefined)
    await lives(client, retried, what)
  })
})
