import { createServer } from 'node:net'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { openDatabase } from './aws/database.ts'
import { banner } from './banner.ts'
import { wipe } from './data-dir.ts'
import { createPrinter } from './logs.ts'
import { startPlatform } from './platform.ts'
import { BUNDLES, prepare, ROOT } from './prepare.ts'
import { upgradeData } from './upgrade.ts'

const HELP = `npm start -- [--fresh] [--watch] [--json]

  --fresh   begin with no data
  --watch   rebuild and run changed functions at once
  --json    logs as JSON lines
  --help    this

  PORT      where to listen (3000)
  DATA_DIR  where to keep the data (.local)
  AWS_ENDPOINT_URL_DYNAMODB  a DynamoDB Local to use instead of the built-in one
  EMULATE_HEADER_REMAP=true  rename WWW-Authenticate in answers, as API Gateway does

Settings that the functions read (LOG_LEVEL, ALLOW_LOOPBACK_TARGETS, WEBHOOK_RETRY_DELAYS_SECONDS, …) are taken from the
environment, too.`

/** Says so before a build, not after it. */
const checkPort = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error)
      reject(
        new Error(`Port ${port} is in use. Stop what listens there, or choose another: PORT=${port + 1} npm start`),
      )
    })
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()))
  })

const readPort = (text: string | undefined): number => {
  const port = Number(text || 3000)
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new Error(`PORT is not a port: ${text}`)
}

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      fresh: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return { ...values, port: readPort(process.env.PORT), dataDir: path.resolve(ROOT, process.env.DATA_DIR || '.local') }
}

const main = async (): Promise<void> => {
  const { fresh, watch, json, help, port, dataDir } = readOptions()
  if (help) {
    console.log(HELP)
    return
  }
  await checkPort(port)
  if (fresh) await wipe(dataDir)
  else openDatabase(dataDir).close()

  const print = createPrinter(json ? 'json' : 'readable')
  const say = (message: string, level: 'info' | 'error' = 'info') =>
    print({ kind: 'platform', at: new Date(), level, message })
  const stopping = new AbortController()
  const running: { reload?: (name: string) => void } = {}
  const cdkOut = path.join(dataDir, 'cdk.out')
  await prepare({
    cdkOut,
    ...(watch && {
      watch: {
        onChange: (names: string[]) => {
          for (const name of names) running.reload?.(name)
          say(`rebuilt ${names.join(', ')} (routes, queues and grants change with a restart)`)
        },
        onError: (messages: string[]) => say(`the build failed:\n${messages.join('\n')}`, 'error'),
        signal: stopping.signal,
      },
    }),
  })

  const platform = await startPlatform({
    dataDir,
    cdkOut,
    port,
    bundles: BUNDLES,
    logs: json ? 'json' : 'readable',
    shell: process.env,
    remapHeaders: process.env.EMULATE_HEADER_REMAP === 'true',
    dynamodbEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB || undefined,
  })
  running.reload = platform.reload
  await upgradeData(platform, say)

  let stops = 0
  const stop = async (code: number) => {
    stops += 1
    // Whoever asks twice does not want to wait.
    if (stops > 1) process.exit(code || 130)
    stopping.abort()
    await platform.stop()
    process.exit(code)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0))
  void platform.failed.then((error) => {
    say(error.message, 'error')
    return stop(1)
  })

  if (json) say(`ready at ${platform.baseUrl}`)
  else {
    const colour = process.stdout.isTTY === true && !process.env.NO_COLOR
    const messenger = `${platform.telegram.url}/${platform.telegram.username}`
    console.log(banner({ baseUrl: platform.baseUrl, messenger, dataDir, seconds: performance.now() / 1_000, colour }))
  }
  await platform.warm()
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
