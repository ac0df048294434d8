import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '#local/prepare.ts'

/** Event patterns with the answers of Amazon's Event Ruler. `RECORD=1 npm run test:generators` records them. */
export const VECTORS = path.join(ROOT, 'test/vectors/event-patterns.jsonl')

export interface PatternCase {
  pattern: unknown
  events: unknown[]
  /** Whether each event matches, unless the pattern is refused. */
  matches?: boolean[]
  refused?: string
}

export const readPatternCases = (): PatternCase[] =>
  readFileSync(VECTORS, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
