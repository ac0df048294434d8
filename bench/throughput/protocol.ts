import type { SubjectName } from './subjects.ts'

/** Command for the process that generates the load. */
export type Command =
  | { ask: 'prepare'; baseUrl: string; subject: SubjectName; pollMs: number | undefined }
  | { ask: 'load'; seconds: number }

/** Result of a load. */
export interface Loaded {
  /** Duration in seconds. */
  seconds: number
  /** Milliseconds per unit. */
  times: number[]
}

export type Reply = { ok: true; loaded?: Loaded } | { ok: false; error: string }
