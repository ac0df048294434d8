import { Agent, type IncomingMessage, request as send } from 'node:http'

/** DynamoDB's response to a forwarded call. */
export interface Forwarded {
  status: number
  headers: Record<string, string>
  body: Buffer
  json(): Record<string, unknown>
}

/** Headers that the signature covers or that DynamoDB reads. */
const PASSED = [
  'authorization',
  'content-type',
  'x-amz-target',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
]

/**
 * Forwards DynamoDB calls over kept-alive connections.
 *
 * @param address e.g. `http://127.0.0.1:8000`
 */
export const createForwarder = (address: string) => {
  const agent = new Agent({ keepAlive: true })
  return (request: IncomingMessage, body: Buffer): Promise<Forwarded> =>
    new Promise((resolve, reject) => {
      const headers: Record<string, string | number> = { 'content-length': body.length }
      for (const name of PASSED) {
        const value = request.headers[name]
        if (typeof value === 'string') headers[name] = value
      }
      const outgoing = send(address, { method: 'POST', path: '/', headers, agent }, async (answer) => {
        const pieces: Buffer[] = []
        try {
          for await (const piece of answer) pieces.push(piece)
        } catch (error) {
          reject(error)
          return
        }
        const received = Buffer.concat(pieces)
        const kept = ['content-type', 'x-amz-crc32', 'x-amzn-requestid']
        resolve({
          status: answer.statusCode ?? 502,
          headers: Object.fromEntries(
            kept.flatMap((name) => (answer.headers[name] ? [[name, String(answer.headers[name])]] : [])),
          ),
          body: received,
          json: () => JSON.parse(received.toString('utf8') || '{}'),
        })
      })
      outgoing.once('error', reject)
      outgoing.end(body)
    })
}
