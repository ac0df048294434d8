import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DOCUMENT_NAMES } from '#shared/http/documents.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { servedDocument } from './document.ts'

const run = promisify(execFile)
const PACKAGES = ['@stoplight/spectral-core@1.24.1', '@stoplight/spectral-rulesets@1.23.1']

/** Prints rule, path and message of each finding by all recommended rules, errors and warnings alike. */
const PROGRAM = `import { readFileSync } from 'node:fs'
import core from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
const spectral = new core.Spectral()
spectral.setRuleset({ extends: [[rulesets.oas, 'recommended']] })
for (const file of process.argv.slice(2)) {
  for (const { code, path, message } of await spectral.run(JSON.parse(readFileSync(file, 'utf8')))) {
    console.log(file, code, path.join('.'), message)
  }
}
`

const place = scratchFolder('spectral-')
beforeAll(async () => {
  writeFileSync(path.join(place.folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(path.join(place.folder, 'lint.js'), PROGRAM)
  // A package that these depend on would report the installation.
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES], { cwd: place.folder })
})
afterAll(() => place.remove())

const lint = async (...files: string[]) =>
  (await run(process.execPath, ['lint.js', ...files], { cwd: place.folder, maxBuffer: 64 * 1024 * 1024 })).stdout

it('Spectral has no error and no warning for any document', async () => {
  const files = DOCUMENT_NAMES.map((name) => `${name}.json`)
  for (const name of DOCUMENT_NAMES) {
    writeFileSync(path.join(place.folder, `${name}.json`), servedDocument(name, 'https://platform.example'))
  }
  expect(await lint(...files)).toBe('')
})

it('Spectral has findings for a document that lacks something', async () => {
  const lacking = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/x': { get: { responses: {} } } } }
  writeFileSync(path.join(place.folder, 'lacking.json'), JSON.stringify(lacking))
  expect(await lint('lacking.json')).toMatch(/info-contact[\s\S]*operation-description/)
})
