import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { consent, must, newAgent } from '../e2e/support.ts'
import { usingOwnLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from './environment.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'

let environment: Awaited<ReturnType<typeof environmentOf>>
removingEnvironments()
beforeAll(async () => {
  environment = await environmentOf('assertions', ['authlib==1.9.9', 'requests==2.34.2', 'httpx==0.28.1'])
})

/** Runs Authlib as an app with a key, and returns what it saw. */
const seenAt = async (baseUrl: string): Promise<Record<string, unknown>> => {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const key = path.join(environment.folder, 'key.pem')
  writeFileSync(key, await exportPKCS8(privateKey))
  const agent = await newAgent(baseUrl, { endpoint: 'http://127.0.0.1:9/run', redirectUri: REDIRECT })
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig' }] }
  await must(baseUrl, 'PATCH', `/api/v1/dev/apps/${agent.app.id}`, { headers: agent.headers, body: { jwks } })
  const program = path.join(ROOT, 'test/python/assertions.py')
  const child = spawn(environment.python, [program, baseUrl, agent.app.client_id, key, REDIRECT])
  let errors = ''
  child.stderr.on('data', (piece) => (errors += piece))
  const seen: Record<string, unknown> = {}
  for await (const line of createInterface({ input: child.stdout })) {
    const { authorize, ...told } = JSON.parse(line)
    Object.assign(seen, told)
    if (authorize === undefined) continue
    child.stdin.write(`${await consent(baseUrl, new URL(authorize), agent.sandboxId)}\n`)
  }
  expect(seen, errors).toHaveProperty('revoked')
  return seen
}

const WITH_ISSUER = { issuer: 'Bearer', rotated: true, active: true, revoked: 200 }

describe('Authlib in its default settings', () => {
  const running = usingOwnLocal()
  it('is refused with a fix that names the issuer, and with that authenticates at every endpoint (RFC 10070)', async () => {
    expect(await seenAt(running.baseUrl)).toEqual({ ...WITH_ISSUER, default: 'invalid_client', says_issuer: true })
  })
})

describe('Authlib where the operator allows the token endpoint’s address for a transition', () => {
  const running = usingOwnLocal(() => ({ env: { APP_ENDPOINT_AUDIENCE: 'true' } }))
  it('authenticates in its default settings, too', async () => {
    expect(await seenAt(running.baseUrl)).toEqual({ ...WITH_ISSUER, default: 'Bearer' })
  })
})
