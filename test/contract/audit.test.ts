import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { idFloor } from '#shared/kernel/ids.ts'
import { AuditEntity, auditMonth } from '#shared/staff/audit/entity.ts'
import { pageAtOffsetWithCount } from '#shared/table/lists.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import type { Stage } from '#testkit/stage.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage } from '#testkit/using-stage.ts'

/** Changes that need no audit entry, with the reason. */
const UNAUDITED: Record<string, string> = {
  'developer.apps.testRun': 'A run is a lasting record that names who started it.',
  'developer.listen.answer': 'Forwards the answer of the developer’s own machine.',
  'developer.listen.end': 'Ends the caller’s own stream.',
  'developer.manifest.validate': 'Stores nothing.',
  'developer.versions.validate': 'Stores nothing.',
  'developer.apps.messages.write': 'A message is a lasting record with its author.',
  'admin.passkeys.begin': 'Stores a challenge only. Adding the passkey is audited.',
  'admin.passkeys.beginConfirmation': 'Stores a challenge only. The confirmation is audited.',
  'developer.passkeys.begin': 'Stores a challenge only. Adding the passkey is audited.',
  'developer.sandbox.trigger': 'Sends a sample, which is a lasting record.',
}

/** Samples that change nothing by default, with a body that does. */
const BODIES: Record<string, (stage: Stage) => unknown> = {
  'admin.settings.setDeniedTools': () => ({ denied_tools: ['http_fetch'] }),
}

/** Endpoints whose sample changes nothing, and so isn't audited. Their own tests audit a change. */
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
  return (await pageAtOffsetWithCount(platform.deps.table, AuditEntity, [source], range)).items
}

const secretsIn = (value: unknown): string[] =>
  JSON.stringify(value).match(/(cs|dvk|adk|whsec|agsec|join)_[\w-]{20,}|eyJ[\w-]{20,}|argon2id\$|scrypt\$/g) ?? []

describe('a change by an admin, a developer or a workspace admin', () => {
  it.each(changes.map((one) => [`${one.method} ${one.path}`, one] as const))(
    '%s is in the audit with actor, action, target and request',
    async (_name, endpoint: Endpoint) => {
      const sample = await sampleCall(stage, endpoint)
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

  it('every exception is an existing endpoint and still writes no audit entry', () => {
    const ids = Object.values(requestFunctions)
      .flat()
      .map(({ id }) => id)
    expect([...Object.keys(UNAUDITED), ...UNCHANGED, ...Object.keys(BODIES)].filter((id) => !ids.includes(id))).toEqual(
      [],
    )
  })
})
