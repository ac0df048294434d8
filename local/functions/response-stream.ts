import { Writable } from 'node:stream'
import { HTTP_INTEGRATION_TYPE, STREAMING } from './protocol.ts'

type Callback = (error: Error | null | undefined) => void

/** The response that a streaming handler writes, with the rules of Lambda's runtime client (aws-lambda-ric). */
export class ResponseStream extends Writable {
  contentType = 'application/octet-stream'
  /** Called before the first write with a function that writes ahead of it. */
  _onBeforeFirstWrite: ((write: (piece: string | Uint8Array) => void) => void) | undefined
  #isWritten = false
  #head: Uint8Array[] = []
  readonly #send: (data: Uint8Array, taken: () => void) => void

  /** @param send transfers a chunk and calls back when it was taken */
  constructor(send: (data: Uint8Array, taken: () => void) => void) {
    super({ highWaterMark: 64 * 1024 })
    this.#send = send
  }

  /** @throws Error after the first write */
  setContentType(type: string): void {
    if (this.#isWritten) {
      const error = new Error('Cannot set content-type, too late.')
      throw Object.assign(error, { name: 'Runtime.InvalidStreamingOperation' })
    }
    this.contentType = type
  }

  /**
   * Writes a chunk, and the prelude before the first one. A handler that only ends the stream has sent no status, even
   * if it ends it with a chunk, so the gateway answers 502, as on AWS.
   */
  override write(chunk: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    if (chunk === null || chunk === undefined) throw new TypeError(`A response stream can't write ${chunk}.`)
    const data = typeof chunk === 'string' || chunk instanceof Uint8Array ? chunk : JSON.stringify(chunk)
    if (!this.#isWritten) this._onBeforeFirstWrite?.((piece) => void this.#head.push(Buffer.from(piece)))
    this.#isWritten = true
    return typeof encoding === 'string'
      ? super.write(data, encoding, callback)
      : super.write(data, encoding ?? callback)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    const data = Buffer.concat([...this.#head, chunk])
    this.#head = []
    if (data.length === 0) callback()
    else this.#send(data, callback)
  }
}

const METHODS = [
  ...(['cork', 'destroy', 'end', 'uncork', 'write', 'setContentType'] as const),
  ...(['addListener', 'on', 'once', 'prependListener', 'prependOnceListener', 'off', 'removeListener'] as const),
  ...(['removeAllListeners', 'setMaxListeners', 'getMaxListeners', 'listeners', 'rawListeners'] as const),
  ...(['listenerCount', 'eventNames', 'emit'] as const),
]
const WRITABLE_PROPERTIES = ['destroyed', '_onBeforeFirstWrite'] as const
const PROPERTIES = [
  ...(['writableFinished', 'writableObjectMode', 'writableEnded', 'writableNeedDrain'] as const),
  ...(['writableHighWaterMark', 'writableCorked', 'writableLength', 'writable'] as const),
]

/** Returns the stream as a handler gets it on Lambda: an object with these members, which isn't a `Writable`. */
export const handlerStream = (
  inner: ResponseStream,
): Pick<
  ResponseStream,
  (typeof METHODS)[number] | (typeof WRITABLE_PROPERTIES)[number] | (typeof PROPERTIES)[number]
> => {
  const stream = {} as ResponseStream
  for (const name of METHODS) Object.assign(stream, { [name]: inner[name].bind(inner) })
  for (const name of WRITABLE_PROPERTIES) {
    Object.defineProperty(stream, name, {
      get: () => inner[name],
      set: (value) => Object.assign(inner, { [name]: value }),
    })
  }
  for (const name of PROPERTIES) Object.defineProperty(stream, name, { get: () => inner[name] })
  return stream
}

/** The global `awslambda` of Lambda's Node.js runtime. */
export const awslambda = {
  streamifyResponse: <Handler extends object>(handler: Handler): Handler =>
    Object.defineProperty(handler, STREAMING, { value: 'response' }),
  HttpResponseStream: {
    from: <Stream extends Pick<ResponseStream, 'setContentType' | '_onBeforeFirstWrite'>>(
      stream: Stream,
      prelude: object,
    ): Stream => {
      stream.setContentType(HTTP_INTEGRATION_TYPE)
      const head = JSON.stringify(prelude)
      stream._onBeforeFirstWrite = (write) => {
        write(head)
        write(new Uint8Array(8))
      }
      return stream
    },
  },
}
