import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { blocksOf } from './guide-blocks.ts'
import { pythonClients } from './python.ts'
import { type Agent, consent, newAgent, send } from './support.ts'
import { usingLocal } from './using-local.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'
const run = promisify(execFile)
const found = await pythonClients()

const running = usingLocal()
let agent: Agent
beforeAll(async () => {
  agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/never', redirectUri: REDIRECT })
})

/** Programs in TypeScript and Python. test/generators/java.test.ts runs the one in Java. */
const programs = blocksOf('oauth-recipes').filter(
  ({ language, code }) => ['ts', 'python'].includes(language) && code.includes('finish'),
)
const program = (word: string): string => programs.find(({ code }) => code.includes(word))?.code ?? ''

const env = () => ({
  PATH: process.env.PATH,
  PLATFORM_URL: running.baseUrl,
  CLIENT_ID: agent.app.client_id,
  CLIENT_SECRET: agent.app.client_secret,
  // The libraries refuse plain HTTP otherwise.
  AUTHLIB_INSECURE_TRANSPORT: '1',
  OAUTHLIB_INSECURE_TRANSPORT: '1',
})

interface Kept {
  url: string
}

/** Plays the customer between the recipe's two functions, and checks the tokens. */
const connects = async (begin: () => Promise<Kept>, finish: (address: string, kept: Kept) => Promise<unknown>) => {
  const kept = await begin()
  const address = await consent(running.baseUrl, new URL(kept.url), agent.sandboxId)
  const tokens = (await finish(address.href, kept)) as { access_token: string }
  expect(tokens).toMatchObject({ access_token: expect.stringMatching(/^eyJ/), expires_in: 7_200 })
  expect(await send(running.baseUrl, 'GET', '/api/v1/me', { token: tokens.access_token })).toMatchObject({
    status: 200,
    body: { workspace: { id: agent.sandboxId } },
  })
}

it('the guide has three recipes in TypeScript and Python', () => expect(programs).toHaveLength(3))

it('the recipe for openid-client connects a customer', async () => {
  const file = path.join(ROOT, 'node_modules/.cache/guide-openid-client.mjs')
  const insecure = ', { execute: [client.allowInsecureRequests] })'
  const code = program('openid-client').replace(/(ClientSecretBasic\([^)]*\)),\n {2}\)/, `$1${insecure}`)
  expect(code).toContain(insecure)
  writeFileSync(
    file,
    `${code}
const [step, ...given] = process.argv.slice(2)
const result = step === 'begin' ? begin(given[0]) : finish(given[0], JSON.parse(given[1]))
console.log(JSON.stringify(await result))`,
  )
  const call = async (...args: string[]) =>
    JSON.parse((await run(process.execPath, [file, ...args], { env: env() })).stdout)
  await connects(
    () => call('begin', REDIRECT),
    (address, kept) => call('finish', address, JSON.stringify(kept)),
  )
})

describe.skipIf('missing' in found)('in Python', () => {
  it.each(['authlib', 'requests_oauthlib'])('the recipe for %s connects a customer', async (library) => {
    const { python } = found as { python: string }
    const code = `${program(`from ${library}`)}
import json, sys
given = json.loads(sys.argv[1])
print(json.dumps(begin(*given) if len(given) == 1 else finish(*given)))`
    const call = async (...args: unknown[]) =>
      JSON.parse((await run(python, ['-c', code, JSON.stringify(args)], { env: env() })).stdout)
    await connects(
      () => call(REDIRECT),
      (address, kept) => call(REDIRECT, address, kept),
    )
  })
})
