import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import type { Keys } from '../domain/deps.ts'
import { type Clock, MINUTE } from '../kernel/clock.ts'
import { type Keyring, parseKeyring } from '../kernel/keyring.ts'

/** A rotated ring is seen within this time; the old key goes on verifying, so nobody notices. */
const FRESH = 5 * MINUTE

/** The keyrings from Secrets Manager, kept in memory. A failed refresh goes on with the ring that is known. */
export const createKeys = (arns: Record<keyof Keys, string | undefined>, clock: Clock): Keys => {
  let client: SecretsManagerClient | undefined
  const rings = new Map<keyof Keys, { ring: Promise<Keyring>; at: number }>()
  const fetchRing = async (name: keyof Keys): Promise<Keyring> => {
    const SecretId = arns[name]
    if (!SecretId) throw new Error(`this function may not read the ${name} keyring`)
    client ??= new SecretsManagerClient({ maxAttempts: 4 })
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }))
    return parseKeyring(SecretString ?? '')
  }
  const ring = (name: keyof Keys): Promise<Keyring> => {
    const known = rings.get(name)
    if (known && clock.now() - known.at < FRESH) return known.ring
    const fetched = fetchRing(name).catch((error: unknown) => {
      if (!known) {
        rings.delete(name)
        throw error
      }
      return known.ring
    })
    rings.set(name, { ring: fetched, at: clock.now() })
    return fetched
  }
  return { tokens: () => ring('tokens'), admin: () => ring('admin'), data: () => ring('data') }
}
