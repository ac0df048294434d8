/** Raw bytes as base64url without padding. */
const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const fromBase64url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))

const CURVE = { name: 'ECDH', namedCurve: 'P-256' } as const

/** Encrypts a value for the holder of a public key: `<an ephemeral public key>.<iv>.<AES-256-GCM ciphertext>`. */
export const seal = async (publicKey: string, value: unknown): Promise<string> => {
  const theirs = await crypto.subtle.importKey('raw', fromBase64url(publicKey), CURVE, false, [])
  const own = await crypto.subtle.generateKey(CURVE, false, ['deriveBits'])
  const secret = await crypto.subtle.deriveBits({ name: 'ECDH', public: theirs }, own.privateKey, 256)
  const aes = await crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['encrypt'])
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const text = new TextEncoder().encode(JSON.stringify(value))
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, aes, text)
  const ownPublic = await crypto.subtle.exportKey('raw', own.publicKey)
  return [ownPublic, iv, sealed].map((part) => base64url(new Uint8Array(part))).join('.')
}

/** Eight letters that name a public key, the same in the portal and in the command-line tool (`cli/sign-in/by-browser.ts`). */
export const codeOf = async (publicKey: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(publicKey))
  const letters = [...new Uint8Array(digest, 0, 8)].map((byte) => 'BCDFGHJKLMNPQRSTVWXZ'[byte % 20])
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`
}
