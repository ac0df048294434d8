import { existsSync } from 'node:fs'
import { OperatorError } from '#ops/command.ts'
import { UPGRADES } from '#ops/upgrade/upgrades.ts'
import manifest from '../../package.json' with { type: 'json' }
import { currentShapes, findIncompatibilities } from './compare.ts'
import { RECORDED_FILE, type Recorded, readRecorded } from './recorded.ts'

/**
 * Returns the text of the recorded shapes (docs/upgrades.md). From version 1.0.0 on, a shape that older records don't have, or that
 * older code doesn't understand, needs an upgrade of that kind of record, or a reason. Until then, every change is recorded.
 *
 * @throws {OperatorError} if an incompatible shape has neither
 */
export const recordShapes = (because?: string): string => {
  const isReleased = !manifest.version.startsWith('0.')
  const now = currentShapes()
  const recorded: Recorded = existsSync(RECORDED_FILE) ? readRecorded() : { upgrade: '', shapes: {}, reasons: [] }
  const upgraded = new Set(
    UPGRADES.filter(({ id }) => id > recorded.upgrade).flatMap(({ entity }) => entity?.name ?? []),
  )
  const problems = Object.entries(recorded.shapes)
    .filter(([name]) => !upgraded.has(name))
    .flatMap(([name, before]) => {
      const after = now[name]
      return (after ? findIncompatibilities(before, after) : ['was removed']).map((what) => `${name}: ${what}`)
    })
  if (isReleased && problems.length > 0 && because === undefined) {
    throw new OperatorError(
      `${problems.join('\n')}\n\nWrite an upgrade (ops/upgrade), or say why none is needed with --because`,
    )
  }
  const reasons = isReleased ? [...recorded.reasons, ...(problems.length > 0 && because ? [because] : [])] : []
  // One line for each kind of record, so that changing one changes one line.
  const lines = Object.entries(now).map(([name, shape]) => `  ${JSON.stringify(name)}: ${JSON.stringify(shape)}`)
  return `{
 "upgrade": ${JSON.stringify(UPGRADES.at(-1)?.id ?? '')},
 "reasons": ${JSON.stringify(reasons)},
 "shapes": {
${lines.join(',\n')}
 }
}
`
}
