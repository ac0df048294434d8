import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import path from 'node:path'

/**
 * Runs every check that a change has to pass: the build, then all tests next to the static checks. With paths, it runs
 * only the tests under them (`npm test -- test/faults`). `--deep` runs every case of sampled tests. The last line is
 * the total, in which each check counts as one.
 *
 * Tests of the project `whole` wait for browsers, processes and timers for half of their time. Those of `unit` mostly compute: they
 * run meanwhile, at a lower priority, so that the others are not kept waiting. The static checks take what both leave idle.
 */
type Check = [name: string, command: string, ...args: string[]]

/** Checks whose output the tests read. */
const BUILD: Check[] = [
  ['types of the API for clients', 'node', 'openapi/client-types.ts'],
  ['build', 'node', 'testkit/build.ts'],
]
const STATIC: Check[] = [
  ['format and lint', 'biome', 'ci', '--max-diagnostics=40'],
  // Several checkers repeat each other's work, and the tests need the other core.
  ['types', 'tsc', '--project', '.', '--singleThreaded'],
  ['types of the consent page', 'tsc', '--project', 'web/consent/client'],
  ['types of the console', 'tsc', '--project', 'web/console/client'],
  ['types of the admin page', 'tsc', '--project', 'web/admin/client'],
  ['types of the developer portal', 'tsc', '--project', 'web/developers/client'],
  ['types of the documentation', 'tsc', '--project', 'web/docs/client'],
  ['dead code and dependencies', 'knip'],
  ['synthesis', 'node', 'infra/app.ts'],
  ['licences', 'node', 'ops/licences.ts'],
]
const RESULTS = 'test-results'

/** Priorities of work that only computes; 0 is that of other processes, 19 the lowest. */
const LOW = 2
const LOWER = 10

const DEEP = process.argv.includes('--deep')

/** Keeps colours out of files: some tools add them whenever CI is set. */
const env = {
  ...process.env,
  // Tests start many processes and threads from the same sources.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? path.resolve('node_modules/.cache/node'),
  // The type checker is a Go program, and collects garbage less often this way, at the same peak of memory.
  GOGC: process.env.GOGC ?? '400',
  CDK_OUTDIR: process.env.CDK_OUTDIR ?? 'cdk.out',
  ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
  ...(DEEP && { DEEP: '1' }),
  // A change passes or fails by what it does, and not by luck. The deep run looks elsewhere each time.
  SEED: process.env.SEED ?? (DEEP ? String(Math.floor(Math.random() * 1_000_000)) : '1'),
}

const run = (
  command: string,
  args: string[],
  stdio: 'inherit' | 'pipe',
  priority = 0,
): Promise<{ ok: boolean; output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', stdio, stdio], env })
    if (child.pid !== undefined && priority > 0) setPriority(child.pid, priority)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => (output += piece))
    child.once('error', reject)
    child.once('close', (code) => resolve({ ok: code === 0, output }))
  })

/** Runs checks in order. @returns the number of failed checks */
const check = async (checks: readonly Check[], priority?: number): Promise<number> => {
  let failed = 0
  for (const [name, command, ...args] of checks) {
    const began = performance.now()
    const { ok, output } = await run(command, args, 'pipe', priority)
    if (!ok) failed++
    const words = ok ? 'ok  ' : `${output}\nFAIL`
    console.log(`${words} ${name} (${((performance.now() - began) / 1_000).toFixed(1)} s)`)
  }
  return failed
}

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
  priority?: number,
): Promise<{ passed: number; failed: number; failures: string[] }> => {
  const report = `${RESULTS}/${name}.json`
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { ok, output } = await run('vitest', ['run', ...reporters, ...args], stdio, priority)
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
console.log(`SEED=${env.SEED}`)
const failedBuilds = await check(build)
const testing =
  paths.length > 0
    ? [test('tests', paths)]
    : [test('whole', ['--project=whole']), test('unit', ['--project=unit'], 'pipe', LOW)]
const [tests, failedChecks] = await Promise.all([Promise.all(testing), check(statics, LOWER)])

const sum = (of: readonly number[]): number => of.reduce((all, one) => all + one, 0)
const checks = build.length + statics.length
const failed = sum(tests.map((one) => one.failed)) + failedBuilds + failedChecks
const passed = sum(tests.map((one) => one.passed)) + checks - failedBuilds - failedChecks
writeFileSync(`${RESULTS}/all.json`, JSON.stringify({ passed, failed }))
for (const one of tests.flatMap(({ failures }) => failures)) console.log(`FAIL ${one}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
