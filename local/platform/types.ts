import type { AwsHook } from '../aws/server.ts'
import type { Queue } from '../aws/sqs/queue.ts'
import type { Endpoints } from '../environment.ts'
import type { InvokeInterceptor, InvokeResult } from '../functions.ts'
import type { LogListener } from '../logs.ts'
import type { Telegram } from '../telegram.ts'
import type { LocalModel } from '../template/model.ts'

/** How to start a local platform. Only the folders are needed. */
export interface PlatformOptions {
  /** Keeps all data; created when missing. */
  dataDir: string
  /** The synthesized cloud assembly. */
  cdkOut: string
  /** Folder of the built bundles; else the assets of the assembly are run. */
  bundles?: string
  /** Of the HTTP API; 0 (the default) is any free one. */
  port?: number
  /** What is printed; nothing by default. */
  logs?: 'none' | 'readable' | 'json'
  /** Set on every function over what the template says. */
  env?: Record<string, string>
  /** The shell's variables, which count for settings that the template sets. */
  shell?: Record<string, string | undefined>
  /** Every queue's visibility timeout, in seconds: tests of redelivery need not wait for the real one. */
  visibilitySeconds?: number
  /** Every stream source's and queue source's start: `false` leaves all of them paused until `resume`. */
  startSources?: boolean
  /** Lets DynamoDB calls pass through the local endpoints, where `onAwsCall` sees them (a little slower). */
  watchDynamodb?: boolean
  /** Rename `WWW-Authenticate` as API Gateway does. */
  remapHeaders?: boolean
  /** What queues and metrics take for the time, in epoch ms: tests of alarms and of dead letters need not wait. */
  now?: () => number
  /** A DynamoDB Local to use instead of dynoxide. */
  dynamodbEndpoint?: string | undefined
}

/** A running local platform. */
export interface Platform {
  /** Of the HTTP API, without a trailing slash. */
  baseUrl: string
  endpoints: Endpoints
  /** For AWS SDK clients against `endpoints`. */
  client: { region: string; credentials: { accessKeyId: string; secretAccessKey: string } }
  tableName: string
  model: LocalModel
  /** Stands in for Telegram, with the platform's bot connected unless the shell sets `TELEGRAM_API_URL`. */
  telegram: Telegram
  /** Invokes a function by its short name, logical id or ARN. */
  invoke(functionName: string, event: unknown): Promise<InvokeResult>
  /** Stands between a function and whatever calls it, until the returned function is called. */
  intercept(functionName: string, interceptor: InvokeInterceptor): () => void
  /** Sees, delays, fails or changes the calls to AWS, until called with nothing. DynamoDB's only with `watchDynamodb`. */
  onAwsCall(hook: AwsHook | undefined): void
  /** ARNs of queues that no rule reaches: what is for them becomes dead letters of the bus. */
  unreachable: Set<string>
  /** Ends the function's thread in the middle of whatever it does; the next invocation gets a new one. */
  kill(functionName: string): Promise<void>
  /** Sets the function's clock so many milliseconds off; all functions' without a name. Queues and streams keep theirs. */
  shiftClock(offsetMs: number, functionName?: string): void
  /** Stops waking the function by its stream, queue or schedule; all functions without a name. */
  pause(functionName?: string): void
  resume(functionName?: string): void
  /** Fires the function's schedule now. */
  fire(functionName: string): Promise<void>
  /** By a part of the queue's name, such as `delivery`; @throws Error when none or several fit */
  queue(name: string): Queue
  /** Resolves when no function runs and no message waits or is in flight (delayed and dead ones aside) for a moment. */
  idle(timeoutMs?: number): Promise<void>
  /** Deletes from the table what has expired, now. */
  expire(nowMs?: number): Promise<number>
  onLog(listener: LogListener): () => void
  /** Runs the function from its bundle as it is now. */
  reload(functionName: string): void
  /** Starts the threads of all functions ahead of their first use, one after another. */
  warm(): Promise<void>
  /** Resolves with the reason when a part that all depends on has ended by itself. */
  failed: Promise<Error>
  stop(): Promise<void>
}
