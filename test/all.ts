import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Everything a contributor needs to trust a change, in one command: format and lint, types, dead code, build, synthesis,
 * then every test. Each check counts as one; the last line is the plain sum.
 */
const CHECKS: [name: string, command: string, ...args: string[]][] = [
  ['format and lint', 'biome', 'ci', '--max-diagnostics=40'],
  ['types of the API for clients', 'node', 'shared/openapi/client-types.ts'],
  ['types', 'tsc', '--project', '.'],
  ['types of the consent page', 'tsc', '--project', 'web/consent/client'],
  ['types of the console', 'tsc', '--project', 'web/console/client'],
  ['types of the staff’s page', 'tsc', '--project', 'web/admin/client'],
  ['dead code and dependencies', 'knip'],
  ['build', 'node', 'infra/bundle.ts'],
  ['synthesis', 'node', 'infra/app.ts'],
]
if (process.argv.length > 2) {
  console.error(
    'npm test runs everything and takes no arguments. Some of the tests: npx vitest run <path or part of it> …',
  )
  process.exit(1)
}

const RESULTS = 'test-results'

let passed = 0
let failed = 0
rmSync(RESULTS, { recursive: true, force: true })
mkdirSync(RESULTS, { recursive: true })

const run = (command: string, args: string[]): boolean => {
  const env = {
    ...process.env,
    CDK_OUTDIR: process.env.CDK_OUTDIR ?? 'cdk.out',
    // Some tools colour whatever they write when CI is set; a file is to be read.
    ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
  }
  return spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env }).status === 0
}

for (const [name, command, ...args] of CHECKS) {
  const began = performance.now()
  const ok = run(command, args)
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - began) / 1_000).toFixed(1)} s)`)
  if (ok) passed++
  else failed++
}

const report = `${RESULTS}/vitest.json`
const ok = run('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`])
const { numPassedTests = 0, numFailedTests = 0 } = readReport()
passed += numPassedTests
failed += numFailedTests
// A file that could not even be loaded has no failed test of its own.
if (!ok && numFailedTests === 0) failed++

writeFileSync(`${RESULTS}/all.json`, JSON.stringify({ passed, failed }))
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function readReport(): { numPassedTests?: number; numFailedTests?: number } {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return {}
  }
}
