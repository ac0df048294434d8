import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Check, CLIENT_TYPES, run, runChecks, SOURCES } from './checks.ts'

/**
 * Runs every check that a change has to pass: the build, then all tests next to the static checks. With paths, it runs
 * only the tests under them (`npm test -- test/faults`). `--deep` runs every case of sampled tests. The last line is
 * the total, in which each check counts as one.
 *
 * Tests of the project `whole` wait for browsers, processes and timers for half of their time, so those of `unit` run meanwhile.
 */

/** Checks whose output the tests read. */
const BUILD: Check[] = [CLIENT_TYPES, ['build', 'node', 'testkit/build.ts']]
const STATIC: Check[] = [...SOURCES, ['synthesis', 'node', 'infra/app.ts'], ['licences', 'node', 'ops/licences.ts']]
const RESULTS = 'test-results'

const DEEP = process.argv.includes('--deep')
// A change passes or fails by what it does, and not by luck. The deep run looks elsewhere each time.
const SEED = process.env.SEED ?? (DEEP ? String(Math.floor(Math.random() * 1_000_000)) : '1')

interface Report {
  numPassedTests?: number
  numFailedTests?: number
  testResults?: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[]
}

const readReport = (report: string): Report => {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return {}
  }
}

/** Names of failed tests, and of files that didn't load. */
const failuresOf = ({ testResults = [] }: Report): string[] =>
  testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
      return (failed.length > 0 ? failed : ['(the whole file)']).map((one) => `${path.relative('.', name)}: ${one}`)
    })

/** Runs Vitest. @param args paths of tests, or options */
const test = async (
  name: string,
  args: readonly string[],
  stdio: 'inherit' | 'pipe' = 'inherit',
): Promise<{ passed: number; failed: number; failures: string[] }> => {
  const report = `${RESULTS}/${name}.json`
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { ok, output } = await run('vitest', ['run', ...reporters, ...args], stdio, {
    SEED,
    ...(DEEP && { DEEP: '1' }),
  })
  process.stdout.write(output)
  const found = readReport(report)
  const { numPassedTests: passed = 0, numFailedTests: failed = 0 } = found
  // A file that doesn't load has no failed test of its own.
  return { passed, failed: ok ? failed : Math.max(1, failed), failures: failuresOf(found) }
}

const paths = process.argv.slice(2).filter((argument) => argument !== '--deep')
const [build, statics] = paths.length > 0 ? [[], []] : [BUILD, STATIC]

rmSync(RESULTS, { recursive: true, force: true })
mkdirSync(RESULTS, { recursive: true })
console.log(`SEED=${SEED}`)
const failedBuilds = await runChecks(build)
const testing =
  paths.length > 0
    ? [test('tests', paths)]
    : [test('whole', ['--project=whole']), test('unit', ['--project=unit'], 'pipe')]
const [tests, failedChecks] = await Promise.all([Promise.all(testing), runChecks(statics)])

const sum = (of: readonly number[]): number => of.reduce((all, one) => all + one, 0)
const checks = build.length + statics.length
const failed = sum(tests.map((one) => one.failed)) + failedBuilds + failedChecks
const passed = sum(tests.map((one) => one.passed)) + checks - failedBuilds - failedChecks
writeFileSync(`${RESULTS}/all.json`, JSON.stringify({ passed, failed }))
for (const one of tests.flatMap(({ failures }) => failures)) console.log(`FAIL ${one}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
