import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'

/** Where the bucket is, and what its requests are signed with. */
export interface Bucket {
  base: URL
  /** The path of an object, as it is sent and signed. */
  pathOf(key: string): string
  signer: SignatureV4
}

/**
 * @param environment AWS_REGION, the credentials that Lambda sets, and AWS_ENDPOINT_URL_S3 for emulators
 */
export const createBucket = (name: string, environment: Record<string, string | undefined>): Bucket => {
  const region = environment.AWS_REGION ?? 'us-east-1'
  const endpoint = environment.AWS_ENDPOINT_URL_S3 ?? environment.AWS_ENDPOINT_URL
  // Emulators take the bucket in the path, AWS in the host name (path style is on its way out there).
  const base = new URL(endpoint ? `${endpoint}/${name}` : `https://${name}.s3.${region}.${suffixOf(region)}`)
  return {
    base,
    pathOf: (key) => `${base.pathname.replace(/\/$/, '')}/${key.split('/').map(uriEncode).join('/')}`,
    signer: createSigner('s3', environment),
  }
}

/** Signs requests to an AWS service with the credentials that Lambda sets. */
export const createSigner = (service: string, environment: Record<string, string | undefined>): SignatureV4 =>
  new SignatureV4({
    service,
    region: environment.AWS_REGION ?? 'us-east-1',
    uriEscapePath: false,
    applyChecksum: true,
    sha256: Sha256 as never,
    credentials: async () => ({
      accessKeyId: environment.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.AWS_SECRET_ACCESS_KEY ?? '',
      ...(environment.AWS_SESSION_TOKEN && { sessionToken: environment.AWS_SESSION_TOKEN }),
    }),
  })

/** The DNS suffix of the region's partition: China's regions have one of their own. */
const suffixOf = (region: string): string => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com')

/** Encodes as Signature Version 4 does: everything but the unreserved characters of RFC 3986. */
export const uriEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

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
