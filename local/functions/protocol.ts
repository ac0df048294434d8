/** Messages between the local run and a function's worker thread. */

/** Data for the thread at its start. */
export interface WorkerData {
  directory: string
  /** Handler in `index.handler` notation. */
  handler: string
}

export interface InvokeMessage {
  kind: 'invoke'
  id: string
  /** The event as JSON: a copy, as on Lambda. */
  event: string
  context: {
    functionName: string
    functionArn: string
    memoryMb: number
    /** Deadline in epoch milliseconds. */
    deadline: number
  }
}

/** The reader took a chunk, so the next one may be written. */
export interface AckMessage {
  kind: 'ack'
  id: string
}

/** The response has no reader any more. */
export interface GoneMessage {
  kind: 'gone'
  id: string
}

/** Shifts the thread's clock by a number of milliseconds. */
export interface ClockMessage {
  kind: 'clock'
  offsetMs: number
}

export type ToWorker = InvokeMessage | AckMessage | GoneMessage | ClockMessage

/** An error in Lambda's format. */
export interface FunctionError {
  errorType: string
  errorMessage: string
  trace?: string[]
}

export type FromWorker =
  | { kind: 'loaded' }
  | { kind: 'unloadable'; error: FunctionError }
  | { kind: 'printed'; text: string }
  | { kind: 'result'; id: string; value: string | undefined }
  | { kind: 'error'; id: string; error: FunctionError }
  | { kind: 'chunk'; id: string; data: Uint8Array; contentType: string }
  | { kind: 'end'; id: string; contentType: string }

/** Marks a streaming handler, as AWS's runtime does. */
export const STREAMING: symbol = Symbol.for('aws.lambda.runtime.handler.streaming')

/** Content type of a body that starts with the response's status and headers: JSON, then eight zero bytes. */
export const HTTP_INTEGRATION_TYPE = 'application/vnd.awslambda.http-integration-response'
