import { Writable } from 'node:stream'
import { HTTP_INTEGRATION_TYPE, STREAMING } from './protocol.ts'

/** The stream that a streaming handler writes its response to. */
export class ResponseStream extends Writable {
  contentType = 'application/octet-stream'
  #prelude: string | undefined
  readonly #send: (data: Uint8Array, taken: () => void) => void

  /** @param send transfers a chunk and calls back when it was taken */
  constructor(send: (data: Uint8Array, taken: () => void) => void) {
    super({ highWaterMark: 64 * 1024 })
    this.#send = send
  }

  setContentType(type: string): void {
    this.contentType = type
  }

  setPrelude(prelude: string): void {
    this.#prelude = prelude
  }

  /**
   * Sends the prelude with the first write and never without one, as on Lambda. A handler that only ends the stream has
   * sent no status, so the gateway answers 502, as on AWS.
   */
  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    const prelude = this.#prelude === undefined ? [] : [Buffer.from(this.#prelude), Buffer.alloc(8)]
    this.#prelude = undefined
    const data = Buffer.concat([...prelude, chunk])
    if (data.length === 0) callback()
    else this.#send(data, callback)
  }
}

/** The global `awslambda` of Lambda's Node.js runtime. */
export const awslambda = {
  streamifyResponse: <Handler extends object>(handler: Handler): Handler =>
    Object.defineProperty(handler, STREAMING, { value: 'response' }),
  HttpResponseStream: {
    from: (stream: ResponseStream, prelude: object): ResponseStream => {
      stream.setContentType(HTTP_INTEGRATION_TYPE)
      stream.setPrelude(JSON.stringify(prelude))
      return stream
    },
  },
}
