import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { findRunning, type RunningPlatform } from './data-dir.ts'
import { functionEnvironment } from './environment.ts'
import { createFunctions, type InvokeResult } from './functions.ts'
import { formatEntry } from './logs.ts'
import { startPlatform } from './platform.ts'
import { BUNDLES, prepare, ROOT } from './prepare.ts'
import { socketAddresses } from './sockets.ts'
import { OBJECTS_PATH } from './stand-ins.ts'
import { readTemplate } from './template.ts'

const USAGE = `npm run invoke -- <Function> <events/…/case.json>

Invokes a function's built bundle with a recorded event, against the running local platform or else one just for this
call, and prints its result. Name the function by its folder or by its logical id in the template.`

const onLine = ({ functionName, line }: { functionName: string; line: string }) => {
  const text = formatEntry({ kind: 'function', at: new Date(), functionName, line }, false)
  if (text) process.stderr.write(`${text}\n`)
}

/** Runs the function in a thread of this process, with the addresses of the running platform. */
const invokeRunning = async (running: RunningPlatform, cdkOut: string, name: string, event: unknown) => {
  const { endpoints, baseUrl } = running
  const model = readTemplate({ cdkOut, bundles: BUNDLES, addresses: { aws: endpoints.sqs } })
  const functions = createFunctions({
    models: model.functions,
    environment: (fn) =>
      functionEnvironment(fn, {
        endpoints,
        baseUrl,
        objectsUrl: baseUrl + OBJECTS_PATH,
        deployedUrl: model.api?.url,
        sockets: socketAddresses(model, baseUrl),
        shell: process.env,
        overrides: {},
      }),
    onLine,
  })
  return { result: await functions.invoke(name, event), end: functions.stop }
}

const invokeAlone = async (cdkOut: string, name: string, event: unknown) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'platform-invoke-'))
  const platform = await startPlatform({ dataDir, cdkOut, bundles: BUNDLES, startSources: false, shell: process.env })
  platform.onLog((entry) => {
    if (entry.kind === 'function') onLine(entry)
  })
  const end = async () => {
    await platform.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    return { result: await platform.invoke(name, event), end }
  } catch (error) {
    await end()
    throw error
  }
}

const render = async (result: InvokeResult): Promise<string> => {
  if (result.kind === 'stream') return (await buffer(result.body)).toString('utf8').replace('\0'.repeat(8), '\n\n')
  return JSON.stringify(result.kind === 'value' ? result.value : result.error, null, 2)
}

const main = async (): Promise<number> => {
  const [name, file] = process.argv.slice(2)
  if (name === '--help') {
    console.log(USAGE)
    return 0
  }
  if (!name || !file) {
    console.error(USAGE)
    return 2
  }
  const event: unknown = JSON.parse(await readFile(path.resolve(process.env.INIT_CWD ?? process.cwd(), file), 'utf8'))
  const dataDir = path.resolve(ROOT, process.env.DATA_DIR || '.local')
  const cdkOut = path.join(dataDir, 'cdk.out')
  await prepare({ cdkOut })
  const running = await findRunning(dataDir)
  const { result, end } = running
    ? await invokeRunning(running, cdkOut, name, event)
    : await invokeAlone(cdkOut, name, event)
  console.log(await render(result))
  await end()
  return result.kind === 'error' ? 1 : 0
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  },
)
