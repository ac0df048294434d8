import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { isDocumentAddress, readDocument, UnusableDocument } from './document.ts'
import { type HostClient, HostClientEntity } from './entity.ts'

const REGISTERED = /^mcpc_[\w-]{43}$/

const keyOf = (id: string) => ({ id_hash: sha256(id) })

/** Time for which a document that can't be used isn't read again. */
const FAILED_FOR = MINUTE

const unknownClient = (message: string): PlatformError =>
  fail('invalid_client', {
    message,
    fix: 'Start again from the assistant. If this happens again, its makers have to correct their client metadata.',
  })

/** Loads what is known of a host that people have used, without reading its document again. */
export const loadHostClient = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  id: string,
): Promise<HostClient | undefined> => {
  const client = isDocumentAddress(id) || REGISTERED.test(id) ? await table.get(HostClientEntity, keyOf(id)) : undefined
  return client && client.expires_at > clock.now() && client.name !== '' ? client : undefined
}

/**
 * Returns the host that asks for a consent, with its current document.
 * @param beforeReading limits how often strangers make the platform read a document that it doesn't know
 * @throws `invalid_client` for an unknown registration, and for a document that can't be read or used
 */
export const resolveHostClient = async (
  deps: Pick<Deps, 'table' | 'clock' | 'http' | 'settings'>,
  id: string,
  beforeReading: () => Promise<void>,
): Promise<HostClient> => {
  const { table, clock, settings } = deps
  if (REGISTERED.test(id)) {
    const client = await loadHostClient(deps, id)
    if (!client) throw unknownClient('This registration is unknown, or was removed because nobody used it.')
    return client
  }
  if (!isDocumentAddress(id) || (id.startsWith('http:') && !settings.allowLoopbackTargets)) {
    throw unknownClient('The client_id must be an https address with a path, without fragment or dot segments.')
  }
  const known = await table.get(HostClientEntity, keyOf(id))
  const now = clock.now()
  if (known && (known.fresh_until ?? 0) > now) {
    if (known.problem !== undefined) throw unknownClient(`The assistant’s metadata can’t be used: ${known.problem}`)
    return known
  }
  if (!known) await beforeReading()
  const base = { ...keyOf(id), id, kind: 'document' as const }
  try {
    const { fresh_for, ...described } = await readDocument(deps, id)
    const client = { ...base, ...described, fresh_until: now + fresh_for, expires_at: now + LIMITS.hostGrantLife }
    await table.transact([HostClientEntity.replace(client)])
    return client
  } catch (error) {
    if (!(error instanceof UnusableDocument)) throw error
    // Hosts that people use already keep their access while their document can't be read. They get no new consent.
    const before = known ?? { name: '', redirect_uris: [], auth: 'none' as const, expires_at: now + DAY }
    const failed = { ...before, ...base, problem: error.message, fresh_until: now + FAILED_FOR }
    await table.transact([HostClientEntity.replace(failed)])
    throw unknownClient(`The assistant’s metadata can’t be used: ${error.message}`)
  }
}
