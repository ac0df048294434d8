import { createHash, createHmac } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { SignatureV4 } from '@smithy/signature-v4'
import type { ObjectStore } from '../domain/ports.ts'

interface Signed {
  method: string
  headers: Record<string, string>
}

/**
 * The bucket over plain signed requests. @aws-sdk/client-s3 would add 106 KB to every bundle for three
 * operations; the signer is in the bundle anyway, for DynamoDB.
 * @param environment AWS_REGION, the credentials that Lambda sets, and AWS_ENDPOINT_URL_S3 for emulators
 */
export const createObjects = (
  bucket: string | undefined,
  environment: Record<string, string | undefined>,
): ObjectStore => {
  const region = environment.AWS_REGION ?? 'us-east-1'
  const endpoint = environment.AWS_ENDPOINT_URL_S3 ?? environment.AWS_ENDPOINT_URL
  // Emulators take the bucket in the path, AWS in the host name (path style is on its way out there).
  const base = new URL(endpoint ? `${endpoint}/${bucket}` : `https://${bucket}.s3.${region}.amazonaws.com`)
  const agent = base.protocol === 'https:' ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
  const signer = new SignatureV4({
    service: 's3',
    region,
    uriEscapePath: false,
    applyChecksum: true,
    sha256: Sha256 as never,
    credentials: async () => ({
      accessKeyId: environment.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.AWS_SECRET_ACCESS_KEY ?? '',
      ...(environment.AWS_SESSION_TOKEN && { sessionToken: environment.AWS_SESSION_TOKEN }),
    }),
  })

  const send = async (method: string, key: string, body?: Uint8Array, type?: string) => {
    if (!bucket) throw new Error('this function has no bucket')
    const path = `${base.pathname.replace(/\/$/, '')}/${key.split('/').map(encodeURIComponent).join('/')}`
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
    return new Promise<{ status: number; body: Uint8Array }>((resolve, reject) => {
      const open = base.protocol === 'https:' ? tlsRequest : httpRequest
      const outgoing = open(
        { agent, method, host: base.hostname, port: base.port, path, headers: signed.headers, timeout: 10_000 },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }))
          response.on('error', reject)
        },
      )
      outgoing.on('timeout', () => outgoing.destroy(new Error('the bucket did not answer in 10 s')))
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  /** One more try for what may pass: a broken connection, a 5xx. All three operations may be repeated. */
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
    async delete(key) {
      const { status } = await reliably('DELETE', key)
      if (status !== 204 && status !== 404) throw new Error(`the bucket answered ${status} to DELETE`)
    },
  }
}

/** The signer's hash interface on node:crypto. */
class Sha256 {
  readonly #hash
  constructor(secret?: string | Uint8Array) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret)
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}
