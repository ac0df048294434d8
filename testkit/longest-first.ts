import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take longer than their size suggests. Vitest starts with the largest if it hasn't run them before, and one of
 * these would then run alone at the end.
 */
const LONG = [
  'test/e2e/cli.test.ts',
  'test/e2e/faults.test.ts',
  'test/e2e/streams.test.ts',
  'test/e2e/alarms.test.ts',
  'test/e2e/guides.test.ts',
  'test/browser/budgets.test.ts',
  'test/browser/first-visit.test.ts',
  'test/local/fresh-start.test.ts',
]

const isLong = ({ moduleId }: TestSpecification): boolean => LONG.some((file) => moduleId.endsWith(`/${file}`))
const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder

/** Starts the longest files of each group of projects first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => groupOf(a) - groupOf(b) || Number(isLong(b)) - Number(isLong(a)))
  }
}
