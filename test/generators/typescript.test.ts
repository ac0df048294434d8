import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scratchFolder } from '#testkit/scratch.ts'
import { blocksOf } from '../e2e/guide-blocks.ts'
import { newAgent, sandboxToken } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { servedDocument } from './document.ts'

const PACKAGES = [
  '@hey-api/openapi-ts@0.99.0',
  'orval@8.38.0',
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  'typescript@5.9.3',
]

/** The upload as the guide has it. */
const UPLOAD = blocksOf('client-libraries').find(({ code }) => code.includes('uploadContent'))?.code ?? ''

const execute = promisify(execFile)
const running = usingLocal()
const place = scratchFolder('typescript-')
afterAll(() => place.remove())

let token = ''
beforeAll(async () => {
  writeFileSync(path.join(place.folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(path.join(place.folder, 'openapi.json'), servedDocument('integration', running.baseUrl))
  await execute('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES], { cwd: place.folder })
  const scopes = ['files:read', 'files:write']
  const agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/run', scopes })
  token = await sandboxToken(running.baseUrl, agent)
})

/** Generates a client with a command of the installed packages. */
const generate = (command: string, ...args: string[]) =>
  execute(process.execPath, [path.join(place.folder, 'node_modules', command), ...args], {
    cwd: place.folder,
    maxBuffer: 1 << 26,
  })

/** Type-checks a program next to the generated client, runs it with the address and the token, and returns what it prints. */
const told = async (name: string, code: string): Promise<string> => {
  const file = path.join(place.folder, `${name}.ts`)
  const head = 'declare const process: { argv: string[] }\nconst [, , baseUrl = "", token = ""] = process.argv\n'
  writeFileSync(file, `${code.replace(/(?<=^import .*\n)(?!import)/m, head)}`)
  const flags = '--noEmit --strict --skipLibCheck --target es2023 --lib es2023,dom,dom.iterable --module esnext'
  await generate('typescript/bin/tsc', ...flags.split(' '), '--moduleResolution', 'bundler', file)
  const outfile = path.join(place.folder, `${name}.mjs`)
  await build({ entryPoints: [file], bundle: true, format: 'esm', platform: 'node', outfile })
  return (await execute(process.execPath, [outfile, running.baseUrl, token])).stdout.trim()
}

it('@hey-api/openapi-ts compiles, calls the API, and does both steps of an upload', async () => {
  await generate('@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'hey')
  const code = `import { apiFilesCreate, apiFilesRead, apiMeRead, uploadContent, type UploadContentData } from './hey'
import { client } from './hey/client.gen'
client.setConfig({ baseUrl, auth: token })
const { data } = await apiMeRead({ throwOnError: true })
${UPLOAD}
const { data: stored } = await apiFilesRead({ path: { id: created.id }, throwOnError: true })
console.log(data.installation.status, stored.status, await (await fetch(stored.download_url ?? '')).text())
`
  expect(await told('hey-call', code)).toBe('active ready name,phone')
})

it('orval compiles and calls the API', async () => {
  const config = {
    input: './openapi.json',
    output: { target: './orval.ts', client: 'fetch', baseUrl: running.baseUrl },
  }
  writeFileSync(path.join(place.folder, 'orval.config.mjs'), `export default { platform: ${JSON.stringify(config)} }`)
  await generate('orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs')
  const code = `import { apiMeRead } from './orval'
void baseUrl
const me = await apiMeRead({ headers: { authorization: \`Bearer \${token}\` } })
if (me.status === 200) console.log(me.data.installation.status)
`
  expect(await told('orval-call', code)).toBe('active')
})

it('openapi-typescript with openapi-fetch compiles and calls the API', async () => {
  await generate('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'paths.ts')
  const code = `import createClient from 'openapi-fetch'
import type { paths } from './paths'
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } })
const { data } = await client.GET('/api/v1/me')
console.log(data?.installation.status)
`
  expect(await told('fetch-call', code)).toBe('active')
})
