import { spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { consent, newAgent } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from './environment.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'
const PACKAGES = ['httpx==0.28.1', 'authlib==1.9.9', 'requests-oauthlib==2.0.0', 'requests==2.34.2']

const running = usingLocal()
let python = ''
removingEnvironments()
beforeAll(async () => {
  python = (await environmentOf('oauth', PACKAGES)).python
})

describe.each([
  ['authlib', 'OAuthError'],
  ['requests-oauthlib', 'InvalidGrantError'],
])('%s in its default settings', (library, typed) => {
  it('installs at /connect, refreshes, introspects, revokes with effect, and gets a typed invalid_grant', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/run', redirectUri: REDIRECT })
    const { client_id, client_secret } = agent.app
    const program = path.join(ROOT, 'test/python/oauth.py')
    const child = spawn(python, [program, library, running.baseUrl, client_id, client_secret, REDIRECT], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let errors = ''
    child.stderr.on('data', (piece) => (errors += piece))
    const told: Record<string, unknown> = {}
    for await (const line of createInterface({ input: child.stdout })) {
      const { authorize, ...seen } = JSON.parse(line)
      Object.assign(told, seen)
      if (authorize === undefined) continue
      const back = await consent(running.baseUrl, new URL(authorize), agent.sandboxId)
      child.stdin.write(`${back}\n`)
    }
    expect(told, errors).toEqual({
      installed: 200,
      scope: 'runs:write',
      refreshed: 200,
      rotated: true,
      active: true,
      client_id: true,
      revoked: 200,
      afterwards: 401,
      error: 'invalid_grant',
      typed,
    })
  })
})
