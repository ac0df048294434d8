import { TOKENS } from '#shared/foundation/tokens/index.ts'
import { DAY, HOUR } from '#shared/kernel/clock.ts'
import { RING_NAMES, type RingName, type SigningRing } from '#shared/kernel/ports/keys.ts'

/**
 * Time for which a function that can't reach Secrets Manager may keep signing with an old keyring. Otherwise it sees a change within
 * five minutes.
 */
const STALE = HOUR

const signs = (ring: SigningRing): number =>
  Math.max(...Object.values(TOKENS).map((kind) => (kind.ring === ring ? kind.life : 0))) + STALE

/**
 * Keyrings of the stack. `output` is the stack output with the secret's ARN. `life` is the time in ms after a change during which
 * something may still need the key that the change replaced.
 */
export const RINGS = {
  access: { output: 'AccessKeysSecret', what: 'access tokens of apps and people', life: signs('access') },
  callback: { output: 'CallbackKeysSecret', what: 'callback tokens', life: signs('callback') },
  console: { output: 'ConsoleKeysSecret', what: 'console and surface tokens', life: signs('console') },
  staff: { output: 'StaffKeysSecret', what: 'admin tokens', life: signs('staff') },
  /** The table can be restored to a time at which the old key was needed: point-in-time recovery reaches back 35 days. */
  data: { output: 'DataKeysSecret', what: 'what is encrypted in the table, and page cursors', life: 35 * DAY },
  /** Receipts are verified with the public keys, which stay published. Nothing needs the old private key. */
  receipts: { output: 'ReceiptKeysSecret', what: 'receipts of people’s decisions', life: STALE },
  /** Cards are verified with the public keys, which stay published for a while. */
  cards: { output: 'CardKeysSecret', what: 'A2A cards of agents', life: STALE },
} as const satisfies Record<RingName, { output: string; what: string; life: number }>

export const isRing = (name: string): name is RingName => (RING_NAMES as readonly string[]).includes(name)
