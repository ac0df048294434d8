import { deepStrictEqual } from 'node:assert'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { type Further, runJourney } from '#examples/demo/journey.ts'
import { readCommandLine } from '#ops/command.ts'
import type { ClientJourney } from '#ops/prove/client-journey.ts'
import { prove } from '#ops/prove/proof.ts'
import { ProvedStage } from '#ops/prove/stage.ts'
import { proofSteps } from '#ops/prove/steps.ts'
import { stackOutputs } from '#ops/stage.ts'
import { headersOfEdge } from './edge.ts'
import { ACCOUNT, type Emulator, REGION, startEmulator } from './emulator.ts'
import { type Front, openFront } from './proxy.ts'
import { installEmulator } from './python.ts'
import { recordedStream, streamOf } from './run-stream.ts'
import { run } from './shell.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const cdk = join(root, 'node_modules', '.bin', 'cdk')
const stage = 'emulator'

const HELP = `npm run test:deploy

Proves that the stack deploys: the real CDK bootstraps and deploys it, unchanged but for its settings, into an emulator of AWS, and
the steps of npm run prove follow, as far as the emulator has them: the whole job through the API Gateway there, each function with
the permissions of its own role and no others, a second version, a rotated key, a restored table, and the end of it all.

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

async function bootstrap(emulator: Emulator, env: NodeJS.ProcessEnv): Promise<void> {
  // In the app's directory, a bootstrap would overwrite the synthesized stacks.
  const elsewhere = join(emulator.directory, 'bootstrap')
  await mkdir(elsewhere)
  await step('cdk bootstrap', () =>
    run(cdk, ['bootstrap', `aws://${ACCOUNT}/${REGION}`, '--no-notices'], { cwd: elsewhere, env }),
  )
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

/** Checks that the API refuses what doesn't come from the edge. */
async function checkRefusal(baseUrl: string): Promise<void> {
  const { status } = await fetch(`${baseUrl}/openapi.json`, { headers: { 'x-api-key': 'guessed' } })
  if (status !== 403) throw new Error(`A request past the edge was answered with ${status}`)
}

const STREAM = 'A run writes the recorded items'

/** Checks that a run writes the same items here as in the tests and benchmarks (test/e2e/run-stream.test.ts). */
const checkStream =
  ({ endpoint, env }: Emulator) =>
  async (call: Further): Promise<void> => {
    const stream = await streamOf({ dynamodb: endpoint.origin, environment: env }, call)
    deepStrictEqual(stream, recordedStream())
    passed.push(STREAM)
  }

/** Points the front at the deployed API, and runs the whole job through it. The emulator can't stream, as a local listener needs. */
const journeyThrough =
  (emulator: Emulator, front: Front) =>
  async (baseUrl: string): Promise<ClientJourney> => {
    const service = `Platform-${stage}-Service`
    const { ApiId } = await stackOutputs(service, ['ApiId'])
    const api = { ...emulator, id: ApiId, stage }
    front.pointAt({ ...api, headers: {} })
    await checkRefusal(baseUrl)
    front.pointAt({ ...api, headers: await headersOfEdge(emulator, service) })
    await checkRoutes(baseUrl)
    let steps = 0
    const log = (name: string, detail: string, ms: number): void => {
      steps++
      passed.push(name)
      console.log(`ok    ${name} (${Math.round(ms)} ms) ${detail}`)
    }
    const isCompared = passed.includes(STREAM)
    const { appId, tokens } = await runJourney({
      baseUrl,
      adminKey: 'local-admin-key',
      log,
      // Later, the stage has the table that was restored as well.
      ...(!isCompared && { further: checkStream(emulator) }),
    })
    const requireAccess = async () => {
      const headers = { authorization: `Bearer ${tokens.access_token}` }
      const { status } = await fetch(`${baseUrl}/api/v1/me`, { headers })
      if (status !== 200) throw new Error(`The token from before gets ${status}`)
    }
    return { seen: `every group is reached, and the whole job works in ${steps} steps`, appId, requireAccess }
  }

/** Lets this process's SDK clients reach the emulator, and nothing else. */
function connect({ env, certificate }: Emulator): void {
  for (const [name, value] of Object.entries(env)) if (name.startsWith('AWS_')) process.env[name] = value
  setDefaultCACertificates([...getCACertificates(), certificate])
}

// Exiting runs the exit handlers, which stop the emulator; the signal alone would not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

let emulator: Emulator | undefined
const front = await openFront()
try {
  const command = await step('install the emulator', () => installEmulator(join(root, '.local', 'venv')))
  emulator = await step('start the emulator', () => startEmulator(command))
  connect(emulator)
  const env = {
    ...emulator.env,
    CDK_DEFAULT_ACCOUNT: ACCOUNT,
    CDK_DEFAULT_REGION: REGION,
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    CI: 'true',
  }
  await bootstrap(emulator, env)
  const proved = new ProvedStage({ context: { stage, baseUrl: front.baseUrl }, env, folder: emulator.directory })
  if (!existsSync(join(root, 'dist', 'functions'))) await step('build', () => proved.build())
  const proven = await prove(
    proofSteps({
      stage: proved,
      preflight: undefined,
      journey: journeyThrough(emulator, front),
      canaries: false,
      waitForKeys: false,
      // The emulator runs every function in processes of this machine, while it deploys.
      answersWithin: 300_000,
      keep: false,
    }),
    {
      now: () => performance.now(),
      onStep: ({ step: name, outcome, seconds, seen }) => {
        if (outcome === 'done') passed.push(name)
        if (outcome === 'failed') failed.push(name)
        const sign = { done: 'ok   ', failed: 'FAIL ', 'not tried': '–    ' }[outcome]
        console.log(`${sign} ${name} (${seconds.toFixed(1)} s): ${seen}`)
      },
    },
  )
  if (failed.length > 0) throw new Error(`${proven.length} steps`)
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
