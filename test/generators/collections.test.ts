import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scratchFolder } from '#testkit/scratch.ts'
import { newAgent, sandboxToken } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { servedDocument } from './document.ts'

const PACKAGES = ['openapi-to-postmanv2@6.3.3', 'newman@6.2.2', '@usebruno/cli@4.1.0']
const REQUEST = 'Get the installation behind this token'

const execute = promisify(execFile)
const running = usingLocal()
const place = scratchFolder('collections-')
afterAll(() => place.remove())

let token = ''
beforeAll(async () => {
  writeFileSync(path.join(place.folder, 'package.json'), '{}')
  writeFileSync(path.join(place.folder, 'openapi.json'), servedDocument('integration', running.baseUrl))
  await execute('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES], { cwd: place.folder })
  token = await sandboxToken(running.baseUrl, await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/run' }))
})

/** Runs a command of an installed package. */
const command = (file: string, args: string[], cwd = place.folder) =>
  execute(process.execPath, [path.join(place.folder, 'node_modules', file), ...args], { cwd, maxBuffer: 1 << 26 })

const read = (file: string): string => readFileSync(path.join(place.folder, file), 'utf8')

interface Item {
  name: string
  item?: Item[]
  request?: { auth?: { type: string; oauth2?: { key: string; value: string }[] }; header?: { key: string }[] }
}

const requestsIn = ({ item = [] }: { item?: Item[] }): Item[] =>
  item.flatMap((one) => (one.request ? [one] : requestsIn(one)))

it('Postman imports the document with an OAuth flow that works, and newman calls the API with the collection', async () => {
  await command('openapi-to-postmanv2/bin/openapi2postmanv2.js', ['-s', 'openapi.json', '-o', 'postman.json'])
  const collection = JSON.parse(read('postman.json'))
  const request = requestsIn(collection).find(({ name }) => name === REQUEST)?.request
  const oauth = Object.fromEntries((request?.auth?.oauth2 ?? []).map(({ key, value }) => [key, value]))
  expect(oauth).toMatchObject({
    authUrl: `${running.baseUrl}/connect/authorize`,
    accessTokenUrl: `${running.baseUrl}/connect/token`,
  })
  // Postman stores the token like this after "Get New Access Token".
  request?.auth?.oauth2?.push({ key: 'accessToken', value: token }, { key: 'addTokenTo', value: 'header' })
  writeFileSync(path.join(place.folder, 'postman.json'), JSON.stringify(collection))
  const reported = ['-r', 'json', '--reporter-json-export', 'report.json']
  await command('newman/bin/newman.js', ['run', 'postman.json', '--folder', REQUEST, ...reported])
  const [{ response }] = JSON.parse(read('report.json')).run.executions
  expect(response.code).toBe(200)
  expect(JSON.parse(Buffer.from(response.stream.data).toString()).installation.status).toBe('active')
})

it('Bruno imports the document, sends no key that is the same in every request, and calls the API', async () => {
  await command('@usebruno/cli/bin/bru.js', ['import', 'openapi', '-s', 'openapi.json', '-o', '.', '-n', 'bruno'])
  const folder = path.join(place.folder, 'bruno')
  const file = path.join('Integration_API', `${REQUEST}.yml`)
  const imported = read(path.join('bruno', file))
  expect(imported).toContain(`accessTokenUrl: ${running.baseUrl}/connect/token`)
  for (const name of readdirSync(path.join(folder, 'Integration_API'))) {
    expect(read(path.join('bruno/Integration_API', name)), name).not.toMatch(/Idempotency-Key\s+value: "?\w/)
  }
  // Its command line has no browser to sign in with.
  const bearer = `auth:\n    type: bearer\n    token: ${token}\n`
  writeFileSync(path.join(folder, file), imported.replace(/auth:\n(?: {4}.*\n)+/, bearer))
  const output = ['--format', 'json', '--output', 'report.json']
  await command('@usebruno/cli/bin/bru.js', ['run', file, '--env', 'This platform', ...output], folder)
  const [{ results }] = JSON.parse(read('bruno/report.json'))
  expect(results[0].response).toMatchObject({ status: 200, data: { installation: { status: 'active' } } })
})
