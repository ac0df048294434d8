import { gunzipSync, gzipSync } from 'node:zlib'
import type { Deps, Work } from '../domain/deps.ts'
import { type Kept, KeptEntity } from '../entities/platform.ts'
import { SECOND } from '../kernel/clock.ts'
import { fail, type PlatformError } from '../kernel/errors.ts'
import { derivedId, newId } from '../kernel/ids.ts'
import { LIMITS } from '../kernel/limits.ts'
import { seal, unsealBytes } from '../kernel/sealed.ts'
import { sha256 } from '../kernel/secrets.ts'
import { ConditionFailed, ifUnchanged, type Write } from '../table/entity.ts'
import { lte } from '../table/expressions.ts'

/** An answer as it went out the first time. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** How long a request has its key to itself; longer than any handler runs behind the gateway. */
const LOCK = 35 * SECOND
const LONG_LOCK = 180 * SECOND
/** Sealed answers over this go to the bucket: an item holds 400 KB. */
const INLINE_ANSWER = 200_000

const KEY_SHAPE = /^[\x20-\x7e]{1,255}$/
const UUID_SHAPE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Checks the header. Before sign-in, where no caller narrows the scope, a key must be a UUID (decisions §1). */
export const checkKey = (key: string, anonymous: boolean): string => {
  if (!KEY_SHAPE.test(key)) {
    throw fail('bad_request', {
      message: 'Idempotency-Key must have 1 to 255 printable ASCII characters.',
      fix: 'Send a UUID as Idempotency-Key.',
    })
  }
  if (anonymous && !UUID_SHAPE.test(key)) {
    throw fail('bad_request', {
      message: 'Idempotency-Key must be a UUID here.',
      fix: 'Send a UUID as Idempotency-Key.',
    })
  }
  return key
}

/** A request under an Idempotency-Key: the right to answer now, and what was answered before, if anything was. */
export interface Hold {
  /** Where it must not be given again, what the request comes to takes its place; a refusal does not. */
  replay: KeptAnswer | undefined
  /** The n-th id of a kind, the same at every try. */
  id: Work['id']
  /** The write that completes the record with the answer; it goes into the transaction of what the request does. */
  completion(answer: KeptAnswer): Promise<Write>
  /** Lets the next try run: `forget` also frees the key for another body. */
  release(forget: boolean): Promise<void>
}

/**
 * Takes the key for this request.
 * @param scope caller, method and path: the same key elsewhere is another key
 * @throws `idempotency_key_reused` for another body; `conflict` while the first request still runs
 */
export const hold = async (
  deps: Deps,
  scope: string,
  body: string,
  requestId: string,
  long: boolean,
): Promise<Hold> => {
  const { table, clock } = deps
  const scope_hash = sha256(scope)
  const body_hash = sha256(body)
  const now = clock.now()
  const locked_until = now + (long ? LONG_LOCK : LOCK)
  const fresh: Kept = {
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
    await table.transact([KeptEntity.create(fresh)])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const current = error.current as Kept
    if (current.expires_at <= now)
      await table.transact([
        KeptEntity.replace(fresh, { where: { owner: current.owner }, otherwise: () => stillRunning(LOCK) }),
      ])
    else if (current.body_hash !== body_hash) throw fail('idempotency_key_reused')
    else if (current.state === 'done') return successor(deps, current, requestId, await open(deps, current))
    else if (current.locked_until > now) throw stillRunning(current.locked_until - now)
    else {
      // The first died, or was released: this one goes on with the same ids.
      await table.transact([
        KeptEntity.update(
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
  return holder(deps, record, requestId)
}

const holder = (deps: Deps, record: Kept, owner: string): Hold => {
  const { scope_hash } = record
  let made = 0
  const mine = { owner, state: 'started' as const }
  return {
    replay: undefined,
    id: (kind) => derivedId(kind, record.created_at, `${scope_hash}\n${made++}`),
    async completion(answer) {
      return KeptEntity.update(
        { scope_hash },
        { set: { state: 'done', status: answer.status, answer: await close(deps, record, owner, answer) } },
        { where: mine, otherwise: () => stillRunning(LOCK) },
      )
    },
    async release(forget) {
      await ifUnchanged(
        deps.table.transact([
          forget
            ? KeptEntity.delete({ scope_hash }, { where: mine })
            : KeptEntity.update({ scope_hash }, { set: { locked_until: 0 } }, { where: mine }),
        ]),
      )
    },
  }
}

/**
 * Of requests whose kept answer must not be given again, the first to come to one has it kept in that answer's place: then
 * its repeats get what it got. Nothing is locked meanwhile, and no refusal is kept: the answer may still be another's.
 */
const successor = (deps: Deps, current: Kept, owner: string, replay: KeptAnswer): Hold => ({
  replay,
  id: (kind) => newId(kind, deps.clock.now()),
  async completion(answer) {
    return KeptEntity.update(
      { scope_hash: current.scope_hash },
      { set: { owner, status: answer.status, answer: await close(deps, current, owner, answer) } },
      { where: { owner: current.owner, state: 'done' }, otherwise: () => stillRunning(LOCK) },
    )
  },
  async release() {},
})

const stillRunning = (ms: number): PlatformError =>
  fail('conflict', {
    message: 'The first request with this Idempotency-Key is still running.',
    fix: 'Send it again after Retry-After seconds.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(Math.min(ms, 5_000) / 1_000))) },
  })

/** A kept answer may hold a secret, so it is encrypted, bound to its record. */
const close = async (
  { keys, objects }: Deps,
  { scope_hash }: Kept,
  owner: string,
  answer: KeptAnswer,
): Promise<string> => {
  const sealed = await seal(await keys.data(), `kept:${scope_hash}`, gzipSync(JSON.stringify(answer)))
  if (sealed.length <= INLINE_ANSWER) return sealed
  // Not over an answer that the record may go on naming.
  const object = `kept/${scope_hash}/${owner}`
  await objects.put(object, Buffer.from(sealed), 'application/jose')
  return `object:${object}`
}

const open = async ({ keys, objects }: Deps, { answer = '', scope_hash }: Kept): Promise<KeptAnswer> => {
  const sealed = answer.startsWith('object:')
    ? new TextDecoder().decode(await objects.get(answer.slice('object:'.length)))
    : answer
  const bytes = await unsealBytes(await keys.data(), `kept:${scope_hash}`, sealed)
  return JSON.parse(gunzipSync(bytes).toString()) as KeptAnswer
}
