import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '#local/prepare.ts'
import { exitForUsage, readCommandLine } from '#ops/command.ts'
import type { Effort } from './configuration.ts'
import { PRINCIPALS } from './principals.ts'
import { formatResults } from './results.ts'
import { installSchemathesis } from './schemathesis.ts'
import { openSession, type Seen } from './session.ts'

const HELP = `npm run test:fuzz -- [--quick | --long] [--examples N] [--seed N] [--only <principal>]…

Sends what schemathesis makes of the OpenAPI document to a local platform, with every kind of credential, and checks every
answer against the document.

  --quick       few requests: none at the boundaries of the schemas, and none to what belongs to other callers
  --long        many requests, and the boundaries with every credential
  --examples N  random requests for each operation that the credential allows
  --seed N      other requests (1)
  --only NAME   this principal only: ${PRINCIPALS.map(({ name }) => name).join(', ')}`

const LEVELS = {
  quick: { examples: 2, coverage: 'none', foreign: false },
  usual: { examples: 5, coverage: 'first', foreign: true },
  long: { examples: 100, coverage: 'all', foreign: true },
} as const

/** Number of principals that call at the same time. */
const AT_ONCE = 2

const { values } = readCommandLine(HELP, {
  options: {
    quick: { type: 'boolean' },
    long: { type: 'boolean' },
    examples: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string', multiple: true },
  },
})

const wholeNumber = (text: string): number =>
  /^[1-9]\d{0,5}$/.test(text) ? Number(text) : exitForUsage(`${text} is not a whole number from 1 to 999999`)
const level = LEVELS[values.quick ? 'quick' : values.long ? 'long' : 'usual']
const effort: Effort = {
  ...level,
  examples: wholeNumber(values.examples ?? String(level.examples)),
  seed: wholeNumber(values.seed ?? '1'),
}
const unknown = values.only?.find((only) => !PRINCIPALS.some(({ name }) => name === only))
if (unknown !== undefined) exitForUsage(`Unknown principal '${unknown}'`)
const principals = PRINCIPALS.filter(({ name }) => values.only?.includes(name) ?? true)

const seen: Seen[] = []
let failed = 0
try {
  const session = await openSession(await installSchemathesis(join(ROOT, '.local', 'venv-fuzz')), effort)
  const waiting = [...principals]
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const line = await session.fuzz(next)
      seen.push(line)
      const wrong = line.failures.length + line.errors.length > 0
      console.log(`${wrong ? 'FAIL' : 'ok  '}  ${line.name} (${line.cases} requests, ${line.seconds.toFixed(1)} s)`)
      if (wrong)
        console.log([...line.errors, line.output.slice(line.output.search(/^=+ (ERRORS|FAILURES) =/m))].join('\n'))
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  } finally {
    for (const error of session.logged()) console.log(error)
    await session.close()
  }
} catch (error) {
  failed++
  console.log(`FAIL  ${error instanceof Error ? error.message : error}`)
}

const lines = principals.flatMap(({ name }) => seen.find((line) => line.name === name) ?? [])
const table = formatResults(lines)
console.log(`\n${table.text}\n`)
failed += table.failed
const results = join(ROOT, 'test-results')
await mkdir(results, { recursive: true })
const kept = lines.map(({ output: _, ...line }) => line)
await writeFile(join(results, 'fuzz.json'), JSON.stringify({ passed: table.passed, failed, effort, principals: kept }))
console.log(`${table.passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && table.passed > 0 ? 0 : 1
