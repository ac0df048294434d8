import { randomUUID } from 'node:crypto'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { retire, rotate } from '#ops/keys/rotate.ts'
import { ringStore } from '#ops/keys/secret.ts'
import { KEYS_FRESH } from '#shared/adapters/secrets.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import type { RingName } from '#shared/kernel/ports/keys.ts'
import { must, newAgent, sandboxToken, send } from './support.ts'
import { usingOwnLocal } from './using-local.ts'

const running = usingOwnLocal()

const VARIABLES: Record<RingName, string> = {
  data: 'DATA_KEYS_SECRET_ARN',
  receipts: 'RECEIPT_KEYS_SECRET_ARN',
  cards: 'CARD_KEYS_SECRET_ARN',
  access: 'ACCESS_KEYS_SECRET_ARN',
  callback: 'CALLBACK_KEYS_SECRET_ARN',
  console: 'CONSOLE_KEYS_SECRET_ARN',
  staff: 'STAFF_KEYS_SECRET_ARN',
}

/** Runs the command against the running platform’s Secrets Manager, without its wait. */
const operation = (ring: RingName) => {
  const { endpoints, client, model } = running.platform
  const arn = model.functions.flatMap(({ environment }) => environment[VARIABLES[ring]] ?? [])[0] ?? ''
  const store = ringStore(new SecretsManagerClient({ ...client, endpoint: endpoints.secretsManager }), arn)
  return { ring, store, clock: systemClock, sleep: async () => {}, say: () => {} }
}
const notTheTable = () => Promise.reject(new Error('tokens are not in the table'))
const kidOf = (token: string) => decodeProtectedHeader(token).kid
const status = async (to: string, token: string) => (await send(running.baseUrl, 'GET', to, { token })).status
const signIn = async (): Promise<string> => {
  const body = { email: 'admin@example.com', password: 'local-admin-password' }
  return (await must(running.baseUrl, 'POST', '/admin/auth/login', { body })).token
}

describe('rotating every keyring on the running platform', () => {
  it('signs nobody out, and functions that are already running accept what others issue with the new key', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/never' })
    const old = { access: await sandboxToken(running.baseUrl, agent), admin: await signIn() }
    expect([kidOf(old.access), kidOf(old.admin)]).toEqual(['k1', 'k1'])
    const report = {
      token: old.access,
      headers: { 'idempotency-key': randomUUID() },
      body: { url: 'https://example.com/hook', events: ['run.*'] },
    }
    const subscription = await must(running.baseUrl, 'POST', '/api/v1/webhooks', report)
    expect([await status('/api/v1/me', old.access), await status('/admin/me', old.admin)]).toEqual([200, 200])

    for (const ring of ['access', 'staff', 'data'] as const) await rotate(operation(ring))
    // Issuers have read their keyring again. Verifiers haven't, but may look again for an unknown key id.
    running.platform.shiftClock(31_000)
    for (const name of ['developer', 'admin']) running.platform.shiftClock(KEYS_FRESH, name)
    const fresh = { access: await sandboxToken(running.baseUrl, agent), admin: await signIn() }
    expect([kidOf(fresh.access), kidOf(fresh.admin)]).toEqual(['k2', 'k2'])
    for (const { access, admin } of [fresh, old]) {
      expect([await status('/api/v1/me', access), await status('/admin/me', admin)]).toEqual([200, 200])
    }
    // The stored answer contains a secret and was encrypted with the old key.
    const repeated = await send(running.baseUrl, 'POST', '/api/v1/webhooks', report)
    expect(repeated.headers.get('idempotency-replayed')).toBe('true')
    expect(repeated.body).toEqual(subscription)

    for (const ring of ['access', 'staff'] as const) await retire(operation(ring), notTheTable, { leaked: true })
    // Functions that issue tokens publish what is left of their ring when they read it again.
    running.platform.shiftClock(2 * KEYS_FRESH)
    await Promise.all([sandboxToken(running.baseUrl, agent), signIn()])
    running.platform.shiftClock(2 * KEYS_FRESH)
    expect([await status('/api/v1/me', old.access), await status('/admin/me', old.admin)]).toEqual([401, 401])
    expect([await status('/api/v1/me', fresh.access), await status('/admin/me', fresh.admin)]).toEqual([200, 200])
  })
})
