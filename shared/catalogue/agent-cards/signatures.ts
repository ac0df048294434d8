import { createLocalJWKSet, flattenedVerify, type JSONWebKeySet } from 'jose'
import type { Deps } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { isObject, type JsonObject } from '#shared/kernel/json-schema/json-object.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { signedContent } from './canonical.ts'

/** Time to fetch a key set. */
const DEADLINE = 5 * SECOND
/** Signatures of a card that are verified. Each may name a key set of its own. */
const MOST_SIGNATURES = 3
const LONGEST_ID = 200

/** Asymmetric algorithms. A card's signature never depends on a shared secret. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']

/** A signature of a card that names its key. */
interface Named {
  kid: string
  jku: URL
  protected: string
  signature: string
}

/** A card's signature that a key confirmed, and the host that publishes the key. */
export interface Confirmed {
  kid: string
  host: string
}

/** Thrown if a published key contradicts the signature that names it: somebody changed the card. */
export class WrongSignature extends Error {
  readonly kid: string
  constructor(kid: string) {
    super('the signature doesn’t match the card')
    this.kid = kid
  }
}

/**
 * Verifies a card's signatures (A2A 1.0 §8.4) with the keys that they name. Key sets are fetched from these hosts only,
 * because a key vouches for the host that publishes it and for no other.
 * @throws {WrongSignature}
 */
export const confirmSignatures = async (
  deps: Pick<Deps, 'http'>,
  card: JsonObject,
  hosts: readonly string[],
): Promise<Confirmed[]> => {
  const signatures = Array.isArray(card.signatures) ? card.signatures : []
  const named = signatures.slice(0, MOST_SIGNATURES).flatMap((one) => read(one) ?? [])
  const confirmed: Confirmed[] = []
  for (const { kid, jku, ...signature } of named) {
    if (!hosts.includes(jku.host)) continue
    const key = await loadKey(deps, jku, kid)
    if (!key) continue
    const payload = Buffer.from(signedContent(card)).toString('base64url')
    try {
      await flattenedVerify({ ...signature, payload }, key, { algorithms: ALGORITHMS })
    } catch {
      throw new WrongSignature(kid)
    }
    confirmed.push({ kid, host: jku.host })
  }
  return confirmed
}

const read = (value: unknown): Named | undefined => {
  if (!isObject(value) || typeof value.protected !== 'string' || typeof value.signature !== 'string') return undefined
  const { kid, jku } = headerOf(value.protected)
  if (typeof kid !== 'string' || kid === '' || kid.length > LONGEST_ID) return undefined
  if (typeof jku !== 'string' || !URL.canParse(jku)) return undefined
  return { kid, jku: new URL(jku), protected: value.protected, signature: value.signature }
}

const headerOf = (encoded: string): JsonObject => {
  const header = parse(Buffer.from(encoded, 'base64url'))
  return isObject(header) ? header : {}
}

const parse = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** @returns undefined if the key can't be had, in which case the signature says nothing */
const loadKey = async ({ http }: Pick<Deps, 'http'>, jku: URL, kid: string) => {
  const result = await http.send({
    method: 'GET',
    url: jku.href,
    headers: { Accept: 'application/jwk-set+json, application/json', 'User-Agent': 'AgentPlatform/1.0 (+a2a)' },
    deadlineMs: DEADLINE,
    maxResponseBytes: LIMITS.agentCardBytes,
    repeatable: true,
  })
  if (result.kind === 'failure' || result.status !== 200 || result.truncated) return undefined
  const set = parse(result.body)
  if (!isObject(set) || !Array.isArray(set.keys)) return undefined
  const keys = set.keys.filter((key) => isObject(key) && key.kid === kid)
  return keys.length === 1 ? createLocalJWKSet({ keys } as JSONWebKeySet) : undefined
}
