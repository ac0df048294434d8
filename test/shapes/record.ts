import { existsSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { readCommandLine } from '#infra/operator/command.ts'
import { UPGRADES } from '#infra/upgrade/upgrades.ts'
import { currentShapes, incompatible } from './compare.ts'
import { RECORDED_FILE, type Recorded, readRecorded } from './recorded.ts'

const HELP = `npm run shapes [-- --because "…"]

Agrees to the shapes of the records as they are now (docs/upgrades.md). One that older records do not have, or older code does not
understand, needs an upgrade of that kind of record, or a reason.

  --because  why no upgrade is needed
  --help     this`

const { values } = readCommandLine(HELP, { options: { because: { type: 'string' } } })
const now = currentShapes()
const recorded: Recorded = existsSync(RECORDED_FILE) ? readRecorded() : { upgrade: '', shapes: {}, reasons: [] }
const upgraded = new Set(UPGRADES.filter(({ id }) => id > recorded.upgrade).map(({ entity }) => entity.name))

const problems = Object.entries(recorded.shapes)
  .filter(([name]) => !upgraded.has(name))
  .flatMap(([name, before]) => {
    const after = now[name]
    return (after ? incompatible(before, after) : ['is gone']).map((what) => `${name}: ${what}`)
  })
if (problems.length > 0 && values.because === undefined) {
  console.error(
    `${problems.join('\n')}\n\nWrite an upgrade (infra/upgrade), or give the reason why none is needed: --because`,
  )
  process.exit(1)
}
const reasons = [...recorded.reasons, ...(problems.length > 0 && values.because ? [values.because] : [])]
const lines = Object.entries(now).map(([name, shape]) => `  ${JSON.stringify(name)}: ${JSON.stringify(shape)}`)
const text = `{
 "upgrade": ${JSON.stringify(UPGRADES.at(-1)?.id ?? '')},
 "reasons": ${JSON.stringify(reasons)},
 "shapes": {
${lines.join(',\n')}
 }
}
`
// A line for each kind of record, so that a change of one is a change of one line.
writeFileSync(RECORDED_FILE, text)
const changed = Object.entries(now).filter(([name, shape]) => !isDeepStrictEqual(shape, recorded.shapes[name]))
console.log(`Agreed to: ${changed.map(([name]) => name).join(', ') || 'no change'}.`)
