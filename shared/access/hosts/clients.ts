import type { Deps } from '#shared/foundation/work/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { isDocumentAddress, readDocument, UnusableDocument } from './document.ts'
import { type HostClient, HostClientEntity } from './entity.ts'
import { readOnce } from './reading.ts'

const REGISTERED = /^mcpc_[\w-]{43}$/

const keyOf = (id: string) => ({ id_hash: sha256(id) })

const unknownClient = (message: string): PlatformError =>
  fail('invalid_client', {
    message,
    fix: 'Start again from the assistant. If this happens again, its makers have to correct their client metadata.',
  })

/** Loads what is known of a host that people have used, without reading its document again. */
const loadHostClient = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  id: string,
): Promise<HostClient | undefined> => {
  const client = isDocumentAddress(id) || REGISTERED.test(id) ? await table.get(HostClientEntity, keyOf(id)) : undefined
  return client && client.expires_at > clock.now() ? client : undefined
}

/**
 * Returns the host that asks for a consent, with its current document.
 * @param beforeReading limits how often one source address makes the platform read documents
 * @throws `invalid_client` for an unknown registration, and for a document that can't be read or used
 * @throws `rate_limited`
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
  const known = await loadHostClient(deps, id)
  if (known && (known.fresh_until ?? 0) > clock.now()) return known
  const asked = { url: id, id, isKnown: known !== undefined, beforeReading }
  try {
    return await readOnce(deps, asked, async () => {
      const { fresh_for, ...described } = await readDocument(deps, id)
      const now = clock.now()
      const base = { ...keyOf(id), id, kind: 'document' as const }
      const client = { ...base, ...described, fresh_until: now + fresh_for, expires_at: now + LIMITS.hostGrantLife }
      await table.transact([HostClientEntity.replace(client)])
      return client
    })
  } catch (error) {
    // Hosts that people use already keep their access while their document can't be read. They get no new consent.
    if (!(error instanceof UnusableDocument)) throw error
    throw unknownClient(`The assistant’s metadata can’t be used: ${error.message}`)
  }
}

/**
 * Returns a host that people have used, as its document describes it now: the document is read again once its lifetime has passed.
 * While it can't be read, hosts without keys keep their access, and those with keys are refused, because a key may have been
 * withdrawn.
 * @param beforeReading see `resolveHostClient`
 * @throws `invalid_client`, `rate_limited`
 */
export const loadCurrentHostClient = async (
  deps: Pick<Deps, 'table' | 'clock' | 'http' | 'settings'>,
  id: string,
  beforeReading: () => Promise<void>,
): Promise<HostClient | undefined> => {
  const known = await loadHostClient(deps, id)
  if (known?.kind !== 'document') return known
  if ((known.fresh_until ?? 0) > deps.clock.now()) return known
  try {
    return await resolveHostClient(deps, id, beforeReading)
  } catch (error) {
    if (known.auth === 'none' && error instanceof PlatformError && error.status < 500) return known
    throw error
  }
}
