import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { ROOT } from '#local/prepare.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { blocksOf } from '../e2e/guide-blocks.ts'
import { consent, must, newAgent, until } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'

const running = usingLocal()
const place = scratchFolder('java-')
afterAll(() => place.remove())

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Imports that the guide leaves out. */
const IMPORTS = [
  'org.springframework.security.oauth2.client.OAuth2AuthorizedClient',
  'org.springframework.security.oauth2.client.annotation.RegisteredOAuth2AuthorizedClient',
  'org.springframework.web.bind.annotation.*',
  'org.springframework.web.client.RestClient',
  'com.nimbusds.jose.jwk.JWK',
  'java.util.List',
  'org.springframework.security.oauth2.client.endpoint.*',
]

/** Puts the guide's recipe next to the test's program. */
const writeRecipe = (folder: string): void => {
  const recipe = (language: string) =>
    blocksOf('oauth-recipes')
      .filter((block) => block.language === language)
      .map(({ code }) => code)
      .join('\n')
  const head = ['package example;', ...IMPORTS.map((name) => `import ${name};`)].join('\n')
  mkdirSync(path.join(folder, 'src/main/resources'))
  writeFileSync(path.join(folder, 'src/main/resources/application.properties'), recipe('properties'))
  writeFileSync(path.join(folder, 'src/main/java/example/Connected.java'), `${head}\n${recipe('java')}\n`)
  expect(readFileSync(path.join(folder, 'pom.xml'), 'utf8').replaceAll(/\s/g, '')).toContain(
    recipe('xml').replaceAll(/\s/g, ''),
  )
}

it('Spring Security in its default settings installs at /connect, refreshes, introspects, and gets a typed invalid_grant', async () => {
  cpSync(path.join(ROOT, 'test/generators/java'), place.folder, { recursive: true })
  writeRecipe(place.folder)
  await promisify(execFile)('mvn', ['--batch-mode', '--quiet', 'package'], { cwd: place.folder })
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const redirectUri = `${address}/authorize/oauth2/code/platform`
  const agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/run', redirectUri })
  const jar = path.join(place.folder, 'target/oauth.jar')
  const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } = agent.app
  const child = spawn('java', ['-jar', jar, '--server.address=127.0.0.1', `--server.port=${port}`], {
    env: { ...process.env, PLATFORM_URL: running.baseUrl, CLIENT_ID, CLIENT_SECRET },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += piece))
  try {
    await until(() => {
      if (child.exitCode !== null) throw new Error(output)
      return fetch(`${address}/up`).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      )
    }, 300_000)
    const begun = await fetch(`${address}/connected`, { redirect: 'manual' })
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
    const back = await consent(running.baseUrl, new URL(begun.headers.get('location') ?? ''), agent.sandboxId)
    // Spring exchanges the code, and then sends the customer where they came from.
    const exchanged = await fetch(back, { headers: { cookie }, redirect: 'manual' })
    expect(exchanged.headers.get('location'), output).toContain('/connected')
    const ask = async (to: string) => (await fetch(address + to, { headers: { cookie }, redirect: 'manual' })).json()
    expect(await ask('/connected'), output).toMatchObject({ workspace: { id: agent.sandboxId } })
    expect(await ask('/seen'), output).toEqual({
      installed: 200,
      scope: 'runs:write webhooks:manage',
      refreshed: 200,
      rotated: true,
      active: true,
      client_id: true,
      revoked: 200,
      afterwards: 401,
      error: 'invalid_grant',
      typed: 'ClientAuthorizationException',
    })
    const { jwk, plain, issuer } = (await ask('/assertions')) as { jwk: object; plain: string; issuer: string }
    const jwks = { keys: [jwk] }
    await must(running.baseUrl, 'PATCH', `/api/v1/dev/apps/${agent.app.id}`, { headers: agent.headers, body: { jwks } })
    const statusOf = async (client_assertion: string) => {
      const body = new URLSearchParams({ token: 'x', client_assertion, client_assertion_type: ASSERTION_TYPE })
      return (await fetch(`${running.baseUrl}/connect/introspect`, { method: 'POST', body })).status
    }
    // Spring addresses the token endpoint, unless it is told to address the issuer (RFC 10070).
    expect([await statusOf(plain), await statusOf(issuer)]).toEqual([401, 200])
  } finally {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  }
})
