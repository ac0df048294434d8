import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

/** Request to an authenticator, as the options endpoints return it. */
interface Asked {
  challenge_id: string
  options: {
    challenge: string
    rp?: { id: string }
    rpId?: string
    user?: { id: string }
    allowCredentials?: { id: string }[]
  }
}

export interface AuthenticatorOptions {
  origin?: string
  /** False for a key without PIN or fingerprint. */
  verifiesUser?: boolean
  /** True in a frame of another site. Safari names no top origin. */
  crossOrigin?: boolean
  /** COSE algorithm that the credential claims to have. */
  algorithm?: number
}

const FLAGS = { present: 1, verified: 4, attested: 64 }

const encode = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url')

const sha256 = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest()

/** An authenticator with one passkey (ES256, W3C WebAuthn Level 3 §6). It answers like the browser’s `credential.toJSON()`. */
export const createAuthenticator = ({
  origin = 'https://platform.test',
  verifiesUser = true,
  crossOrigin = false,
  algorithm = -7,
}: AuthenticatorOptions = {}) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  let counter = 0
  let userHandle: string | undefined

  const clientData = (type: string, challenge: string): string =>
    JSON.stringify({ type, challenge, origin, crossOrigin })

  const authenticatorData = (rpId: string, attested: Uint8Array = Buffer.alloc(0)): Buffer => {
    const flags = FLAGS.present | (verifiesUser ? FLAGS.verified : 0) | (attested.length > 0 ? FLAGS.attested : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested])
  }

  return {
    id: encode(id),
    /** Sets the signature counter, as a copy of the authenticator would. */
    rewind: (to: number): void => {
      counter = to
    },
    /** Makes the credential. @returns the body of the endpoint that adds it, except its name */
    create: ({ challenge_id, options }: Asked) => {
      userHandle = options.user?.id
      const coseKey = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, algorithm],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ])
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, id, isoCBOR.encode(coseKey)])
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authenticatorData(options.rp?.id ?? '', attested)],
      ])
      return {
        challenge_id,
        credential: {
          id: encode(id),
          rawId: encode(id),
          type: 'public-key',
          response: {
            clientDataJSON: encode(clientData('webauthn.create', options.challenge)),
            attestationObject: encode(isoCBOR.encode(attestation as never)),
            transports: ['internal'],
          },
          clientExtensionResults: {},
        },
      }
    },
    /** Answers a challenge. @returns the body of the endpoint that takes it */
    answer: ({ challenge_id, options }: Asked) => {
      counter++
      const data = authenticatorData(options.rpId ?? '')
      const client = clientData('webauthn.get', options.challenge)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return {
        challenge_id,
        credential: {
          id: encode(id),
          rawId: encode(id),
          type: 'public-key',
          response: {
            clientDataJSON: encode(client),
            authenticatorData: encode(data),
            signature: encode(signature),
            userHandle: userHandle ?? null,
          },
          clientExtensionResults: {},
        },
      }
    },
  }
}

export type TestAuthenticator = ReturnType<typeof createAuthenticator>
