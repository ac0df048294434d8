import type { Platform } from '#local/platform.ts'
import type { IdKind } from '#shared/kernel/ids.ts'
import type { must } from '#test/e2e/support.ts'

/** Headers that authenticate the caller, named as in the OpenAPI document. */
export type Credential = Record<string, string>

export type Ids = Partial<Record<IdKind, string>>

/** Time limit for work of workers on a busy machine. */
export const PATIENCE_MS = 120_000

/** Dependencies of a part of a world. */
export interface WorldContext {
  platform: Platform
  /** Suffix that makes names unique across worlds. */
  unique: string
  /** Sends a request that must succeed. @returns the answer's body */
  call(method: string, to: string, credential: Credential, body?: object): ReturnType<typeof must>
}

export const bearer = (token: string): Credential => ({ Authorization: `Bearer ${token}` })

/** Credential with every admin right, for the local platform. */
export const LOCAL_ADMIN: Credential = { 'X-Admin-Key': 'local-admin-key' }
