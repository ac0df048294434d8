import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { AuditEntity, auditMonth } from '#shared/entities/platform.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { skipAndCount } from '#shared/table/lists.ts'
import { usingStage } from '#test/contract/using.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import type { Stage } from './stage.ts'

/** What changes nothing that anybody could be asked about, and why. */
const UNAUDITED: Record<string, string> = {
  'developer.apps.testRun': 'A run tells of itself: it is a record that stays, with who started it.',
  'developer.listen.answer': 'Passes on what the developer’s own machine answered.',
  'developer.listen.end': 'Ends a stream of the caller’s own.',
  'developer.manifest.validate': 'Keeps nothing.',
  'developer.apps.messages.write': 'A message is a record that stays, with its author.',
  'developer.sandbox.trigger': 'Sends a sample, which is a record that stays.',
}

/** Samples that change nothing as they are: another body for these. */
const BODIES: Record<string, (stage: Stage) => unknown> = {
  'admin.settings.setDeniedTools': () => ({ denied_tools: ['http_fetch'] }),
}

/** Their sample changes nothing, and what changes nothing is not audited; their own tests audit a change. */
const UNCHANGED = ['console.installations.setSettings', 'console.installations.upgrade', 'developer.sandbox.unseed']

const changes = Object.values(requestFunctions)
  .flat()
  .filter(({ method, id }) => method !== 'GET' && !(id in UNAUDITED) && !UNCHANGED.includes(id))
  .filter(({ caller, role }) => caller === 'admin' || caller === 'developer' || (caller === 'console' && role))

const platform = usingPlatform()
const stage = usingStage(platform)

const entriesSince = async (since: number) => {
  const source = { directory: 'audit', day: auditMonth(since) }
  const range = { offset: 0, limit: 100, ahead: 0, from: idFloor('audit', since) }
  return (await skipAndCount(platform.deps.table, AuditEntity, [source], range)).items
}

const secretsIn = (value: unknown): string[] =>
  JSON.stringify(value).match(/(cs|dvk|adk|whsec|agsec|join)_[\w-]{20,}|eyJ[\w-]{20,}|argon2id\$|scrypt\$/g) ?? []

describe('a change by an admin, a developer or an organization’s admin', () => {
  it.each(changes.map((one) => [`${one.method} ${one.path}`, one] as const))(
    '%s is in the audit: who, what, on what, by which request',
    async (_name, endpoint: Endpoint) => {
      const sample = await stage.sample(endpoint)
      const body = BODIES[endpoint.id]?.(stage) ?? sample.body
      platform.clock.advance(1_000)
      const since = platform.clock.now()
      const answer = await stage.call(endpoint, { ...sample, ...(body !== undefined && { body }) })
      expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(300)
      const entries = (await entriesSince(since)).filter(
        ({ request_id }) => request_id === answer.headers['x-request-id'],
      )
      expect(entries.length, 'entries of this request').toBeGreaterThan(0)
      const [who] = { admin: ['admin'], developer: ['developer'], console: ['user'] }[endpoint.caller as 'admin']
      expect(entries.map(({ actor }) => actor.type)).toContain(who)
      for (const { target, action, details } of entries) {
        expect(target.id, action).toBeTruthy()
        expect(secretsIn(details), action).toEqual([])
      }
    },
  )

  it('every exception is an endpoint, and audits nothing by now', () => {
    const ids = Object.values(requestFunctions)
      .flat()
      .map(({ id }) => id)
    expect([...Object.keys(UNAUDITED), ...UNCHANGED, ...Object.keys(BODIES)].filter((id) => !ids.includes(id))).toEqual(
      [],
    )
  })
})
