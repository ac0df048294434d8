import { createServer } from 'node:net'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { SERVED } from '#infra/bundle/prebuild.ts'
import { banner } from './banner.ts'
import { checkData, deleteData, hasTables } from './data-dir.ts'
import { createPrinter } from './logs.ts'
import { createPages } from './pages.ts'
import { onNpmEnd } from './parent.ts'
import type { Platform } from './platform.ts'
import { LOCAL_BUNDLES, prepare, ROOT } from './prepare.ts'
import { parsePublicAddress } from './public-address.ts'
import { OTLP_PORT, startCollector } from './traces/collector.ts'
import { readTracesHeaders } from './traces/headers.ts'
import { createTracePrinter } from './traces/print.ts'

const HELP = `npm start -- [--port <number>] [--base-url <url>] [--fresh] [--watch] [--traces] [--json]

  --port      port to listen on (3000); 0 takes any free one
  --base-url  address at which others reach the platform, through a tunnel or a proxy (docs/guides/tunnel.md)
  --fresh     start without data
  --watch     rebuild and run changed functions at once
  --traces    print the tree of spans of each run; takes spans of agents, too (OTLP over HTTP, port 4318)
  --json      logs as JSON lines
  --help      show this help

  PORT      port to listen on, unless --port is given
  BASE_URL  address at which others reach the platform, unless --base-url is given
  DATA_DIR  where to keep the data (.local)
  TRACES_ENDPOINT  OTLP receiver to which functions send spans, without /v1/traces
  OTEL_EXPORTER_OTLP_HEADERS  headers that it wants: name=value,name=value
  AWS_ENDPOINT_URL_DYNAMODB  DynamoDB Local to use instead of the built-in server
  EMULATE_HEADER_REMAP=true  rename WWW-Authenticate in responses, as API Gateway does

Settings that the functions read (LOG_LEVEL, ALLOW_LOOPBACK_TARGETS, WEBHOOK_RETRY_DELAYS_SECONDS, …) are taken from the
environment.`

/** Reports a taken port before the build instead of after it. */
const checkPort = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error)
      reject(
        new Error(
          `Port ${port} is in use. Stop the process that uses it, or choose another port: npm start -- --port ${port + 1}`,
        ),
      )
    })
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()))
  })

const readPort = (name: string, text: string): number => {
  const port = Number(text)
  if (/^\d+$/.test(text) && port < 65_536) return port
  throw new Error(`${name} is not a port: ${text}. Give a number from 0 to 65535.`)
}

/** Open files of an idle platform, and room for a handful of clients. */
const LEAST_OPEN_FILES = 256

/** Reports a limit on open files that is too low before the build, which would end in the middle. Windows has none. */
const checkOpenFiles = (): void => {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } }
  const allowed = userLimits?.open_files.soft
  if (typeof allowed !== 'number' || allowed >= LEAST_OPEN_FILES) return
  throw new Error(
    `This shell lets a process open ${allowed} files, and the platform needs at least ${LEAST_OPEN_FILES}. Raise the limit, then start it again: ulimit -n 1024`,
  )
}

/** Checks the public address before the build. @returns undefined if there is none */
const readPublicUrl = (given: string | undefined): string | undefined => {
  if (given !== undefined) return parsePublicAddress('--base-url', given).url
  return process.env.BASE_URL ? parsePublicAddress('BASE_URL', process.env.BASE_URL).url : undefined
}

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      'base-url': { type: 'string' },
      fresh: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      traces: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const port =
    values.port === undefined ? readPort('PORT', process.env.PORT || '3000') : readPort('--port', values.port)
  const dataDir = path.resolve(ROOT, process.env.DATA_DIR || '.local')
  // Refuses malformed headers before the build.
  if (!values.help && !values.traces) readTracesHeaders(process.env)
  return { ...values, port, publicUrl: values.help ? undefined : readPublicUrl(values['base-url']), dataDir }
}

const main = async (): Promise<void> => {
  const { fresh, watch, traces, json, help, port, publicUrl, dataDir } = readOptions()
  if (help) {
    console.log(HELP)
    return
  }
  const stopping = new AbortController()
  const running: { platform?: Platform } = {}
  const stop = async (code: number) => {
    stopping.abort()
    await running.platform?.stop()
    process.exit(code)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // A second signal ends the process without waiting.
      if (stopping.signal.aborted) process.exit(130)
      void stop(0)
    })
  }
  onNpmEnd(() => {
    if (!stopping.signal.aborted) void stop(0)
  })

  checkOpenFiles()
  await checkPort(port)
  if (fresh) await deleteData(dataDir)
  const aside = fresh ? undefined : await checkData(dataDir)
  const dynamodbEndpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB || undefined
  const isNew = !dynamodbEndpoint && !hasTables(dataDir)

  // The log goes to a file on a full disk. It continues when there is space.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC') throw error
  })
  const print = createPrinter(json ? 'json' : 'readable')
  const say = (message: string, level: 'info' | 'error' = 'info') =>
    print({ kind: 'platform', at: new Date(), level, message })
  if (aside)
    say(`The store in ${dataDir} is broken. It is set aside in ${aside}, and this run starts without data.`, 'error')
  const cdkOut = path.join(dataDir, 'cdk.out')
  const pages = createPages((reason) => say(reason, 'error'))
  const preparing = prepare({
    cdkOut,
    together: true,
    signal: stopping.signal,
    onPart: pages.built,
    ...(watch && {
      watch: {
        onChange: (names: string[]) => {
          for (const name of names) running.platform?.reload(name)
          say(`rebuilt ${names.join(', ')} (routes, queues and grants change with a restart)`)
        },
        onError: (messages: string[]) => say(`the build failed:\n${messages.join('\n')}`, 'error'),
      },
    }),
  })
  // Loaded while the build runs in processes of its own.
  const [buildPages, { startPlatform }] = await Promise.all([preparing, import('./platform.ts')])

  const collector = traces
    ? await startCollector(
        OTLP_PORT,
        createTracePrinter((text) => process.stdout.write(text)),
      )
    : undefined
  if (collector) say(`spans of agents are taken at ${collector.address}`)
  const platform = await startPlatform({
    dataDir,
    cdkOut,
    port,
    bundles: LOCAL_BUNDLES,
    logs: json ? 'json' : 'readable',
    shell: {
      ...process.env,
      BASE_URL: publicUrl,
      ...(collector && { TRACES_ENDPOINT: collector.address, OTEL_EXPORTER_OTLP_HEADERS: undefined }),
    },
    remapHeaders: process.env.EMULATE_HEADER_REMAP === 'true',
    dynamodbEndpoint,
    ...(buildPages && { interceptors: Object.fromEntries(Object.keys(SERVED).map((name) => [name, pages.intercept])) }),
  })
  running.platform = platform
  if (!isNew) await (await import('./upgrade.ts')).upgradeData(platform, say)

  void platform.failed.then((error) => {
    say(error.message, 'error')
    return stop(1)
  })

  const { address, baseUrl, mailbox, messenger } = platform
  if (json) {
    const elsewhere = baseUrl === address ? '' : ` and, through a proxy, at ${baseUrl}`
    say(`ready at ${address}${elsewhere}${buildPages ? ' (pages are being built)' : ''}`)
  } else {
    const colour = process.stdout.isTTY === true && !process.env.NO_COLOR
    const seconds = performance.now() / 1_000
    console.log(
      banner({ address, baseUrl, messenger, mailbox, dataDir, seconds, building: buildPages !== undefined, colour }),
    )
  }
  try {
    if (await buildPages?.()) say('the pages and the documentation are built')
  } catch (error) {
    // The next start builds them again.
    say(error instanceof Error ? error.message : String(error), 'error')
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
