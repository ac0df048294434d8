import type { Work } from '#shared/foundation/work/index.ts'
import { type ErrorCode, fail, PlatformError } from '../kernel/errors.ts'
import { checkIdempotencyKey, isRetryable, lockIdempotencyKey } from './idempotency.ts'
import { toPlatformError } from './render.ts'

/** An idempotency key that belongs to a call inside a message, and what it is bound to. */
export interface CallKey {
  /** Undefined if the call has none. */
  key: string | undefined
  /** Caller and name of the call. The same key in another scope is a different key. */
  scope: string
  /** Canonical text of the call. The same key with another text is refused. */
  body: string
  workspaceId: string
}

export interface Outcome<T> {
  answer: T | PlatformError
  /** The answer was stored by an earlier call with the key. */
  isReplay: boolean
}

interface Call<T> {
  /** Makes the call. Its answer is stored in the transaction that commits it. */
  act(work: Work): Promise<T>
  /** Returns false for an answer that the same call may later replace. */
  isFinal(answer: T): boolean
  /** Returns false if the caller may no longer see what was stored. The call is then made again. */
  mayReplay(): Promise<boolean>
}

/**
 * Makes a call at most once under its key, by the rules of the header (contract/general.md#idempotency-keys). An error of
 * the call is part of its outcome.
 * @throws `bad_request` for an impossible key, `conflict` while the first call still runs, `idempotency_key_reused`
 */
export const onceUnderKey = async <T extends object>(
  work: Work,
  { key, scope, body, workspaceId }: CallKey,
  { act, isFinal, mayReplay }: Call<T>,
): Promise<Outcome<T>> => {
  if (key === undefined) return { answer: await errorAsAnswer(() => act(work)), isReplay: false }
  checkIdempotencyKey(key, false)
  const lock = await lockIdempotencyKey(work, `${scope}\n${key}`, body, work.requestId, {
    long: true,
    workspaceId,
  })
  if (lock.replay && (await mayReplay())) return { answer: stored<T>(lock.replay), isReplay: true }
  const complete = (status: number, value: object) =>
    lock.completion({ status, headers: {}, body: JSON.stringify(value) })
  let isStored = false
  const answer = await errorAsAnswer(() =>
    act({
      ...work,
      id: lock.id,
      async commit(writes, value) {
        if (value === undefined) return work.commit(writes)
        await work.commit([...writes, await complete(200, value as object)])
        isStored = true
      },
    }),
  )
  if (isStored || lock.replay) return { answer, isReplay: false }
  if (answer instanceof PlatformError) {
    if (isRetryable(answer)) await lock.release(answer.status < 500)
    else {
      const { code, message, fix, details } = answer
      await work.table.transact([await complete(answer.status, { code, message, fix, details })])
    }
  } else if (isFinal(answer)) await work.table.transact([await complete(200, answer)])
  else await lock.release(true)
  return { answer, isReplay: false }
}

const errorAsAnswer = async <T>(act: () => Promise<T>): Promise<T | PlatformError> => {
  try {
    return await act()
  } catch (error) {
    return toPlatformError(error)
  }
}

const stored = <T>({ status, body }: { status: number; body: string }): T | PlatformError => {
  const value = JSON.parse(body)
  if (status < 400) return value as T
  const { code, ...rest } = value as { code: ErrorCode; message: string; fix: string; details: Record<string, unknown> }
  return fail(code, rest)
}
