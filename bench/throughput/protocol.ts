import type { SubjectName } from './subjects.ts'

/** Asked of the process that makes the load. */
export type Command = { ask: 'prepare'; baseUrl: string; subject: SubjectName } | { ask: 'load'; seconds: number }

/** What a load did. */
export interface Loaded {
  /** Seconds in which it did so. */
  seconds: number
  /** Milliseconds of each unit. */
  times: number[]
}

export type Reply = { ok: true; loaded?: Loaded } | { ok: false; error: string }
