import type { AwsHook } from '../aws/server.ts'
import type { Queue } from '../aws/sqs/queue.ts'
import type { Endpoints } from '../environment.ts'
import type { InvokeInterceptor, InvokeResult, PoolLimits } from '../functions.ts'
import type { LogListener } from '../logs.ts'
import type { Telegram } from '../telegram.ts'
import type { LocalModel } from '../template/model.ts'

/** Options of a local platform. Only the folders are required. */
export interface PlatformOptions {
  /** Folder for all data; created when missing. */
  dataDir: string
  /** The synthesized cloud assembly. */
  cdkOut: string
  /** Folder of the built bundles. By default, the assets of the assembly run. */
  bundles?: string
  /** Port of the HTTP API; 0 (the default) for any free one. */
  port?: number
  /** Log format; no logs by default. */
  logs?: 'none' | 'readable' | 'json'
  /** Variables set on every function, overriding the template. */
  env?: Record<string, string>
  /** The shell's variables, which override settings that the template declares. `BASE_URL` is the public address. */
  shell?: Record<string, string | undefined>
  /** Visibility timeout of every queue in seconds, so that tests of redelivery need not wait for the real one. */
  visibilitySeconds?: number
  /** `false` leaves all stream and queue sources paused until `resume`. */
  startSources?: boolean
  /** Routes DynamoDB calls through the local endpoints, where `onAwsCall` sees them (a little slower). */
  watchDynamodb?: boolean
  /** Renames `WWW-Authenticate` as API Gateway does. */
  remapHeaders?: boolean
  /** Clock of queues and metrics in epoch ms, so that tests of alarms and dead letters need not wait. */
  now?: () => number
  /** A DynamoDB Local to use instead of dynoxide. */
  dynamodbEndpoint?: string | undefined
  /** Limits on the threads that functions run in. */
  limits?: PoolLimits
  /** Interceptors by function, from the first request on. */
  interceptors?: Record<string, InvokeInterceptor>
}

/** A running local platform. */
export interface Platform {
  /** Address that the platform gives to clients, without a trailing slash: the public one, if there is one. */
  baseUrl: string
  /** Address on which it listens, without a trailing slash. */
  address: string
  endpoints: Endpoints
  /** Address of the page that shows sent e-mail. */
  mailbox: string
  /** Address of the messenger's page, at the platform's bot. */
  messenger: string
  /** For AWS SDK clients against `endpoints`. */
  client: { region: string; credentials: { accessKeyId: string; secretAccessKey: string } }
  tableName: string
  model: LocalModel
  /** Stand-in for Telegram, with the platform's bot connected unless the shell sets `TELEGRAM_API_URL`. */
  telegram: Telegram
  /** Invokes a function by its short name, logical id or ARN. */
  invoke(functionName: string, event: unknown): Promise<InvokeResult>
  /** Intercepts the invocations of a function until the returned function is called. */
  intercept(functionName: string, interceptor: InvokeInterceptor): () => void
  /**
   * Sets the hook that observes, delays, fails or changes calls to AWS; undefined removes it. It sees DynamoDB's calls
   * only with `watchDynamodb`.
   */
  onAwsCall(hook: AwsHook | undefined): void
  /** ARNs of queues that no rule can reach. Events for them become dead letters of the bus. */
  unreachable: Set<string>
  /** Ends the function's thread in the middle of its work. The next invocation gets a new one. */
  kill(functionName: string): Promise<void>
  /**
   * Shifts the function's clock by a number of milliseconds, or all functions' clocks without a name. Queues and
   * streams keep theirs.
   */
  shiftClock(offsetMs: number, functionName?: string): void
  /** Stops waking the function by its stream, queue or schedule; all functions without a name. */
  pause(functionName?: string): void
  resume(functionName?: string): void
  /** Fires the function's schedule now. */
  fire(functionName: string): Promise<void>
  /**
   * Finds a queue by a part of its name, such as `delivery`.
   * @throws Error if none or several match
   */
  queue(name: string): Queue
  /**
   * Resolves once no function runs and no message waits or is in flight (except delayed and dead ones) for a moment.
   */
  idle(timeoutMs?: number): Promise<void>
  /** Deletes expired items from the table now. */
  expire(nowMs?: number): Promise<number>
  onLog(listener: LogListener): () => void
  /** Runs the function from its current bundle. */
  reload(functionName: string): void
  /** Starts the threads of all functions ahead of their first use, one after another, as far as the limits allow. */
  warm(): Promise<void>
  /** Resolves with the reason if an essential part exits by itself. */
  failed: Promise<Error>
  stop(): Promise<void>
}
