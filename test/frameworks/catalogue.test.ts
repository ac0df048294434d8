import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scratchFolder } from '#testkit/scratch.ts'
import { usingLocal } from '../e2e/using-local.ts'

const run = promisify(execFile)
const running = usingLocal()
const { folder, remove } = scratchFolder('lighthouse-')
afterAll(remove)

/** Lighthouse has the conformance test of Agentic Resource Discovery, which is in no registry of its own. */
const PROGRAM = `
import { ConformanceTester } from './node_modules/lighthouse/third-party/ard/ard.js'
const tester = new ConformanceTester()
tester.validate_manifest(await (await fetch(process.argv[2])).text(), 'ard.json')
console.log(JSON.stringify([tester.errors, tester.warnings]))
`

beforeAll(async () => {
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ type: 'module', dependencies: { lighthouse: '13.5.0' } }),
  )
  writeFileSync(path.join(folder, 'check.js'), PROGRAM)
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder })
})

it.each(['ard.json', 'ai-catalog.json'])(
  'the catalogue at /.well-known/%s passes the conformance test of ARD',
  async (name) => {
    const address = `${running.baseUrl}/.well-known/${name}`
    const { stdout } = await run(process.execPath, ['check.js', address], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual([[], []])
  },
)
