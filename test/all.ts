import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Runs every check that a change has to pass: the build, then all tests next to the static checks. With paths, it runs
 * only the tests under them (`npm test -- test/faults`). `--deep` runs every case of sampled tests. The last line is
 * the total, in which each check counts as one.
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
const REPORT = `${RESULTS}/vitest.json`

/** Keeps colours out of files: some tools add them whenever CI is set. */
const env = {
  ...process.env,
  // Tests start many processes and threads from the same sources.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? path.resolve('node_modules/.cache/node'),
  // The type checker is a Go program, and collects garbage less often this way, at the same peak of memory.
  GOGC: process.env.GOGC ?? '400',
  CDK_OUTDIR: process.env.CDK_OUTDIR ?? 'cdk.out',
  ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
  ...(process.argv.includes('--deep') && { DEEP: '1' }),
}

const run = (command: string, args: string[], stdio: 'inherit' | 'pipe'): Promise<{ ok: boolean; output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', stdio, stdio], env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => (output += piece))
    child.once('error', reject)
    child.once('close', (code) => resolve({ ok: code === 0, output }))
  })

/** Runs checks in order. @returns the number of failed checks */
const check = async (checks: readonly Check[]): Promise<number> => {
  let failed = 0
  for (const [name, command, ...args] of checks) {
    const began = performance.now()
    const { ok, output } = await run(command, args, 'pipe')
    if (!ok) failed++
    const words = ok ? 'ok  ' : `${output}\nFAIL`
    console.log(`${words} ${name} (${((performance.now() - began) / 1_000).toFixed(1)} s)`)
  }
  return failed
}

const readReport = (): { numPassedTests?: number; numFailedTests?: number } => {
  try {
    return JSON.parse(readFileSync(REPORT, 'utf8'))
  } catch {
    return {}
  }
}

const test = async (paths: readonly string[]): Promise<{ passed: number; failed: number }> => {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`]
  const { ok } = await run('vitest', ['run', ...reporters, ...paths], 'inherit')
  const { numPassedTests: passed = 0, numFailedTests: failed = 0 } = readReport()
  // A file that doesn't load has no failed test of its own.
  return { passed, failed: ok ? failed : Math.max(1, failed) }
}

const paths = process.argv.slice(2).filter((argument) => argument !== '--deep')
const [build, statics] = paths.length > 0 ? [[], []] : [BUILD, STATIC]

rmSync(RESULTS, { recursive: true, force: true })
mkdirSync(RESULTS, { recursive: true })
const failedBuilds = await check(build)
const [tests, failedChecks] = await Promise.all([test(paths), check(statics)])

const checks = build.length + statics.length
const failed = tests.failed + failedBuilds + failedChecks
const passed = tests.passed + checks - failedBuilds - failedChecks
writeFileSync(`${RESULTS}/all.json`, JSON.stringify({ passed, failed }))
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
