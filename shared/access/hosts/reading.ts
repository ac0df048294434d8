import { setTimeout as pause } from 'node:timers/promises'
import { rateLimited, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { HOUR, SECOND } from '#shared/kernel/clock.ts'
import { hostIn } from '#shared/kernel/folded-address.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { ConditionFailed, type ItemOf, ifUnchanged } from '#shared/table/entity.ts'
import { either, lte, missing } from '#shared/table/expressions.ts'
import { DEADLINE, UnusableDocument } from './document.ts'
import { type HostClient, HostClientEntity, HostReadingEntity } from './entity.ts'

type Reader = Pick<Deps, 'table' | 'clock'>

/** Time after which a reading that hasn't ended counts as lost with its function. */
const LOST = DEADLINE + SECOND

/** Pause in ms between two looks at a reading that another request carries out. */
const PAUSE = 100

/** An address that a host's client id leads to, and what is known of the host. */
export interface Asked {
  url: string
  id: string
  /** True if people have used the host. Strangers who invent hosts of its domain then don't use up what it may be read. */
  isKnown: boolean
  /** Limits the readings that one source address causes. @throws `rate_limited` */
  beforeReading(): Promise<void>
}

/**
 * Reads a host's document or keys, and stores what they say. Requests that come meanwhile share the reading and its outcome. A
 * failure isn't kept, because the next answer may be correct (draft-ietf-oauth-client-id-metadata-document, "Metadata Caching").
 * So each reading counts before it begins: for the source address, the host and the domain.
 * @param read reads, and stores the client
 * @throws {UnusableDocument}
 * @throws `rate_limited`
 */
export const readOnce = async (deps: Reader, asked: Asked, read: () => Promise<HostClient>): Promise<HostClient> => {
  const key = { url_hash: sha256(asked.url) }
  const by = newSecret()
  let isCounted = false
  for (let waited = 0; waited < LOST; ) {
    const running = await begin(deps, key, by)
    if (!running) return carryOut(deps, { ...key, by }, isCounted ? undefined : () => count(deps, asked), read)
    let current: Reading | undefined = running
    while (waited < LOST && current?.by === running.by && current.until > 0) {
      await pause(PAUSE)
      waited += PAUSE
      current = await deps.table.get(HostReadingEntity, key)
    }
    if (current?.by !== running.by || current.until > 0) continue
    if (current.problem !== undefined) throw new UnusableDocument(current.problem)
    const client = current.is_read && (await deps.table.get(HostClientEntity, { id_hash: sha256(asked.id) }))
    if (client) return client
    // The other request was over a limit, which may be that of its address.
    if (!isCounted) await count(deps, asked)
    isCounted = true
  }
  throw new UnusableDocument('The server doesn’t answer in time.')
}

type Reading = ItemOf<typeof HostReadingEntity>

/** Begins a reading, unless one is running. @returns the running one */
const begin = async (
  { table, clock }: Reader,
  key: Pick<Reading, 'url_hash'>,
  by: string,
): Promise<Reading | undefined> => {
  const now = clock.now()
  const begun = { ...key, by, until: now + LOST, expires_at: now + HOUR }
  try {
    await table.transact([HostReadingEntity.replace(begun, { where: { until: either(missing, lte(now)) } })])
    return undefined
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return error.current as Reading
  }
}

const carryOut = async (
  { table, clock }: Reader,
  key: Pick<Reading, 'url_hash' | 'by'>,
  countFirst: (() => Promise<void>) | undefined,
  read: () => Promise<HostClient>,
): Promise<HostClient> => {
  const outcome: Pick<Reading, 'is_read' | 'problem'> = {}
  try {
    await countFirst?.()
    const client = await read()
    outcome.is_read = true
    return client
  } catch (error) {
    if (error instanceof UnusableDocument) outcome.problem = error.message
    throw error
  } finally {
    const ended = { ...key, ...outcome, until: 0, expires_at: clock.now() + HOUR }
    await ifUnchanged(table.transact([HostReadingEntity.replace(ended, { where: { by: key.by } })]))
  }
}

/** Counts a reading for the source address, the host and the domain. @throws `rate_limited` */
const count = async (deps: Reader, { url, id, isKnown, beforeReading }: Asked): Promise<void> => {
  await beforeReading()
  const buckets = [
    { name: `host-reading:${sha256(id)}`, rate: LIMITS.hostDocumentRate },
    { name: `domain-reading:${isKnown ? 'known' : 'new'}:${hostIn(url)}`, rate: LIMITS.domainDocumentRate },
  ]
  for (const { name, rate } of buckets) {
    const { allowed, retryAfter } = await takeFromBucket(deps, name, rate)
    if (allowed) continue
    throw rateLimited('client', retryAfter, {
      message: 'The client’s metadata was asked for too often.',
      fix: `Wait ${retryAfter} s (Retry-After), then try again.`,
    })
  }
}
