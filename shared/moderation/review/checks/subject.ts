import type { App, Lookalike } from '#shared/catalogue/apps/index.ts'
import type { Version } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Developer } from '#shared/identity/developers/index.ts'
import type { Run, Step } from '#shared/work/runs/index.ts'
import type { Check } from '../entity.ts'
import type { Visits } from './visits.ts'

/** A test run of the app, with its tool calls. */
export interface TestedRun {
  run: Run
  steps: Step[]
}

/** The data that the checks examine, read once for all of them. */
export interface CheckSubject {
  deps: Pick<Deps, 'http' | 'objects' | 'clock'>
  app: App
  version: Version
  developer: Developer | undefined
  /** Newest first. */
  testRuns: readonly TestedRun[]
  /** Listed apps of other developers with confusable names. */
  lookalikes: readonly Lookalike[]
  visits: Visits
}

export type Finding = Pick<Check, 'status' | 'message' | 'fix' | 'evidence'>

/** One automatic check. Failures of the other side become findings, never errors. */
export type SubmissionCheck = (subject: CheckSubject) => Promise<Finding> | Finding

const TEXT = 500

/** Truncates text from an outside address, to keep the findings small. */
export const truncate = (text: string): string => (text.length <= TEXT ? text : `${text.slice(0, TEXT)}…`)
