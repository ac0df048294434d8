import { Agent, request } from 'node:http'

/** An error answer of DynamoDB. */
export class DynamodbError extends Error {
  override readonly name = 'DynamodbError'
  /** e.g. `ResourceNotFoundException`. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Calls an operation by its full target, e.g. `DynamoDB_20120810.DescribeTable`, with and for the wire's own JSON. */
export type DynamodbCall = <Output>(target: string, input: object) => Promise<Output>

/** Headers of a call that is not signed: nobody checks the signature locally, but they have to look like one. */
export const UNSIGNED = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  'x-amz-date': '20260101T000000Z',
}

/**
 * A bare client for what the local run itself asks of DynamoDB. The stream is polled up to fifty times a second: the SDK
 * takes 1 ms of CPU for each such call, this a sixth of that; and Lambda events carry the wire's JSON as it is.
 *
 * @param endpoint loopback address
 */
export const createDynamodbCall = (endpoint: string): { call: DynamodbCall; close(): void } => {
  const agent = new Agent({ keepAlive: true })
  const call = <Output>(target: string, input: object): Promise<Output> =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(input)
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'content-length': Buffer.byteLength(body),
        'x-amz-target': target,
        ...UNSIGNED,
      }
      const outgoing = request(endpoint, { method: 'POST', headers, agent }, (answer) => {
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => pieces.push(piece))
        answer.once('error', reject)
        answer.once('end', () => {
          try {
            const output = JSON.parse(Buffer.concat(pieces).toString('utf8') || '{}')
            if (answer.statusCode === 200) resolve(output)
            else {
              const code = String(output.__type ?? `HTTP ${answer.statusCode}`).replace(/^.*#/, '')
              reject(new DynamodbError(code, output.message ?? output.Message ?? ''))
            }
          } catch (error) {
            reject(error)
          }
        })
      })
      outgoing.once('error', reject)
      outgoing.end(body)
    })
  return { call, close: () => agent.destroy() }
}
