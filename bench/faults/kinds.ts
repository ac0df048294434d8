import { gzipSync } from 'node:zlib'
import type { CertificateKind } from '#testkit/certificates.ts'
import type { Answer } from '#testkit/receiver.ts'

/** Kind of receiver, which gets events of the type `custom.<name>`. */
export interface Kind {
  name: string
  /** Relative number of its events. */
  weight: number
  /** Answer to the first request of every event. Later requests succeed. */
  first?: Answer
  /** Answer to every request. */
  always?: Answer
  tls?: CertificateKind
  /** Expected end of its deliveries, unless a worker dies five times over one of them. */
  ends: 'delivered' | 'dead-lettered'
}

const BOMB_BYTES = 64 * 1024 * 1024
const status = (code: number, headers: Record<string, string> = {}): Answer => ({
  kind: 'answer',
  status: code,
  headers,
})
const bomb = (): Answer => ({
  kind: 'answer',
  headers: { 'content-encoding': 'gzip' },
  // Compressed once, because that costs far more than inflating the part that is read.
  body: gzipSync(Buffer.alloc(BOMB_BYTES)),
})

/** Every kind of receiver of the fault runs. */
export const receiverKinds = (): Kind[] => [
  { name: 'well', weight: 700, ends: 'delivered' },
  { name: 'http-500', weight: 40, first: status(500), ends: 'delivered' },
  { name: 'http-503', weight: 30, first: status(503), ends: 'delivered' },
  { name: 'http-429', weight: 30, first: status(429, { 'retry-after': '1' }), ends: 'delivered' },
  { name: 'http-410', weight: 20, first: status(410), ends: 'delivered' },
  { name: 'resets', weight: 30, first: { kind: 'reset', when: 'before' }, ends: 'delivered' },
  { name: 'breaks-off', weight: 20, first: { kind: 'reset', when: 'body' }, ends: 'delivered' },
  { name: 'gzip-bomb', weight: 20, always: bomb(), ends: 'delivered' },
  { name: 'hangs', weight: 1, first: { kind: 'hang' }, ends: 'delivered' },
  { name: 'drips', weight: 1, first: { kind: 'drip', everyMs: 1_000 }, ends: 'delivered' },
  { name: 'always-500', weight: 20, always: status(500), ends: 'dead-lettered' },
  { name: 'always-410', weight: 20, always: status(410), ends: 'dead-lettered' },
  { name: 'always-resets', weight: 20, always: { kind: 'reset', when: 'before' }, ends: 'dead-lettered' },
  { name: 'always-hangs', weight: 0.5, always: { kind: 'hang' }, ends: 'dead-lettered' },
  { name: 'expired-certificate', weight: 15, tls: 'expired', ends: 'dead-lettered' },
]
