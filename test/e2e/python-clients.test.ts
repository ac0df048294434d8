import { beforeAll, describe, expect, it } from 'vitest'
import { pythonClients, runScript } from './python.ts'
import { type Agent, consent, newAgent, send } from './support.ts'
import { usingLocal } from './using-local.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'
const SCOPE = 'runs:write webhooks:manage'

const found = await pythonClients()
const missing = 'missing' in found ? ` (not run: ${found.missing})` : ''
if (missing) process.stderr.write(`Python’s OAuth clients${missing}\n`)

describe.skipIf(missing !== '')(`Python’s OAuth clients${missing}`, () => {
  const { python } = found as { python: string }
  const running = usingLocal()
  let agent: Agent
  beforeAll(async () => {
    agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/never', redirectUri: REDIRECT })
  })

  const play = (script: string) => {
    const { client_id, client_secret } = agent.app
    const given = { base_url: running.baseUrl, client_id, client_secret, redirect_uri: REDIRECT }
    return runScript(python, script, given, (url) => consent(running.baseUrl, url, agent.sandboxId))
  }
  const pair = (scope: string) => ({
    access_token: expect.stringMatching(/^eyJ/),
    refresh_token: expect.stringMatching(/^rft_/),
    token_type: 'Bearer',
    expires_in: 7_200,
    scope,
    installation_id: expect.stringMatching(/^ins_/),
    workspace_id: agent.sandboxId,
  })
  const worksNow = async (token: unknown) =>
    (await send(running.baseUrl, 'GET', '/api/v1/me', { token: String(token) })).status

  it('Authlib reads the metadata, gets tokens by code and PKCE, refreshes automatically, introspects and revokes', async () => {
    const seen = await play('authlib_client.py')
    expect(seen).toMatchObject({
      issuer: running.baseUrl,
      token: pair(SCOPE),
      me: [200, 'access'],
      refreshed: pair(SCOPE),
      after_expiry: 200,
      updates: 1,
      automatic: pair(SCOPE),
      introspected: { active: true, client_id: agent.app.client_id, scope: SCOPE, token_type: 'Bearer' },
      rotated: { active: false },
      revoked: 200,
      after_revocation: { active: false },
      // Authlib passes on the value of `error`, which here is the platform's object.
      errors: {
        wrong_verifier: { code: 'invalid_grant', message: expect.stringContaining('code_verifier') },
        wrong_secret: { code: 'invalid_client' },
        basic_only: { code: 'invalid_client', fix: expect.stringContaining('body fields') },
        reused: { code: 'invalid_grant' },
      },
    })
    const { token, refreshed, automatic } = seen as Record<string, { refresh_token: string; access_token: string }>
    expect(new Set([token, refreshed, automatic].map((one) => one?.refresh_token)).size).toBe(3)
    expect(await worksNow(automatic?.access_token)).toBe(401)
  })

  it('requests-oauthlib gets tokens by code and PKCE, and refreshes automatically', async () => {
    const seen = await play('requests_oauthlib_client.py')
    const scope = SCOPE.split(' ')
    const own = { ...pair(SCOPE), scope }
    expect(seen).toMatchObject({ token: own, me: 200, refreshed: own, after_expiry: 200, updates: [own] })
    const [state, back] = seen.state as [string, string]
    expect(new URL(back).searchParams.get('state')).toBe(state)
    const [last] = seen.updates as { refresh_token: string; access_token: string }[]
    expect(last?.refresh_token).not.toBe((seen.refreshed as { refresh_token: string }).refresh_token)
    expect(await worksNow(last?.access_token)).toBe(200)
  })
})
