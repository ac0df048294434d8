import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createBotCredentials, createKeys, createModelKey } from '#shared/adapters/secrets.ts'
import { TestClock } from '#testkit/clock.ts'

const manager = mockClient(SecretsManagerClient)
afterEach(() => manager.reset())
afterAll(() => manager.restore())

const MINUTE = 60_000
const SECRET = { token: '42:token-of-the-bot', webhook_secret: 'w'.repeat(64) }
const holding = (value: unknown) =>
  manager
    .on(GetSecretValueCommand)
    .resolves({ SecretString: typeof value === 'string' ? value : JSON.stringify(value) })
const calls = () => manager.commandCalls(GetSecretValueCommand).length

describe('the bot’s secret', () => {
  it('is read once in five minutes for all callers', async () => {
    const clock = new TestClock()
    const read = createBotCredentials('arn:bot', clock)
    holding(SECRET)
    const expected = { token: SECRET.token, webhookSecret: SECRET.webhook_secret }
    expect(await Promise.all([read(), read()])).toEqual([expected, expected])
    clock.advance(5 * MINUTE - 1)
    await read()
    expect(calls()).toBe(1)
    holding({ ...SECRET, token: '42:rotated' })
    clock.advance(1)
    expect(await read()).toMatchObject({ token: '42:rotated' })
    expect(calls()).toBe(2)
  })

  it('stays in use when it can’t be read again; one never read is requested at each call', async () => {
    const clock = new TestClock()
    const read = createBotCredentials('arn:bot', clock)
    manager.on(GetSecretValueCommand).rejects(new Error('AccessDenied'))
    await expect(read()).rejects.toThrow('AccessDenied')
    holding(SECRET)
    expect(await read()).toMatchObject({ token: SECRET.token })
    manager.on(GetSecretValueCommand).rejects(new Error('AccessDenied'))
    clock.advance(5 * MINUTE)
    expect(await read()).toMatchObject({ token: SECRET.token })
  })

  it('with an empty token, or without a secret, means that there is no bot', async () => {
    holding({ ...SECRET, token: '' })
    expect(await createBotCredentials('arn:bot', new TestClock())()).toBeUndefined()
    expect(await createBotCredentials(undefined, new TestClock())()).toBeUndefined()
    expect(calls()).toBe(1)
  })

  it.each([
    ['not JSON', '42:token-of-the-bot'],
    ['incomplete', { token: SECRET.token }],
    ['an invalid token', { ...SECRET, token: 'token-of-the-bot/../x' }],
    ['a short webhook secret', { ...SECRET, webhook_secret: 'x' }],
  ])('that is %s is refused without quoting it', async (_what, value) => {
    holding(value)
    const failure = await createBotCredentials('arn:bot', new TestClock())().catch((error: Error) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(`${(failure as Error).stack} ${(failure as Error).cause}`).not.toContain('token-of-the-bot')
  })
})

describe('the language model’s key', () => {
  it('is read once in five minutes; empty, or without a secret, it means that there is no model', async () => {
    const read = createModelKey('arn:model', new TestClock())
    holding({ api_key: 'sk-1' })
    expect([await read(), await read()]).toEqual(['sk-1', 'sk-1'])
    expect(calls()).toBe(1)
    holding({ api_key: '' })
    expect(await createModelKey('arn:model', new TestClock())()).toBeUndefined()
    expect(await createModelKey(undefined, new TestClock())()).toBeUndefined()
  })

  it.each([
    ['not JSON', 'sk-secret'],
    ['without its field', { key: 'sk-secret' }],
    ['invalid in a header', { api_key: 'sk-secret\nx' }],
  ])('that is %s is refused without quoting it', async (_what, value) => {
    holding(value)
    const failure = await createModelKey('arn:model', new TestClock())().catch((error: Error) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(`${(failure as Error).stack} ${(failure as Error).cause}`).not.toContain('sk-secret')
  })
})

/** Rings that sign nothing publish nothing. */
const none = () => Promise.reject(new Error('no'))
const noObjects = { get: none, put: none, create: none }

describe('a keyring', () => {
  it('is read once in five minutes, and only where the function may read it', async () => {
    const clock = new TestClock()
    const keys = createKeys({ data: 'arn:data' }, clock, noObjects)
    holding({ current: 'k1', k1: 'x'.repeat(64) })
    expect((await keys.data()).currentId).toBe('k1')
    await keys.data()
    expect(calls()).toBe(1)
    await expect(keys.cards()).rejects.toThrow('may not read the cards keyring')
    clock.advance(5 * MINUTE)
    manager.on(GetSecretValueCommand).rejects(new Error('AccessDenied'))
    expect((await keys.data()).currentId).toBe('k1')
    expect(calls()).toBe(2)
  })

  it('is read again for a key that was added since, but for made-up ids no more than twice a minute', async () => {
    const clock = new TestClock()
    const keys = createKeys({ data: 'arn:data' }, clock, noObjects)
    holding({ current: 'k1', k1: 'x'.repeat(64) })
    const ring = await keys.data()
    holding({ current: 'k2', k1: 'x'.repeat(64), k2: 'y'.repeat(64) })
    expect(await ring.opening('k2')).toBeUndefined()
    clock.advance(30_000)
    expect(await ring.opening('k2')).toBeDefined()
    expect(calls()).toBe(2)
    // The newly read ring is used for signing, too.
    expect((await keys.data()).currentId).toBe('k2')
    for (let asked = 0; asked < 1_000; asked++) {
      expect(await (await keys.data()).opening(`made-up-${asked}`)).toBeUndefined()
      clock.advance(60)
    }
    expect(calls()).toBeLessThanOrEqual(4)
    manager.on(GetSecretValueCommand).rejects(new Error('AccessDenied'))
    clock.advance(30_000)
    expect(await (await keys.data()).opening('made-up')).toBeUndefined()
    expect(await (await keys.data()).opening('k1')).toBeDefined()
  })
})
