import { type IdempotencyRecord, IdempotencyRecordEntity } from '#shared/foundation/idempotency/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { SECOND } from '../kernel/clock.ts'
import { seal, unsealBytes } from '../kernel/encryption.ts'
import { fail, type PlatformError } from '../kernel/errors.ts'
import { derivedId, newId } from '../kernel/ids.ts'
import type { SealingKeys } from '../kernel/keyring.ts'
import { LIMITS } from '../kernel/limits.ts'
import { sha256 } from '../kernel/secrets.ts'
import { ConditionFailed, ifUnchanged, type Write } from '../table/entity.ts'
import { lte } from '../table/expressions.ts'
import { packAnswer, unpackAnswer } from './packed-answer.ts'

/** A stored response, as it was first sent. */
export interface StoredResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** Duration of a request's lock on its key. Longer than any handler runs behind the gateway. */
const LOCK = 35 * SECOND
const LONG_LOCK = 180 * SECOND
/** Sealed responses larger than this go to the bucket, because an item holds at most 400 KB. */
const INLINE_ANSWER = 200_000

const KEY_SHAPE = /^[\x20-\x7e]{1,255}$/
const UUID_SHAPE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Validates the header. Before sign-in, no caller narrows the scope, so the key must be a UUID
 * (contract/general.md#idempotency-keys).
 */
export const checkIdempotencyKey = (key: string, anonymous: boolean): string => {
  if (!KEY_SHAPE.test(key)) {
    throw fail('bad_request', {
      message: 'Idempotency-Key must have 1 to 255 printable ASCII characters.',
      fix: 'Send a UUID as Idempotency-Key.',
    })
  }
  if (anonymous && !UUID_SHAPE.test(key)) {
    throw fail('bad_request', {
      message: 'Idempotency-Key must be a UUID on this endpoint.',
      fix: 'Send a UUID as Idempotency-Key.',
    })
  }
  return key
}

/** Codes whose responses aren't stored. The same key may be retried (contract/general.md#idempotency-keys). */
const NOT_KEPT = new Set([
  'insufficient_scope',
  'scope_denied_by_admin',
  'app_suspended',
  'installation_suspended',
  'confirmation_required',
  'passkey_required',
])

/** Reports whether a retry of the same request may have another outcome, so that the error isn't stored. */
export const isRetryable = ({ status, code, headers }: PlatformError): boolean =>
  status === 401 ||
  status === 413 ||
  status === 415 ||
  status === 429 ||
  status >= 500 ||
  NOT_KEPT.has(code) ||
  headers['retry-after'] !== undefined

/** A request's lock on an Idempotency-Key, with the stored response if there is one. */
export interface IdempotencyLock {
  /** The stored response. If it must not be replayed, the request's success replaces it. An error does not. */
  replay: StoredResponse | undefined
  /** Returns the n-th id of a kind, the same on every attempt. */
  id: Work['id']
  /**
   * Returns the write that completes the record with the response. It belongs to the transaction of the request's
   * change.
   */
  completion(answer: StoredResponse): Promise<Write>
  /** Lets the next attempt run. `forget` also frees the key for another body. */
  release(forget: boolean): Promise<void>
}

interface LockOptions {
  /** The request waits for external servers. */
  long?: boolean
  /** Workspace whose data key encrypts the response. Default: the ring `data`. */
  workspaceId?: string | undefined
}

/** Store of responses, and the keys that encrypt them. */
interface Kept {
  objects: Deps['objects']
  sealing: () => Promise<SealingKeys>
}

/**
 * Locks the key for this request.
 * @param scope caller, method and path: the same key in another scope is a different key
 * @throws `idempotency_key_reused` for another body; `conflict` while the first request still runs
 */
export const lockIdempotencyKey = async (
  deps: Deps,
  scope: string,
  body: string,
  requestId: string,
  { long = false, workspaceId }: LockOptions,
): Promise<IdempotencyLock> => {
  const { table, clock, keys } = deps
  const sealing = async () => (workspaceId === undefined ? keys.data() : keys.ofWorkspace(workspaceId))
  const kept: Kept = { objects: deps.objects, sealing }
  const scope_hash = sha256(scope)
  const body_hash = sha256(body)
  const now = clock.now()
  const locked_until = now + (long ? LONG_LOCK : LOCK)
  const fresh: IdempotencyRecord = {
    scope_hash,
    body_hash,
    state: 'started',
    owner: requestId,
    locked_until,
    created_at: now,
    expires_at: now + LIMITS.idempotencyLife,
  }
  let record = fresh
  try {
    await table.transact([IdempotencyRecordEntity.create(fresh)])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const current = error.current as IdempotencyRecord
    if (current.expires_at <= now)
      await table.transact([
        IdempotencyRecordEntity.replace(fresh, {
          where: { owner: current.owner },
          otherwise: () => stillRunning(LOCK),
        }),
      ])
    else if (current.body_hash !== body_hash) throw fail('idempotency_key_reused')
    else if (current.state === 'done') return successor(deps, kept, current, requestId, await open(kept, current))
    else if (current.locked_until > now) throw stillRunning(current.locked_until - now)
    else {
      // The first request died or released the key. This one continues with the same ids.
      await table.transact([
        IdempotencyRecordEntity.update(
          { scope_hash },
          { set: { owner: requestId, locked_until } },
          {
            where: { owner: current.owner, state: 'started', locked_until: lte(now) },
            otherwise: () => stillRunning(LOCK),
          },
        ),
      ])
      record = current
    }
  }
  return holder(deps, kept, record, requestId)
}

const holder = (deps: Deps, kept: Kept, record: IdempotencyRecord, owner: string): IdempotencyLock => {
  const { scope_hash } = record
  let made = 0
  const mine = { owner, state: 'started' as const }
  return {
    replay: undefined,
    id: (kind) => derivedId(kind, record.created_at, `${scope_hash}\n${made++}`),
    async completion(answer) {
      return IdempotencyRecordEntity.update(
        { scope_hash },
        { set: { state: 'done', status: answer.status, answer: await close(kept, record, owner, answer) } },
        { where: mine, otherwise: () => stillRunning(LOCK) },
      )
    },
    async release(forget) {
      await ifUnchanged(
        deps.table.transact([
          forget
            ? IdempotencyRecordEntity.delete({ scope_hash }, { where: mine })
            : IdempotencyRecordEntity.update({ scope_hash }, { set: { locked_until: 0 } }, { where: mine }),
        ]),
      )
    },
  }
}

/**
 * Lock on a key whose stored response must not be replayed. The first request to succeed stores its response in place
 * of the old one, and its repeats get that response. Nothing is locked in the meantime. Errors aren't stored, because
 * another request's response may still be valid.
 */
const successor = (
  deps: Deps,
  kept: Kept,
  current: IdempotencyRecord,
  owner: string,
  replay: StoredResponse,
): IdempotencyLock => ({
  replay,
  id: (kind) => newId(kind, deps.clock.now()),
  async completion(answer) {
    return IdempotencyRecordEntity.update(
      { scope_hash: current.scope_hash },
      { set: { owner, status: answer.status, answer: await close(kept, current, owner, answer) } },
      { where: { owner: current.owner, state: 'done' }, otherwise: () => stillRunning(LOCK) },
    )
  },
  async release() {},
})

const stillRunning = (ms: number): PlatformError =>
  fail('conflict', {
    message: 'Another request with this Idempotency-Key is still running.',
    fix: 'Send the request again after Retry-After seconds.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(Math.min(ms, 5_000) / 1_000))) },
  })

/** Encrypts a response and binds it to its record. A stored response may hold a secret. */
const close = async (
  { sealing, objects }: Kept,
  { scope_hash }: IdempotencyRecord,
  owner: string,
  answer: StoredResponse,
): Promise<string> => {
  const sealed = await seal(await sealing(), `kept:${scope_hash}`, packAnswer(answer))
  if (sealed.length <= INLINE_ANSWER) return sealed
  // Does not overwrite an object that the record may still name.
  const object = `kept/${scope_hash}/${owner}`
  await objects.put(object, Buffer.from(sealed), 'application/jose')
  return `object:${object}`
}

const open = async (
  { sealing, objects }: Kept,
  { answer = '', scope_hash }: IdempotencyRecord,
): Promise<StoredResponse> => {
  const sealed = answer.startsWith('object:')
    ? new TextDecoder().decode(await objects.get(answer.slice('object:'.length)))
    : answer
  const bytes = await unsealBytes(await sealing(), `kept:${scope_hash}`, sealed)
  return unpackAnswer(bytes) as StoredResponse
}
