import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { newAgent, sandboxToken } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from '../python/environment.ts'
import { servedDocument } from './document.ts'
import { needing } from './needing.ts'

const GENERATOR = 'org.openapitools:openapi-generator-cli:7.25.0'
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'
const EXECUTE = 'org.codehaus.mojo:exec-maven-plugin:3.5.0:java'

/** No tests and no pages for each model. */
const MODELS_ONLY = ['apiTests=false', 'modelTests=false', 'apiDocs=false', 'modelDocs=false'].join()

const execute = promisify(execFile)
const running = usingLocal()
const place = scratchFolder('openapi-generator-')
removingEnvironments()
afterAll(() => place.remove())

let token = ''
beforeAll(async () => {
  await execute('mvn', [
    '--batch-mode',
    '--quiet',
    COPY,
    `-Dartifact=${GENERATOR}`,
    `-DoutputDirectory=${place.folder}`,
  ])
  token = await sandboxToken(running.baseUrl, await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/run' }))
})

/** Generates a client in a folder of its own, next to the program that calls the API with it. */
const generated = async (
  language: string,
  { options = [], hasWebhooks = true }: { options?: string[]; hasWebhooks?: boolean } = {},
): Promise<string> => {
  const folder = path.join(place.folder, language)
  mkdirSync(folder)
  const { webhooks, ...rest } = JSON.parse(servedDocument('integration', running.baseUrl))
  writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify({ ...rest, ...(hasWebhooks && { webhooks }) }))
  const jar = path.join(place.folder, `${GENERATOR.split(':').slice(1).join('-')}.jar`)
  const into = ['-g', language, '-i', 'openapi.json', '-o', 'client', '--global-property', MODELS_ONLY]
  await execute('java', ['-jar', jar, 'generate', ...into, ...options], { cwd: folder, maxBuffer: 1 << 26 })
  const program = path.join(ROOT, 'test/generators/openapi-generator', language)
  if (existsSync(program)) cpSync(program, folder, { recursive: true })
  return folder
}

/** Runs a program with the address and the token, and returns what it says about its installation. */
const told = async (file: string, args: string[], cwd: string, env = {}): Promise<string> =>
  stripVTControlCharacters(
    (await execute(file, args, { cwd, env: { ...process.env, ...env }, maxBuffer: 1 << 26 })).stdout,
  ).trim()

needing('java', 'typescript-fetch of openapi-generator compiles and calls the API', async () => {
  const folder = await generated('typescript-fetch')
  writeFileSync(
    path.join(folder, 'call.ts'),
    `import { Configuration, IntegrationAPIApi } from './client'
declare const process: { argv: string[] }
const [, , basePath = '', token = ''] = process.argv
const me = await new IntegrationAPIApi(new Configuration({ basePath, accessToken: \`Bearer \${token}\` })).apiMeRead()
console.log(me.installation.status)
`,
  )
  const flags =
    '--noEmit --strict --target es2023 --lib es2023,dom,dom.iterable --module esnext --moduleResolution bundler'
  await execute('tsc', [...flags.split(' '), 'call.ts'], { cwd: folder })
  const outfile = path.join(folder, 'call.mjs')
  await build({ entryPoints: [path.join(folder, 'call.ts')], bundle: true, format: 'esm', outfile })
  expect(await told(process.execPath, [outfile, running.baseUrl, token], folder)).toBe('active')
})

needing(
  'python3',
  'python of openapi-generator compiles and calls the API, if the document has no webhooks',
  async () => {
    const folder = await generated('python', { hasWebhooks: false })
    const { python, pip } = await environmentOf('openapi-generator')
    await pip('install', path.join(folder, 'client'))
    expect(await told(python, ['call.py', running.baseUrl, token], folder)).toBe('active')
  },
)

needing('mvn', 'java of openapi-generator compiles and calls the API', async () => {
  const folder = await generated('java', { options: ['--library', 'native'] })
  const client = path.join(folder, 'client')
  cpSync(path.join(folder, 'Call.java'), path.join(client, 'src/main/java/Call.java'))
  const quiet = ['--batch-mode', '--quiet', 'compile', EXECUTE]
  const args = ['-Dexec.mainClass=Call', `-Dexec.args=${running.baseUrl} ${token}`]
  expect(await told('mvn', [...quiet, ...args], client)).toBe('active')
})

needing('go', 'go of openapi-generator compiles and calls the API with prefixed names of enums', async () => {
  const properties = 'enumClassPrefix=true,packageName=client,withGoMod=false'
  const folder = await generated('go', { options: ['--additional-properties', properties] })
  const env = { GOFLAGS: '-mod=mod' }
  writeFileSync(path.join(folder, 'go.mod'), 'module example.com/call\n\ngo 1.24\n')
  await told('go', ['mod', 'tidy'], folder, env)
  expect(await told('go', ['run', '.', running.baseUrl, token], folder, env)).toBe('active')
})

needing('cargo', 'rust of openapi-generator compiles and calls the API', async () => {
  const folder = await generated('rust')
  expect(await told('cargo', ['run', '--quiet', '--', running.baseUrl, token], folder)).toBe('active')
})
