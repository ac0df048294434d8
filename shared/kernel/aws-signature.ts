import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import type { HttpRequest } from '@smithy/core/transport'

/** Credentials of AWS. */
interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Returns the key of a day (Signature Version 4, "Deriving a signing key"). As a key object, it signs in a sixth of the time. */
const dayKey = (secret: string, [day = '', ...scope]: string[]): KeyObject =>
  createSecretKey(scope.reduce(hmac, hmac(`AWS4${secret}`, day)))

/** The last key of each service and region, with the day and the secret that it was derived from. */
const kept = new Map<string, { of: string; key: KeyObject }>()

const keyOf = (secret: string, scope: string[]): KeyObject => {
  const [day, region, service] = scope
  const place = `${region} ${service}`
  const of = `${day} ${secret}`
  const known = kept.get(place)
  if (known?.of === of) return known.key
  const key = dayKey(secret, scope)
  kept.set(place, { of, key })
  return key
}

/** Headers that a signature has to cover. */
const isSigned = (name: string): boolean => name === 'host' || name === 'content-type' || name.startsWith('x-amz-')

/**
 * Signs requests without a query (Signature Version 4), for the SDK's clients. The SDK's own signer takes 80 µs more of CPU for
 * each request. Clients construct a signer for each request, so what is kept is kept outside of it.
 */
export class DaySigner {
  readonly #options

  constructor(options: {
    region: string | (() => Promise<string>)
    service: string
    credentials: Credentials | (() => Promise<Credentials>)
  }) {
    this.#options = options
  }

  /** Adds the signature to the request's headers. Their names are in lower case. */
  async sign(request: HttpRequest, { signingDate = new Date() }: { signingDate?: Date | string | number } = {}) {
    const { service, region: ofRegion, credentials: ofCredentials } = this.#options
    const region = typeof ofRegion === 'function' ? await ofRegion() : ofRegion
    const credentials = typeof ofCredentials === 'function' ? await ofCredentials() : ofCredentials
    const { accessKeyId, secretAccessKey, sessionToken } = credentials
    const time = `${new Date(signingDate).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
    const { headers, method, path, body } = request
    headers['x-amz-date'] = time
    if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken
    const names = Object.keys(headers).filter(isSigned).sort()
    const list = names.join(';')
    const lines = names.map((name) => `${name}:${headers[name]}\n`).join('')
    const parts = [time.slice(0, 8), region, service, 'aws4_request']
    const scope = parts.join('/')
    const canonical = hash('sha256', `${method}\n${path}\n\n${lines}\n${list}\n${hash('sha256', body ?? '')}`)
    const signature = createHmac('sha256', keyOf(secretAccessKey, parts))
      .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${canonical}`)
      .digest('hex')
    headers.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${list}, Signature=${signature}`
    return request
  }
}
