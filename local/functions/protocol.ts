/** What goes between the local run and a function's worker thread. */

/** Given to the thread when it starts. */
export interface WorkerData {
  directory: string
  /** `index.handler` style. */
  handler: string
}

export interface InvokeMessage {
  kind: 'invoke'
  id: string
  /** The event's JSON: a copy, as on Lambda. */
  event: string
  context: {
    functionName: string
    functionArn: string
    memoryMb: number
    /** Epoch milliseconds at which the time is over. */
    deadline: number
  }
}

/** The reader took a chunk: the next may be written. */
export interface AckMessage {
  kind: 'ack'
  id: string
}

/** Nobody reads the answer any more. */
export interface GoneMessage {
  kind: 'gone'
  id: string
}

/** The thread's clock goes so many milliseconds off from now on. */
export interface ClockMessage {
  kind: 'clock'
  offsetMs: number
}

export type ToWorker = InvokeMessage | AckMessage | GoneMessage | ClockMessage

/** An error as Lambda reports it. */
export interface FunctionError {
  errorType: string
  errorMessage: string
  trace?: string[]
}

export type FromWorker =
  | { kind: 'loaded' }
  | { kind: 'result'; id: string; value: string | undefined }
  | { kind: 'error'; id: string; error: FunctionError }
  | { kind: 'chunk'; id: string; data: Uint8Array; contentType: string }
  | { kind: 'end'; id: string; contentType: string }

/** Marks a handler that streams, as the runtime of AWS marks it. */
export const STREAMING: symbol = Symbol.for('aws.lambda.runtime.handler.streaming')

/** Says that the body begins with the answer's status and headers: JSON, then eight zero bytes. */
export const HTTP_INTEGRATION_TYPE = 'application/vnd.awslambda.http-integration-response'
