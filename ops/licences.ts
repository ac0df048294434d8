import { readFileSync } from 'node:fs'
import { OperatorError, readCommandLine, runCommand } from './command.ts'
import { findUnlicensed } from './licences/check.ts'

const HELP = `npm run licences

Checks that each package of package-lock.json has a licence that allows its use here (ops/licences/check.ts). Exits with 1 and names
the others.

  --help  show this help`

const readJson = (path: string) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))

const installed = (path: string): string | undefined => {
  try {
    return readJson(`${path}/package.json`).license
  } catch {
    return undefined
  }
}

runCommand(async () => {
  readCommandLine(HELP, { options: {} })
  const { packages } = readJson('package-lock.json')
  const found = findUnlicensed(packages, installed)
  if (found.length > 0)
    throw new OperatorError(
      `${found.join('\n')}\nReplace these packages, or add their licences to ops/licences/check.ts with a reason.`,
    )
  console.log(`${Object.keys(packages).length - 1} packages, all under licences that are allowed.`)
})
