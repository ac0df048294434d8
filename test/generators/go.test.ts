import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { consent, newAgent } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { servedDocument } from './document.ts'

const run = promisify(execFile)
const running = usingLocal()
const place = scratchFolder('go-')
afterAll(() => place.remove())

const GENERATOR = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'

/** Parameters of webhooks are used by no path, so they would be left out. */
const CONFIG = `package: client
generate: { models: true, client: true }
output: client.go
output-options: { skip-prune: true }
`

const moduleIn = (name: string): string => {
  const folder = path.join(place.folder, name)
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'go.mod'), `module example.com/${name}\n\ngo 1.24\n`)
  return folder
}
const go = (cwd: string, ...args: string[]) => run('go', args, { cwd, env: { ...process.env, GOFLAGS: '-mod=mod' } })

it('oapi-codegen writes a client that compiles', async () => {
  const folder = moduleIn('client')
  writeFileSync(path.join(folder, 'openapi.json'), servedDocument('integration', running.baseUrl))
  writeFileSync(path.join(folder, 'config.yaml'), CONFIG)
  await go(folder, 'run', GENERATOR, '-config', 'config.yaml', 'openapi.json')
  await go(folder, 'get', './...')
  await go(folder, 'build', './...')
})

it('golang.org/x/oauth2 in its default settings installs at /connect, refreshes, and gets a typed invalid_grant', async () => {
  const folder = moduleIn('oauth')
  cpSync(path.join(ROOT, 'test/generators/go/oauth.go'), path.join(folder, 'main.go'))
  await go(folder, 'get', 'golang.org/x/oauth2@v0.37.0')
  await go(folder, 'build', '-o', 'oauth', '.')
  const redirect = 'http://127.0.0.1:9/callback'
  const agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/run', redirectUri: redirect })
  const { client_id, client_secret } = agent.app
  const child = spawn(path.join(folder, 'oauth'), [running.baseUrl, client_id, client_secret, redirect], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const told: Record<string, unknown> = {}
  for await (const line of createInterface({ input: child.stdout })) {
    const { authorize, ...seen } = JSON.parse(line)
    Object.assign(told, seen)
    if (authorize === undefined) continue
    const back = await consent(running.baseUrl, new URL(authorize), agent.sandboxId)
    child.stdin.write(`${back.searchParams.get('code')}\n`)
  }
  expect(told).toEqual({
    installed: 200,
    refreshed: 200,
    rotated: true,
    active: true,
    client_id: true,
    revoked: 200,
    afterwards: 401,
    error: 'invalid_grant',
  })
})
