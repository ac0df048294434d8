import { existsSync } from 'node:fs'
import path from 'node:path'
import { exitForUsage, readCommandLine } from '#ops/command.ts'
import { type Check, CLIENT_TYPES, run, runChecks, SOURCES } from './checks.ts'
import { ENGINES, FRAMEWORKS, GENERATORS, MODEL_SERVERS, PYTHON, WHOLE } from './projects.ts'
import { endpointsIn, testsThatReach } from './reach.ts'

const HELP = `npm run check [-- path … --all]

Checks format, lint, types, dead code and translations. With paths of sources or tests, it checks their format and lint, all types, and
runs the tests that reach them: the nearest ones, as many as take about five seconds.

  --all   runs all tests that reach the paths
  --help  shows this help`

/** Total duration of the chosen tests, by their last runs. One test always runs. */
const BUDGET_MS = 5_000

/** Checks an endpoint's declaration, for each endpoint. */
const BY_DECLARATION = 'test/contract/endpoints.test.ts'

/** Tests with processes, browsers or downloads of their own. */
const SLOW = [...WHOLE, ...PYTHON, ...GENERATORS, ...FRAMEWORKS, ...MODEL_SERVERS, ...ENGINES]

/** Sources that only browsers run. */
const IN_BROWSERS = /^web\/(?:[^/]+\/client|session|theme|ui)\//

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: { all: { type: 'boolean' } },
})
const targets = positionals.map((given) => path.relative('.', path.resolve(given)).replaceAll(path.sep, '/'))
const missing = targets.find((target) => !existsSync(target))
if (missing !== undefined) exitForUsage(`There is no ${missing}`)

/** Chooses tests until their time is spent. */
const chooseTests = (): { chosen: string[]; left: number } => {
  const reached = targets
    .flatMap(testsThatReach)
    .filter(({ file }) => values.all || targets.includes(file) || !SLOW.some((glob) => path.matchesGlob(file, glob)))
  let spent = 0
  const chosen = reached.filter(({ duration }, n) => {
    if (!values.all && n > 0 && spent + duration > BUDGET_MS) return false
    spent += duration
    return true
  })
  return { chosen: [...new Set(chosen.map(({ file }) => file))], left: reached.length - chosen.length }
}

const runTests = async (): Promise<number> => {
  const { chosen, left } = chooseTests()
  const endpoints = endpointsIn(targets)
  const files = [...chosen, ...(endpoints.length > 0 ? [BY_DECLARATION] : [])]
  if (files.length === 0) {
    console.log('No test reaches it.')
    return 0
  }
  const { ok, output } = await run('vitest', ['run', '--reporter=dot', '--passWithNoTests', ...files], 'pipe', {
    ENDPOINTS: endpoints.join(' '),
  })
  console.log(ok ? `ok   ${files.join(', ')}` : output)
  if (left > 0) console.log(`     ${left} more test files reach it; --all runs them`)
  return ok ? 0 : 1
}

/** Checks of the types of what the paths belong to. */
const typesOf = (): Check[] => {
  const inBrowsers = targets.filter((target) => IN_BROWSERS.test(target))
  return SOURCES.filter(
    ([name]) =>
      (name === 'types' && inBrowsers.length < targets.length) ||
      (name === 'types of the pages' && inBrowsers.length > 0),
  )
}

const began = performance.now()
const failed =
  targets.length === 0
    ? await runChecks([CLIENT_TYPES, ...SOURCES, ['translations', 'node', 'web/messages/check.ts']])
    : (
        await Promise.all([runChecks([['format and lint', 'biome', 'check', ...targets], ...typesOf()]), runTests()])
      ).reduce((all, one) => all + one, 0)
console.log(`${failed === 0 ? 'ok' : 'FAIL'} (${((performance.now() - began) / 1_000).toFixed(1)} s)`)
process.exitCode = failed === 0 ? 0 : 1
