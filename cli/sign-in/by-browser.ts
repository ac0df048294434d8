import { createHash, webcrypto } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Key that the developer portal hands to the tool, with its account and expiry. */
export interface Granted {
  api_key: string
  email: string
  expires_at: string | null
}

export interface SignIn {
  /** Address of the portal that the developer opens. */
  address: string
  /** Shown by the tool and the portal, so that people see that both mean the same sign-in. */
  code: string
  /** The grant, or undefined if it was refused. Rejects when the time is up. */
  granted: Promise<Granted | undefined>
  end(): void
}

const CURVE = { name: 'ECDH', namedCurve: 'P-256' } as const
const { subtle } = webcrypto

/**
 * Begins a sign-in in the browser. The portal creates a key, encrypts it for this process and sends the browser back to a port
 * of this machine. The key is therefore readable neither in the browser's history nor by other programs that see the address.
 * No one can send a key of theirs instead, because the public key is known to the portal's page only.
 */
export const signInByBrowser = async (baseUrl: string, name: string, limitMs: number): Promise<SignIn> => {
  const pair = await subtle.generateKey(CURVE, false, ['deriveBits'])
  const publicKey = Buffer.from(await subtle.exportKey('raw', pair.publicKey)).toString('base64url')
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const query = new URLSearchParams({ port: String(port), key: publicKey, name })
  const end = () => {
    server.close()
    server.closeAllConnections()
  }
  return {
    address: `${baseUrl}/developers#/terminal?${query}`,
    code: codeOf(publicKey),
    granted: receive(server, pair.privateKey, baseUrl, limitMs).finally(end),
    end,
  }
}

/** Eight letters that name a public key. */
const codeOf = (publicKey: string): string => {
  const digest = createHash('sha256').update(publicKey).digest()
  const letters = [...digest.subarray(0, 8)].map((byte) => 'BCDFGHJKLMNPQRSTVWXZ'[byte % 20])
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`
}

const receive = (server: Server, privateKey: webcrypto.CryptoKey, baseUrl: string, limitMs: number) =>
  new Promise<Granted | undefined>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('Nobody approved the sign-in in time.')), limitMs)
    server.on('request', async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
      const answer = async (): Promise<{ granted: Granted | undefined } | undefined> => {
        if (request.method !== 'GET' || pathname !== '/signed-in') return undefined
        if (searchParams.get('denied') === 'true') return { granted: undefined }
        return { granted: await unsealed(privateKey, searchParams.get('sealed') ?? '') }
      }
      const decided = await answer().catch(() => undefined)
      if (!decided) {
        response.writeHead(400, { 'content-type': 'text/plain' }).end('This isn’t an answer of the developer portal.')
        return
      }
      // Removes the encrypted key from the address.
      const place = decided.granted ? 'done' : 'denied'
      response.writeHead(303, { location: `${baseUrl}/developers#/terminal/${place}` }).end()
      clearTimeout(timer)
      response.once('close', () => resolve(decided.granted))
    })
  })

/** Decrypts `<the page's public key>.<iv>.<ciphertext>`. @throws if it isn't encrypted for this key */
const unsealed = async (privateKey: webcrypto.CryptoKey, sealed: string): Promise<Granted> => {
  const [key, iv, text] = sealed.split('.').map((part) => Uint8Array.from(Buffer.from(part, 'base64url')))
  if (!key || !iv || !text) throw new Error('The answer is incomplete.')
  const theirs = await subtle.importKey('raw', key, CURVE, false, [])
  const secret = await subtle.deriveBits({ name: 'ECDH', public: theirs }, privateKey, 256)
  const aes = await subtle.importKey('raw', secret, 'AES-GCM', false, ['decrypt'])
  const opened = await subtle.decrypt({ name: 'AES-GCM', iv }, aes, text)
  return JSON.parse(new TextDecoder().decode(opened))
}
