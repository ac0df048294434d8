import { presentedTokenEndpoints } from '#functions/oauth/presented-token.ts'
import { tokenEndpoints } from '#functions/oauth/tokens.ts'
import { createLogger } from '#shared/adapters/logger.ts'
import { noBot } from '#shared/adapters/no-bot.ts'
import { noModel } from '#shared/adapters/no-model.ts'
import { noMonitoring } from '#shared/adapters/no-monitoring.ts'
import { createAddressCheck } from '#shared/adapters/outgoing-http/check-only.ts'
import type { Deps } from '#shared/domain/deps.ts'
import { newTokenPair } from '#shared/domain/oauth/token-pair.ts'
import { GrantEntity, InstallationEntity } from '#shared/entities/installations.ts'
import { AuthorizationCodeEntity } from '#shared/entities/oauth.ts'
import { client } from '#shared/http/authenticate/client.ts'
import { createPipeline } from '#shared/http/pipeline.ts'
import { newId } from '#shared/kernel/ids.ts'
import { parseKeyring } from '#shared/kernel/keyring.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { readSettings } from '#shared/kernel/settings.ts'
import { Table } from '#shared/table/table.ts'
import { installed, workspace } from '#test/support/fixtures.ts'
import type { TestPlatform } from '#test/support/platform.ts'
import { codeForm, introspectionForm, pkce, REDIRECT, refreshForm, SCOPES } from './forms.ts'
import { gatewayOf } from './gateway.ts'
import { MemoryTable } from './memory-table.ts'
import { type Operation, type Prepared, type Side, serveSide } from './side.ts'

/** Between two requests, so that the client's rate limit is at rest as it is in between real ones. */
const PAUSE_MS = 1_000
const CODE_LIFE_MS = 300_000

/** The OAuth function’s endpoints as they are deployed, with logs and rate limits, over a table in memory. */
const platform = async (): Promise<Side> => {
  const store = new MemoryTable()
  let now = Date.now()
  const ring = parseKeyring(JSON.stringify({ current: 'k1', k1: newSecret() }))
  const nothing = (): Promise<never> => Promise.reject(new Error('the OAuth endpoints have no bucket'))
  const deps: Deps = {
    settings: readSettings({ STAGE: 'bench', BASE_URL: 'https://platform.example', TABLE_NAME: 'bench' }),
    clock: { now: () => now },
    table: new Table({ client: store.client, tableName: 'bench', shards: 8 }),
    keys: { tokens: async () => ring, admin: async () => ring, data: async () => ring },
    objects: { put: nothing, get: nothing, head: nothing, delete: nothing, presignPut: nothing, presignGet: nothing },
    http: createAddressCheck({ allowLoopbackHttp: false }),
    bot: noBot,
    model: noModel,
    monitoring: noMonitoring,
    log: createLogger('info', { function: 'oauth' }),
  }
  const endpoints = [...tokenEndpoints, ...presentedTokenEndpoints]
  const handler = createPipeline(endpoints, { client }, async () => deps)

  /** A customer's consent: a workspace, an installation and a grant of their own. */
  const consent = async ({ app, installation, grant }: Awaited<ReturnType<typeof installed>>) => {
    const { id: workspace_id } = await workspace(deps as TestPlatform['deps'])
    const theirs = { ...installation, id: newId('installation', now), workspace_id }
    const given = { ...grant, id: newId('grant', now), installation_id: theirs.id, workspace_id }
    const names = { app_id: app.id, workspace_id, installation_id: theirs.id, grant_id: given.id }
    return { names, theirs, given, writes: [InstallationEntity.create(theirs), GrantEntity.create(given)] }
  }

  const prepare = async (operation: Operation, count: number): Promise<Prepared> => {
    store.clear()
    const owner = await installed(deps as TestPlatform['deps'], { scopes: SCOPES })
    const credentials = { client_id: owner.app.id, client_secret: owner.clientSecret }
    const bodyOf = async (): Promise<string> => {
      const { names, theirs, given, writes } = await consent(owner)
      if (operation === 'authorization_code') {
        const { verifier, challenge } = pkce()
        const code = newSecret('code_')
        const record = AuthorizationCodeEntity.create({
          ...names,
          code_hash: sha256(code),
          redirect_uri: REDIRECT,
          code_challenge: challenge,
          expires_at: now + CODE_LIFE_MS,
        })
        await deps.table.transact([...writes, record])
        return codeForm(credentials, code, verifier)
      }
      const pair = await newTokenPair(deps, owner.app, theirs, given)
      await deps.table.transact([...writes, ...pair.writes])
      const { access_token, refresh_token } = pair.response
      return operation === 'refresh_token'
        ? refreshForm(credentials, refresh_token)
        : introspectionForm(credentials, access_token)
    }
    const bodies: string[] = []
    for (let i = 0; i < count; i++) bodies.push(await bodyOf())
    return { path: operation === 'introspection' ? '/oauth/introspect' : '/oauth/token', bodies }
  }

  const listener = gatewayOf((event, context) => {
    now += PAUSE_MS
    return handler(event, context)
  })
  return { listener, use: store.use, prepare }
}

await serveSide(platform)
