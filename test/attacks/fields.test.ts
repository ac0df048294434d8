import { describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { contents, difference } from '#testkit/contents.ts'
import { exampleBody } from '#testkit/derived-sample.ts'
import { TEST_BOT } from '#testkit/platform.ts'
import { platformErrorOf } from '#testkit/platform-error.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage, usingWorld } from '#testkit/using-stage.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'
import { batchesOf, endpoints, expectRefusal, nameOf, partsOf, sentSchema } from './support.ts'

const platform = usingPlatform()
const stage = usingStage(platform)
const world = usingWorld(platform)

/**
 * Stored fields that no client may set: ids, owners, states, roles, counts, times, secrets, and the table's key
 * attributes.
 */
const RECORD_FIELDS = [
  'id _id pk sk _e gsi1pk gsi1sk ttl expires_at created_at updated_at deleted_at approved_at submitted_at finished_at',
  'workspace_id user_id app_id developer_id installation_id admin_id owner owner_id created_by actor parent_run_id run_id',
  'status state role roles is_admin admin superadmin verified featured hidden is_sandbox sandbox approved test_run_at',
  'scopes granted_scopes denied_scopes denied_tools allowed_callers audience chain chain_depth deadline cost_units seq',
  'client_id client_secret client_secret_hash secret secrets secret_version signing_secret signing_secrets api_key key key_hash',
  'password password_hash session_version sv token access_token sign_in_count attempts consecutive_failures generation',
  'promoted_version version version_id agent_id vendor rating_sum average count votes mine identity telegram_id home_workspace_id',
]
  .join(' ')
  .split(' ')

const strict = endpoints.filter(
  // JSON-RPC's own fields are open: later versions of a protocol may add some.
  ({ body, lenient, anyJson, method, consumes }) =>
    body && !lenient && !anyJson && method !== 'GET' && consumes !== 'json-rpc',
)
/** Stored fields that an endpoint's body doesn't declare. */
const undeclared = new Map(
  strict.map((endpoint) => {
    const declared = new Set(endpoint.body ? partsOf(sentSchema(endpoint.body())).map(([path]) => path) : [])
    return [endpoint.id, RECORD_FIELDS.filter((field) => !declared.has(field))]
  }),
)
const total = [...undeclared.values()].reduce((sum, fields) => sum + fields.length, 0)
const bodyless = endpoints.filter(
  ({ body, method, consumes }) => !body && method !== 'GET' && consumes !== 'form' && consumes !== 'ignored',
)

describe(`${total} fields of records in bodies of ${strict.length} endpoints that don’t declare them`, () => {
  // Telegram may add fields to the widget's answer; its signature covers all of them.
  const open = new Set(['console.bot.widgetAuth'])

  it.each(strict.filter(({ id }) => !open.has(id)).map((one) => [nameOf(one), one] as const))(
    '%s: refused by name',
    async (_name, endpoint) => {
      const fields = undeclared.get(endpoint.id) ?? []
      const headers = world.credentials[endpoint.caller] ?? {}
      // The maximum that one answer names.
      for (const some of batchesOf(50, fields)) {
        platform.clock.advance(300)
        const body = {
          ...(exampleBody(endpoint) as object),
          ...Object.fromEntries(some.map((field) => [field, 'mine'])),
        }
        const answer = await platform.call(endpoint.method, pathWithUnknownIds(endpoint), { headers, body })
        expectRefusal(answer, nameOf(endpoint), 'validation_error')
        const named = Object.keys(answer.body.error.details.fields)
        expect(
          some.filter((field) => !named.includes(field)),
          answer.text.slice(0, 300),
        ).toEqual([])
      }
    },
  )

  it.each(bodyless.map((one) => [nameOf(one), one] as const))(
    '%s takes no body, and refuses each field by name',
    async (_name, endpoint) => {
      const headers = world.credentials[endpoint.caller] ?? {}
      const body = Object.fromEntries(RECORD_FIELDS.map((field) => [field, 'mine']))
      platform.clock.advance(300)
      const answer = await platform.call(endpoint.method, pathWithUnknownIds(endpoint), { headers, body })
      expectRefusal(answer, nameOf(endpoint), 'validation_error')
      expect(Object.keys(platformErrorOf(answer).details.fields).sort()).toEqual([...RECORD_FIELDS].sort())
    },
  )

  it('no object within a declared body accepts undeclared fields, unless it is free-form by design', () => {
    const loose = strict.flatMap(({ id, body }) =>
      partsOf(sentSchema(body?.() as never)).flatMap(([path, part]) =>
        part.properties && part.additionalProperties !== false ? [`${id} ${path}`] : [],
      ),
    )
    // WebAuthn defines an authenticator’s answer, which may have more fields.
    const credentials = /\.passkeys\.\w+ credential(\.response)?$/
    expect(loose.filter((name) => !credentials.test(name))).toEqual(['console.bot.widgetAuth '])
  })
})

describe('where unknown fields are ignored, they have no effect', () => {
  it('OAuth: a redeemed code grants what the customer consented to, whatever other parameters are sent', async () => {
    const client = await stage.integration('accepts', ['runs:read'])
    const consent = await stage.actors.consented(client.app)
    const extra = Object.fromEntries(
      RECORD_FIELDS.filter((name) => !name.startsWith('client_')).map((name) => [name, 'mine']),
    )
    const forged = {
      ...extra,
      scope: 'runs:write members:read',
      scopes: 'tools:invoke',
      expires_in: '999999',
      sub: 'x',
    }
    const { status, body } = await stage.actors.redeem(client, consent, forged)
    expect([status, body.scope, body.expires_in, body.token_type]).toEqual([200, 'runs:read', 7_200, 'Bearer'])
    const { body: me } = await platform.call('GET', '/api/v1/me', { token: body.access_token })
    expect(me.installation).toMatchObject({ scopes: ['runs:read'] })
    const claims = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString())
    expect(Object.values(claims)).not.toContain('mine')
  })

  it('Telegram: an update with fields named like ours is handled as if they were absent', async () => {
    const from = stage.telegram.person({ first_name: 'Ann' })
    const message = { message_id: 1, date: 1, chat: { id: from.id, type: 'private' }, from, text: '/start' }
    const extra = Object.fromEntries(RECORD_FIELDS.map((field) => [field, 'mine']))
    const update = {
      ...extra,
      update_id: from.id,
      message: { ...message, ...extra, from: { ...from, ...extra, id: from.id } },
    }
    const headers = { 'x-telegram-bot-api-secret-token': TEST_BOT.webhookSecret }
    const answer = await platform.call('POST', '/console/bot/webhook', { headers, body: update })
    expect(answer.status, answer.text).toBe(200)
    expect([...(await contents(platform)).values()].filter((item) => item.includes('"is_admin"'))).toEqual([])
  })

  it('manifests: an unknown field is an error with its path, and nothing is published', async () => {
    const { owner, app, headers } = await stage.developer()
    const manifest = stage.manifestFor(owner, app)
    const before = await contents(platform)
    for (const field of ['status', 'verified', 'promoted', 'is_admin', 'workspace_id', 'created_at', 'approved']) {
      platform.clock.advance(500)
      const body = { ...manifest, [field]: 'mine' }
      const answer = await platform.call('POST', `/api/v1/dev/apps/${app.id}/versions`, { headers, body })
      expectRefusal(answer, field, 'invalid_manifest')
      expect(answer.body.error.details.errors.map(({ path }: { path: string }) => path)).toContain(`/${field}`)
    }
    expect(difference(before, await contents(platform))).toEqual({})
  })

  it('a valid edit with one unknown field changes nothing', async () => {
    const { app, headers } = await stage.developer()
    const before = await platform.deps.table.get(AppEntity, { id: app.id })
    for (const field of [
      'status',
      'verified',
      'slug',
      'developer_id',
      'client_id',
      'secret_version',
      'promoted_version',
    ]) {
      platform.clock.advance(500)
      const body = { name: 'Renamed', [field]: 'approved' }
      const answer = await platform.call('PATCH', `/api/v1/dev/apps/${app.id}`, { headers, body })
      expectRefusal(answer, field, 'validation_error')
    }
    expect(await platform.deps.table.get(AppEntity, { id: app.id })).toEqual(before)
  })
})
