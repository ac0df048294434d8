import type { App, Version } from '../../../entities/apps.ts'
import type { Developer } from '../../../entities/developers.ts'
import type { Check } from '../../../entities/moderation.ts'
import type { Run, Step } from '../../../entities/runs.ts'
import type { Deps } from '../../deps.ts'
import type { Visits } from './visits.ts'

/** A run of the app that tested it, with what it did. */
export interface TestedRun {
  run: Run
  steps: Step[]
}

/** What the checks look at, read once for all of them. */
export interface Subject {
  deps: Pick<Deps, 'http' | 'objects' | 'clock'>
  app: App
  version: Version
  developer: Developer | undefined
  /** Newest first. */
  testRuns: readonly TestedRun[]
  visits: Visits
}

export type Finding = Pick<Check, 'status' | 'message' | 'fix' | 'evidence'>

/** One automatic check. What the other side does is a finding, never an error. */
export type Look = (subject: Subject) => Promise<Finding> | Finding

const TEXT = 500

/** What an outside address said, cut so that the findings stay small. */
export const cut = (text: string): string => (text.length <= TEXT ? text : `${text.slice(0, TEXT)}…`)
