import { sign, verify } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import { describe, expect, it } from 'vitest'
import { parseKeyring } from '#shared/kernel/keyring.ts'

const text = JSON.stringify({ current: 'k2', k1: 'a'.repeat(64), k2: 'b'.repeat(64) })
const ring = parseKeyring(text)

describe('the signing keys of a keyring', () => {
  it('are the same in every instance, and another for each id', () => {
    const again = parseKeyring(text)
    expect(ring.signing()?.jwk).toEqual(again.signing('k2')?.jwk)
    expect(ring.signing('k1')?.kid).not.toBe(ring.signing('k2')?.kid)
    expect(ring.signing('k3')).toBeUndefined()
  })

  it('verify with the published key what the private key signed', () => {
    const pair = ring.signing()
    if (!pair) throw new Error('no key')
    const data = Buffer.from('text')
    const signature = sign('sha256', data, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' })
    expect(verify('sha256', data, { key: pair.publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true)
    expect(signature).toHaveLength(64)
  })

  it('are named by their RFC 7638 thumbprint and publish no private part', async () => {
    const { jwk, kid } = ring.signing() ?? { jwk: undefined, kid: '' }
    expect(jwk && (await calculateJwkThumbprint(jwk))).toBe(kid)
    expect(jwk).not.toHaveProperty('d')
  })
})
