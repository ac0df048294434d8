import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { SEED } from '#testkit/sampling.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { environmentOf, removingEnvironments } from '../python/environment.ts'
import { contradiction, type Recorded, VECTORS } from '../shared/work/readings/contradiction.ts'
import { requests, type Sent } from '../shared/work/readings/requests.ts'

const PACKAGES = ['flask==3.1.3', 'fastapi==0.165.0', 'httpx==0.28.1', 'python-multipart==0.0.32']
const PROGRAMS = path.join(ROOT, 'test/generators/readings')

const place = scratchFolder('readings-')
afterAll(() => place.remove())
removingEnvironments()
let python = ''
const binary = path.join(place.folder, 'receivers')
beforeAll(async () => {
  ;({ python } = await environmentOf('readings', PACKAGES))
  cpSync(path.join(PROGRAMS, 'receivers.go'), path.join(place.folder, 'main.go'))
  await promisify(execFile)('go', ['build', '-o', binary, 'main.go'], { cwd: place.folder })
})

/** Runs a program with one request a line. Returns its versions, and what it read of each. */
const reads = async (file: string, args: string[], all: readonly Sent[]): Promise<[object, ...unknown[]]> => {
  const child = promisify(execFile)(file, args, { maxBuffer: 1 << 26 })
  child.child.stdin?.end(all.map((sent) => `${JSON.stringify(sent)}\n`).join(''))
  const { stdout } = await child
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line)) as [object, ...unknown[]]
}

const record = async (all: readonly Sent[]): Promise<{ versions: object; recorded: Recorded[] }> => {
  const [versions, ...inPython] = await reads(python, [path.join(PROGRAMS, 'receivers.py')], all)
  const [go, ...inGo] = await reads(binary, [], all)
  const recorded = all.map((sent, i) => ({ ...sent, read: { ...(inPython[i] as object), go: inGo[i] } }) as Recorded)
  return { versions: { ...versions, ...go }, recorded }
}

it('Flask, FastAPI and Go read the recorded requests as it is recorded', async () => {
  const all = fc.sample(requests(), { numRuns: 400, seed: 1 })
  const { versions, recorded } = await record(all)
  const text = [versions, ...recorded].map((line) => `${JSON.stringify(line)}\n`).join('')
  if (process.env.RECORD) writeFileSync(VECTORS, text)
  expect(text).toBe(readFileSync(VECTORS, 'utf8'))
})

it('a rule reads of any request what they read, or nothing', async () => {
  const { recorded } = await record(fc.sample(requests(), { numRuns: 1_000, seed: SEED }))
  expect(recorded.flatMap((one) => contradiction(one, one.read) ?? [])).toEqual([])
})
