import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runJourney } from '#examples/demo/journey.ts'
import { readCommandLine } from '#ops/command.ts'
import { ACCOUNT, type Emulator, REGION, startEmulator } from './emulator.ts'
import { type Front, openFront } from './proxy.ts'
import { installEmulator } from './python.ts'
import { run } from './shell.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const cdk = join(root, 'node_modules', '.bin', 'cdk')
const stage = 'emulator'

const HELP = `npm run test:deploy

Proves that the stack deploys: the real CDK bootstraps and deploys it, unchanged but for its settings, into an emulator of AWS, and
the whole job runs through the API Gateway there, each function with the permissions of its own role and no others.

Needs Python 3: the emulator is installed into .local/venv.`

readCommandLine(HELP, {})

const passed: string[] = []
const failed: string[] = []

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now()
  try {
    const result = await work()
    passed.push(name)
    console.log(`ok    ${name} (${Math.round(performance.now() - started)} ms)`)
    return result
  } catch (error) {
    failed.push(name)
    console.log(`FAIL  ${name}\n${error instanceof Error ? error.message : error}`)
    throw error
  }
}

async function deploy(emulator: Emulator, front: Front): Promise<{ id: string }> {
  const env = {
    ...emulator.env,
    CDK_DEFAULT_ACCOUNT: ACCOUNT,
    CDK_DEFAULT_REGION: REGION,
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    CI: 'true',
  }
  // In the app's directory, a bootstrap would overwrite the synthesized stacks.
  const elsewhere = join(emulator.directory, 'bootstrap')
  await mkdir(elsewhere)
  await step('cdk bootstrap', () =>
    run(cdk, ['bootstrap', `aws://${ACCOUNT}/${REGION}`, '--no-notices'], { cwd: elsewhere, env }),
  )
  const outputs = join(emulator.directory, 'outputs.json')
  const context = [`stage=${stage}`, `baseUrl=${front.baseUrl}`].flatMap((pair) => ['--context', pair])
  const places = ['--output', join(emulator.directory, 'cdk.out'), '--outputs-file', outputs]
  await step('cdk deploy', () =>
    run(cdk, ['deploy', '--all', '--require-approval', 'never', '--no-notices', ...context, ...places], {
      cwd: root,
      env,
    }),
  )
  const stacks: Record<string, Record<string, string>> = JSON.parse(await readFile(outputs, 'utf8'))
  const id = Object.values(stacks).find((values) => values.ApiId !== undefined)?.ApiId
  if (id === undefined) throw new Error('The deployed stacks have no output ApiId')
  return { id }
}

/** Checks that each group's function is reachable and answers in the platform's format. */
async function checkRoutes(baseUrl: string): Promise<void> {
  const expected: Record<string, number> = {
    '/oauth/scopes': 200,
    '/openapi.json': 200,
    '/api/v1/me': 401,
    '/api/v1/dev/me': 401,
    '/console/me': 401,
    '/admin/me': 401,
    '/api/v1/tools/workspace_info/invoke': 405,
    '/api/v1/tools/workspace_info/nothing': 404,
    '/nothing/here': 404,
  }
  for (const [path, status] of Object.entries(expected)) {
    const answer = await fetch(`${baseUrl}${path}`)
    const body = await answer.text()
    if (answer.status !== status)
      throw new Error(`GET ${path} answered ${answer.status} instead of ${status}: ${body.slice(0, 300)}`)
    if (status !== 200 && !/^req_/.test(JSON.parse(body).error?.request_id))
      throw new Error(`GET ${path}: ${body.slice(0, 300)}`)
  }
}

/** Runs the whole job through the deployed gateway and counts each of its steps. */
async function runWholeJob(baseUrl: string): Promise<void> {
  const log = (name: string, detail: string, ms: number): void => {
    passed.push(name)
    console.log(`ok    ${name} (${Math.round(ms)} ms) ${detail}`)
  }
  await step('the whole job', () => runJourney({ baseUrl, adminKey: 'local-admin-key', log }))
}

// Exiting runs the exit handlers, which stop the emulator; the signal alone would not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

let emulator: Emulator | undefined
const front = await openFront()
try {
  const command = await step('install the emulator', () => installEmulator(join(root, '.local', 'venv')))
  emulator = await step('start the emulator', () => startEmulator(command))
  const { id } = await deploy(emulator, front)
  front.pointAt({ ...emulator, id, stage })
  await step('every group is reached', () => checkRoutes(front.baseUrl))
  await runWholeJob(front.baseUrl)
} catch {
  if (emulator !== undefined) console.log(`\nThe emulator's last lines:\n${await emulator.tail(60)}`)
} finally {
  front.close()
  await emulator?.stop()
}
const results = join(root, 'test-results')
await mkdir(results, { recursive: true })
await writeFile(join(results, 'deploy.json'), JSON.stringify({ passed: passed.length, failed: failed.length }))
console.log(`\n${passed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length === 0 && passed.length > 0 ? 0 : 1
