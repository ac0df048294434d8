import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { prepare, ROOT } from '#local/prepare.ts'
import { exitForUsage, OperatorError, readCommandLine, runCommand } from '#ops/command.ts'
import { ASSEMBLY } from '#testkit/assembly.ts'
import { RECORDINGS, type Recording, readText } from './recordings.ts'

const recordings: Readonly<Record<string, Recording>> = RECORDINGS
const names = Object.keys(recordings)

const HELP = `npm run record [-- name … --check]

Writes the files that follow from the code, all of them or the named ones. Review what changed before you commit it.

${Object.entries(recordings)
  .map(([name, { about }]) => `  ${name.padEnd(9)} ${about}`)
  .join('\n')}

  --check    writes nothing; exits with 1 and names the files if any would change
  --because  for shapes, once 1.0.0 is released: reason why an incompatible change needs no upgrade
  --help     shows this help`

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: { check: { type: 'boolean' }, because: { type: 'string' } },
})
const unknown = positionals.find((name) => !names.includes(name))
if (unknown !== undefined) exitForUsage(`Unknown recording '${unknown}'. There are ${names.join(', ')}`)

runCommand(async () => {
  const chosen = positionals.length > 0 ? names.filter((name) => positionals.includes(name)) : names
  if (chosen.some((name) => recordings[name]?.needsBuild)) await prepare({ cdkOut: ASSEMBLY.cdkOut })
  const stale: string[] = []
  for (const name of chosen) {
    const made = (await recordings[name]?.make(values.because)) ?? []
    const changed = [...made].filter(([file, text]) => readText(file) !== text)
    console.log(`${name}: ${changed.map(([file]) => file).join(', ') || 'no change'}`)
    stale.push(...changed.map(([file]) => file))
    if (values.check) continue
    for (const [file, text] of changed) {
      mkdirSync(path.dirname(path.join(ROOT, file)), { recursive: true })
      writeFileSync(path.join(ROOT, file), text)
    }
  }
  if (values.check && stale.length > 0) throw new OperatorError('These files are out of date. Run: npm run record')
})
