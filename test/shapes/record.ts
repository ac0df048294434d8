import { existsSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { readCommandLine } from '#ops/command.ts'
import { UPGRADES } from '#ops/upgrade/upgrades.ts'
import manifest from '../../package.json' with { type: 'json' }
import { currentShapes, findIncompatibilities } from './compare.ts'
import { RECORDED_FILE, type Recorded, readRecorded } from './recorded.ts'

const HELP = `npm run shapes [-- --because "…"]

Records the current shapes of the records (docs/upgrades.md). From version 1.0.0 on, a shape that older records don't have, or that
older code doesn't understand, needs an upgrade of that kind of record, or a reason. Until then, every change is recorded.

  --because  reason why no upgrade is needed
  --help     shows this help`

const { values } = readCommandLine(HELP, { options: { because: { type: 'string' } } })
const isReleased = !manifest.version.startsWith('0.')
const now = currentShapes()
const recorded: Recorded = existsSync(RECORDED_FILE) ? readRecorded() : { upgrade: '', shapes: {}, reasons: [] }
const upgraded = new Set(UPGRADES.filter(({ id }) => id > recorded.upgrade).flatMap(({ entity }) => entity?.name ?? []))

const problems = Object.entries(recorded.shapes)
  .filter(([name]) => !upgraded.has(name))
  .flatMap(([name, before]) => {
    const after = now[name]
    return (after ? findIncompatibilities(before, after) : ['was removed']).map((what) => `${name}: ${what}`)
  })
if (isReleased && problems.length > 0 && values.because === undefined) {
  console.error(`${problems.join('\n')}\n\nWrite an upgrade (ops/upgrade), or say why none is needed with --because`)
  process.exit(1)
}
const reasons = isReleased
  ? [...recorded.reasons, ...(problems.length > 0 && values.because ? [values.because] : [])]
  : []
const lines = Object.entries(now).map(([name, shape]) => `  ${JSON.stringify(name)}: ${JSON.stringify(shape)}`)
const text = `{
 "upgrade": ${JSON.stringify(UPGRADES.at(-1)?.id ?? '')},
 "reasons": ${JSON.stringify(reasons)},
 "shapes": {
${lines.join(',\n')}
 }
}
`
// One line for each kind of record, so that changing one changes one line.
writeFileSync(RECORDED_FILE, text)
const changed = Object.entries(now).filter(([name, shape]) => !isDeepStrictEqual(shape, recorded.shapes[name]))
console.log(`Recorded: ${changed.map(([name]) => name).join(', ') || 'no change'}.`)
