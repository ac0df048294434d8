import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { ObjectStore } from '../kernel/ports/objects.ts'
import { type Bucket, createBucket } from './objects/bucket.ts'
import { createPresigner } from './objects/presign.ts'
import { type Answer, requestTo } from './signed-requests.ts'

/** Attempts of an operation, the first included. */
const MAX_ATTEMPTS = 5

/** Longest pause in ms before the second attempt. Doubles with each further one. */
const PAUSE_MS = 200

/** Time in ms after which a failed attempt is the last one. Another attempt of 10 s still fits into the shortest function. */
const RETRY_WITHIN_MS = 12_000

/**
 * Creates the object store over plain signed requests. @aws-sdk/client-s3 would add 106 KB to every bundle for a few
 * operations.
 * @param environment as {@link createBucket} reads it
 */
export const createObjects = (
  name: string | undefined,
  environment: Record<string, string | undefined>,
): ObjectStore => {
  let bucket: Bucket | undefined
  const open = () => {
    if (!name) throw new Error('this function has no bucket')
    bucket ??= createBucket(name, environment)
    return bucket
  }

  const send = (method: string, key: string, body?: Uint8Array, type?: string, more: Record<string, string> = {}) => {
    const { urlOf, requests } = open()
    const headers = {
      ...(body && { 'content-length': String(body.byteLength) }),
      ...(type && { 'content-type': type }),
      ...more,
    }
    return requests.send(requestTo(urlOf(key), { method, headers, body }))
  }

  /**
   * Retries transient errors: a broken connection, a 5xx, or 503 while S3 wants fewer requests. All operations are idempotent. The
   * pauses double, so that functions which were slowed down together don't return together.
   */
  const reliably = async (...call: Parameters<typeof send>): Promise<Answer> => {
    const began = performance.now()
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === MAX_ATTEMPTS
      const answer = await send(...call).catch((error: unknown) => {
        if (isLast || performance.now() - began > RETRY_WITHIN_MS) throw error
      })
      if (answer && (answer.status < 500 || isLast)) return answer
      await wait(PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2))
    }
  }

  return {
    async put(key, bytes, contentType) {
      const { status } = await reliably('PUT', key, bytes, contentType)
      if (status !== 200) throw new Error(`the bucket answered ${status} to PUT`)
    },
    async create(key, bytes, contentType) {
      // S3 requires the digest where the bucket has object lock.
      const digest = createHash('md5').update(bytes).digest('base64')
      const headers = { 'if-none-match': '*', 'content-md5': digest }
      const { status } = await reliably('PUT', key, bytes, contentType, headers)
      // 409: another request is creating it right now.
      if (status !== 200 && status !== 409 && status !== 412) throw new Error(`the bucket answered ${status} to PUT`)
      return status === 200
    },
    async get(key) {
      const { status, body } = await reliably('GET', key)
      if (status === 404) return undefined
      if (status !== 200) throw new Error(`the bucket answered ${status} to GET`)
      return body
    },
    async head(key) {
      const { status, headers } = await reliably('HEAD', key)
      if (status === 404) return undefined
      if (status !== 200) throw new Error(`the bucket answered ${status} to HEAD`)
      return Number(headers['content-length'])
    },
    async delete(key) {
      const { status } = await reliably('DELETE', key)
      if (status !== 204 && status !== 404) throw new Error(`the bucket answered ${status} to DELETE`)
    },
    ...createPresigner(open),
  }
}
