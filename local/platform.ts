import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMetrics } from './aws/cloudwatch/metrics.ts'
import { createCloudwatch } from './aws/cloudwatch.ts'
import { createStateStore, openDatabase } from './aws/database.ts'
import { createEventBridge } from './aws/eventbridge.ts'
import { createMailbox } from './aws/mailbox.ts'
import { LOCAL_ACCESS_KEY, LOCAL_SECRET_KEY } from './aws/s3/sigv4.ts'
import { createS3 } from './aws/s3.ts'
import { createSecrets } from './aws/secrets.ts'
import { type AwsHook, type Services, startAwsServer } from './aws/server.ts'
import { createSqs } from './aws/sqs.ts'
import { deleteRunning, saveRunning } from './data-dir.ts'
import { watchDisk } from './disk.ts'
import { ensureTables, startDynamodb } from './dynamodb.ts'
import { type Endpoints, functionEnvironment } from './environment.ts'
import { createFunctions } from './functions.ts'
import { startGateway } from './gateway.ts'
import { NO_JUMPS, watchJumps } from './jumps.ts'
import { createPrinter, type LogEntry, type LogListener } from './logs.ts'
import { saveModelKey } from './model-key.ts'
import { createControls } from './platform/controls.ts'
import {
  measureApi,
  measureFunctions,
  measureLine,
  measureQueues,
  measureRule,
  measureThrottles,
} from './platform/measure.ts'
import type { Platform, PlatformOptions } from './platform/types.ts'
import { parsePublicAddress } from './public-address.ts'
import { createSockets, type Sockets, socketAddresses } from './sockets.ts'
import { startSources } from './sources.ts'
import { createStandIns, MAILBOX_PATH, MESSENGER_PATH, OBJECTS_PATH } from './stand-ins.ts'
import { botSecretOf, connectLocalBot, LOCAL_BOT, saveLocalToken, telegramVariables } from './telegram/local-bot.ts'
import { createTelegram } from './telegram.ts'
import { REGION } from './template/physical.ts'
import { readTemplate } from './template.ts'
import { saveTracesHeaders, TRACES_SECRET } from './traces/headers.ts'

export type { AwsCall } from './aws/server.ts'
export type { InvokeResult } from './functions.ts'
export type { LogEntry } from './logs.ts'
export type { Platform, PlatformOptions } from './platform/types.ts'

const DRAIN_MS = 1_500

/**
 * Listens on the previous port if it is free, so that addresses from before a restart (of uploads, of the messenger)
 * keep working.
 */
const listen = async <T>(start: (port: number) => Promise<T>, remembered: string | undefined): Promise<T> => {
  const port = Number(remembered ?? 0)
  return port === 0 ? start(0) : start(port).catch(() => start(0))
}

/** Turns a listen error into one with instructions. */
const explainListen = (error: unknown, port: number): Error =>
  (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    ? new Error(
        `Port ${port} is in use. Stop the process that uses it, or choose another port: npm start -- --port ${port + 1}`,
      )
    : error instanceof Error
      ? error
      : new Error(String(error))

/**
 * Starts the whole platform in this process: DynamoDB, the other AWS services, the functions of the synthesized
 * template in worker threads, the HTTP API, and the sources that wake functions.
 *
 * @throws DataDirInUse; Error when a port is taken, dynoxide is missing or the template uses something unknown
 */
export const startPlatform = async (options: PlatformOptions): Promise<Platform> => {
  const undo: (() => unknown)[] = []
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    return await start(options, undo, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

const start = async (
  options: PlatformOptions,
  undo: (() => unknown)[],
  stop: () => Promise<void>,
): Promise<Platform> => {
  const listeners = new Set<LogListener>()
  const log = (entry: LogEntry) => {
    for (const listener of listeners) listener(entry)
  }
  if (options.logs && options.logs !== 'none') listeners.add(createPrinter(options.logs))
  const disk = watchDisk({
    dataDir: options.dataDir,
    say: (message, level) => log({ kind: 'platform', at: new Date(), level, message }),
  })
  undo.push(disk.stop)
  const onError = (error: unknown) => {
    if (disk.notice(error)) return
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log({ kind: 'platform', at: new Date(), level: 'error', message })
  }

  const database: DatabaseSync = openDatabase(options.dataDir)
  undo.push(() => database.close())
  const state = createStateStore(database)
  let hook: AwsHook | undefined
  let services: Services | undefined
  let fail: (error: Error) => void = () => undefined
  const failed = new Promise<Error>((resolve) => {
    fail = resolve
  })

  const { env: overrides = {}, shell: given = {} } = options
  const publicAddress = given.BASE_URL ? parsePublicAddress('BASE_URL', given.BASE_URL) : undefined
  let address = `http://127.0.0.1:${options.port ?? 0}`
  const baseUrl = () => publicAddress?.url ?? address
  // Updates of the stand-in don't leave this machine, nor go to an address from before a restart.
  const reach = (url: string) => url.replace(/^.*(?=\/console\/(bot|messenger)\/)/, address)
  const origin = publicAddress && new URL(publicAddress.url).origin
  const memory = { read: () => state.get('telegram'), write: (text: string) => state.set('telegram', text) }
  const [aws, telegram, dynamodb] = await Promise.all([
    listen((port) => startAwsServer(() => services, port), state.get('aws-port')).then((server) => {
      undo.push(server.stop)
      return server
    }),
    listen((port) => createTelegram({ ...LOCAL_BOT, port, memory, reach, origin }), state.get('telegram-port')).then(
      (server) => {
        undo.push(server.stop)
        return server
      },
    ),
    startDynamodb({
      dataDir: options.dataDir,
      external: options.dynamodbEndpoint,
      onExit: (code) => fail(new Error(`The local DynamoDB exited unexpectedly (code ${code})`)),
      onError,
    }).then((server) => {
      undo.push(server.stop)
      return server
    }),
  ])
  state.set('aws-port', String(aws.port))
  state.set('telegram-port', String(telegram.port))

  const model = readTemplate({ cdkOut: options.cdkOut, bundles: options.bundles, addresses: { aws: aws.address } })
  const queues = model.queues.map((queue) => ({
    ...queue,
    visibilitySeconds: options.visibilitySeconds ?? queue.visibilitySeconds,
  }))
  const { now = Date.now } = options
  const unreachable = new Set<string>()
  // A clock that somebody gives is set forward on purpose, and nothing slept.
  const jumps = options.now ? NO_JUMPS : watchJumps(now)
  undo.push(jumps.stop)
  const sqs = createSqs({ queues, database, address: aws.address, now, onError, jumps })
  undo.push(sqs.stop)
  const metrics = createMetrics(now)
  measureQueues(metrics, model.queues, sqs)
  const sampling = setInterval(metrics.sample, 60_000)
  undo.push(() => clearInterval(sampling))
  const secrets = createSecrets([...model.secrets, TRACES_SECRET], database)
  let sockets: Sockets | undefined
  services = {
    sqs,
    events: createEventBridge({
      ...model,
      sqs,
      onDropped: (rule, event) => onError(`Rule ${rule} has no target for event ${event.id}`),
      onUnreachable: (rule) => measureRule(metrics, rule),
      unreachable,
    }),
    secretsmanager: secrets,
    monitoring: createCloudwatch({ alarms: model.alarms, metrics, now }),
    s3: createS3({ buckets: model.buckets, database, dataDir: options.dataDir }),
    mailbox: createMailbox(now),
    connections: (request, response) => sockets?.manage(request, response) ?? false,
    dynamodb: dynamodb.endpoint,
    disk,
    hook: () => hook,
  }
  const tables = await ensureTables(dynamodb, model.tables, onError)
  undo.push(tables.stop)

  const endpoints: Endpoints = {
    dynamodb: options.watchDynamodb ? aws.address : dynamodb.endpoint,
    sqs: aws.address,
    eventbridge: aws.address,
    secretsManager: aws.address,
    cloudwatch: aws.address,
    s3: aws.address,
    ses: aws.address,
    connections: aws.address,
  }
  const shell = () => ({ ...telegramVariables(telegram, baseUrl() + MESSENGER_PATH), ...given })
  // With another Bot API, the operator has their own bot there.
  const bot = shell().TELEGRAM_API_URL === telegram.url ? botSecretOf(model, secrets) : undefined
  // Must happen before any function runs, because functions read the secret only every five minutes.
  if (bot) await saveLocalToken(bot)
  saveModelKey(model, secrets, given.MODEL_API_KEY)
  const tracesVariables = saveTracesHeaders(secrets, given)
  const functions = createFunctions({
    models: model.functions,
    environment: (fn) =>
      functionEnvironment(fn, {
        endpoints,
        baseUrl: baseUrl(),
        objectsUrl: baseUrl() + OBJECTS_PATH,
        deployedUrl: model.api?.url,
        sockets: socketAddresses(model, baseUrl()),
        shell: shell(),
        overrides: { ...tracesVariables, ...overrides },
      }),
    onLine: ({ functionName, line }) => {
      // Each call would log its error again.
      if (disk.notice(line)) return
      measureLine(metrics, line)
      log({ kind: 'function', at: new Date(), functionName, line })
    },
    onEnd: measureFunctions(metrics, model.alarms, now),
    ...(options.limits && { limits: options.limits }),
  })
  undo.push(functions.stop)
  for (const [name, interceptor] of Object.entries(options.interceptors ?? {})) functions.intercept(name, interceptor)

  if (!model.api) throw new Error('The template has no REST API')
  sockets = model.sockets && createSockets({ model: model.sockets, functions, onError })
  const measured = measureApi(metrics, model.alarms)
  const gateway = await startGateway({
    api: model.api,
    functions,
    port: options.port ?? 0,
    baseUrl,
    publicAddress,
    isDiskFull: () => disk.isFull,
    standIns: createStandIns({ ...services, telegram, baseUrl }),
    onUpgrade: sockets?.accept,
    remapHeaders: options.remapHeaders ?? false,
    onAccess: (entry) => {
      measured(entry)
      log({ kind: 'access', at: new Date(), ...entry })
    },
    onUnknownHost: onError,
  }).catch((error) => {
    throw explainListen(error, options.port ?? 0)
  })
  address = gateway.address
  const sources = startSources({ model, dynamodb, tables, functions, sqs, state, disk, jumps, onError })
  if (options.startSources === false) for (const source of sources) source.pause()
  undo.push(async () => {
    // Stops new work first. Running invocations get a moment to end, then their threads end. Unfinished messages are
    // redelivered after the restart.
    disk.stop()
    jumps.stop()
    sockets?.stop()
    await Promise.all([gateway.stop(), ...sources.map((source) => source.stop())])
    for (let waited = 0; waited < DRAIN_MS && functions.running > 0; waited += 20) await sleep(20)
  })
  if (bot) await connectLocalBot(bot, { telegram, baseUrl: baseUrl() })

  saveRunning(options.dataDir, { pid: process.pid, baseUrl: baseUrl(), endpoints })
  undo.push(() => deleteRunning(options.dataDir))

  return {
    baseUrl: baseUrl(),
    address,
    endpoints,
    mailbox: baseUrl() + MAILBOX_PATH,
    messenger: `${baseUrl()}${MESSENGER_PATH}/${telegram.username}`,
    client: { region: REGION, credentials: { accessKeyId: LOCAL_ACCESS_KEY, secretAccessKey: LOCAL_SECRET_KEY } },
    tableName: model.tables[0]?.name ?? '',
    model,
    telegram,
    invoke: functions.invoke,
    intercept: functions.intercept,
    onAwsCall: (given) => {
      hook = given && measureThrottles(metrics, model.tables[0]?.name ?? '', given)
    },
    unreachable,
    kill: functions.kill,
    shiftClock: (offsetMs, name) => {
      for (const id of name ? [name] : model.functions.map(({ arn }) => arn)) functions.shiftClock(id, offsetMs)
    },
    ...createControls({ model, functions, sqs, sources }),
    expire: async (nowMs) =>
      (await Promise.all(tables.ttl.map((each) => each.sweep(nowMs)))).reduce((a, b) => a + b, 0),
    onLog: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    reload: functions.reload,
    warm: async () => {
      for (const { name } of model.functions) await functions.warm(name)
    },
    failed,
    stop,
  }
}
