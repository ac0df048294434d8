import { createHash } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { ObjectStore } from '../domain/ports.ts'
import { type Bucket, createBucket } from './objects/bucket.ts'
import { createPresigner } from './objects/presign.ts'

interface Signed {
  method: string
  headers: Record<string, string>
}

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Uint8Array
}

/**
 * The bucket over plain signed requests. @aws-sdk/client-s3 would add 106 KB to every bundle for a few
 * operations; the signer is in the bundle anyway, for DynamoDB.
 * @param environment as {@link createBucket} reads it
 */
export const createObjects = (
  name: string | undefined,
  environment: Record<string, string | undefined>,
): ObjectStore => {
  let made: { bucket: Bucket; agent: Agent } | undefined
  const open = () => {
    if (!name) throw new Error('this function has no bucket')
    if (!made) {
      const bucket = createBucket(name, environment)
      const options = { keepAlive: true }
      made = { bucket, agent: bucket.base.protocol === 'https:' ? new TlsAgent(options) : new Agent(options) }
    }
    return made
  }

  const send = async (method: string, key: string, body?: Uint8Array, type?: string) => {
    const { bucket, agent } = open()
    const { base, signer } = bucket
    const path = bucket.pathOf(key)
    const signed = (await signer.sign({
      method,
      protocol: base.protocol,
      hostname: base.hostname,
      ...(base.port && { port: Number(base.port) }),
      path,
      query: {},
      headers: {
        host: base.host,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
        ...(body && { 'content-length': String(body.byteLength) }),
        ...(type && { 'content-type': type }),
      },
      body,
    } as never)) as unknown as Signed
    return new Promise<Answer>((resolve, reject) => {
      const request = base.protocol === 'https:' ? tlsRequest : httpRequest
      const outgoing = request(
        { agent, method, host: base.hostname, port: base.port, path, headers: signed.headers, timeout: 10_000 },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
          )
          response.on('error', reject)
        },
      )
      outgoing.on('timeout', () => outgoing.destroy(new Error('the bucket did not answer in 10 s')))
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  /** One more try for what may pass: a broken connection, a 5xx. All operations may be repeated. */
  const reliably = async (...call: Parameters<typeof send>) => {
    const first = await send(...call).catch(() => undefined)
    return first && first.status < 500 ? first : send(...call)
  }

  return {
    async put(key, bytes, contentType) {
      const { status } = await reliably('PUT', key, bytes, contentType)
      if (status !== 200) throw new Error(`the bucket answered ${status} to PUT`)
    },
    async get(key) {
      const { status, body } = await reliably('GET', key)
      if (status === 404) return undefined
      if (status !== 200) throw new Error(`the bucket answered ${status} to GET`)
      return body
    },
    async head(key) {
      const { status, headers } = await reliably('HEAD', key)
      if (status === 404) return undefined
      if (status !== 200) throw new Error(`the bucket answered ${status} to HEAD`)
      return Number(headers['content-length'])
    },
    async delete(key) {
      const { status } = await reliably('DELETE', key)
      if (status !== 204 && status !== 404) throw new Error(`the bucket answered ${status} to DELETE`)
    },
    ...createPresigner(() => open().bucket),
  }
}
