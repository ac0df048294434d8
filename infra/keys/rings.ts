import { TOKENS } from '#shared/domain/tokens/tokens.ts'
import { DAY, HOUR } from '#shared/kernel/clock.ts'

/**
 * A function that cannot reach Secrets Manager goes on signing with the ring that it knows. Far longer than the five minutes
 * in which it otherwise sees a change.
 */
const STALE = HOUR

const longest = (ring: 'tokens' | 'admin'): number =>
  Math.max(...Object.values(TOKENS).map((kind) => (kind.ring === ring ? kind.life : 0))) + STALE

/** The stack's keyrings. `output` is the stack's output with the secret's ARN; `life` is how long after a change, in ms, something may still need a key that the change put out of use. */
export const RINGS = {
  tokens: { output: 'TokenKeysSecret', what: 'access, callback, surface and console tokens', life: longest('tokens') },
  admin: { output: 'AdminKeysSecret', what: 'admin tokens', life: longest('admin') },
  /** As long as the table can be restored to a time at which the old key was needed: point-in-time recovery reaches back 35 days. */
  data: { output: 'DataKeysSecret', what: 'what is encrypted in the table, and page cursors', life: 35 * DAY },
} as const

export type RingName = keyof typeof RINGS

export const isRing = (name: string): name is RingName => Object.hasOwn(RINGS, name)
