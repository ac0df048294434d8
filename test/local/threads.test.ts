import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFunctions, type Functions, type PoolLimits } from '#local/functions.ts'
import type { FunctionModel } from '#local/template.ts'
import { temporaryFolder, until } from './support.ts'

let place: ReturnType<typeof temporaryFolder>
let functions: Functions | undefined
beforeEach(() => {
  place = temporaryFolder()
})
afterEach(async () => {
  await functions?.stop()
  place.remove()
})

/** Counts its invocations. Each takes at least `waitMs`, and waits for the file `until`. */
const COUNTER = `let invocations = 0
const { existsSync } = require('node:fs')
exports.handler = async ({ waitMs = 0, until } = {}) => {
  do await new Promise((resolve) => setTimeout(resolve, waitMs)); while (until && !existsSync(until))
  return ++invocations
}`

/** Functions that count their invocations; `source` replaces the program. */
const create = (
  count: number,
  limits: PoolLimits = {},
  source = COUNTER,
  onLine: (line: string) => void = () => undefined,
): Functions => {
  const models = Array.from({ length: count }, (_, i): FunctionModel => {
    const name = `f${i}`
    const directory = path.join(place.folder, name)
    mkdirSync(directory, { recursive: true })
    writeFileSync(path.join(directory, 'index.cjs'), source)
    const ids = { name, logicalId: name, functionName: name, arn: name }
    return { ...ids, directory, handler: 'index.handler', timeoutSeconds: 30, memoryMb: 128, environment: {} }
  })
  functions = createFunctions({ models, environment: () => ({}), onLine: ({ line }) => onLine(line), limits })
  return functions
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `f${i}`)

test('a thread starts when its function is first used', async () => {
  const all = create(3)
  expect(all.threads).toBe(0)
  expect(await all.invoke('f1', {})).toMatchObject({ value: 1 })
  expect(await all.invoke('f1', {})).toMatchObject({ value: 2 })
  expect(all.threads).toBe(1)
})

test('the number of idle threads is limited, and the one idle for longest ends first', async () => {
  const all = create(6, { maxThreads: 3 })
  for (const name of names(3)) await all.invoke(name, {})
  await all.invoke('f0', {})
  await all.invoke('f3', {})
  expect(all.threads).toBe(3)
  expect(await all.invoke('f0', {})).toMatchObject({ value: 3 })
  expect(await all.invoke('f1', {})).toMatchObject({ value: 1 })
  for (const name of names(6)) await all.invoke(name, {})
  expect(all.threads).toBe(3)
})

test('a busy thread isn’t ended to make room, and every function gets its turn', async () => {
  const all = create(5, { maxThreads: 2 })
  const results = await Promise.all(names(5).map((name) => all.invoke(name, { waitMs: 200 })))
  expect(results.map((result) => result.kind)).toEqual(names(5).map(() => 'value'))
})

test('an idle thread ends after a while, a busy one doesn’t, and the next use starts a new one', async () => {
  const sign = path.join(place.folder, 'sign')
  const all = create(2, { idleThreadMs: 100 })
  const busy = all.invoke('f1', { until: sign })
  await all.invoke('f0', {})
  await until(() => (all.threads === 1 ? true : undefined))
  writeFileSync(sign, '')
  expect(await busy).toMatchObject({ value: 1 })
  await until(() => (all.threads === 0 ? true : undefined))
  expect(await all.invoke('f0', {})).toMatchObject({ value: 1 })
})

/** Takes a while to load. */
const SLOW = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
exports.handler = async () => 'loaded'`

test('a function that loads for longer than a thread may be idle answers', async () => {
  const all = create(1, { idleThreadMs: 20 }, SLOW)
  expect(await all.invoke('f0', {})).toMatchObject({ value: 'loaded' })
})

test('a thread that still loads isn’t ended to make room', async () => {
  const all = create(3, { maxThreads: 1 }, SLOW)
  const results = await Promise.all(names(3).map((name) => all.invoke(name, {})))
  expect(results.map((result) => result.kind)).toEqual(names(3).map(() => 'value'))
})

test('few bundles load at a time, so that a burst of first uses doesn’t starve itself', async () => {
  const log = path.join(place.folder, 'loads.txt')
  writeFileSync(log, '')
  const source = `const note = (text) => require('node:fs').appendFileSync(${JSON.stringify(log)}, text)
note('+')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
note('-')
exports.handler = async () => undefined`
  const all = create(6, {}, source)
  await Promise.all(names(6).map((name) => all.invoke(name, {})))
  let loading = 0
  const counts = [...readFileSync(log, 'utf8')].map((sign) => (loading += sign === '+' ? 1 : -1))
  expect(counts).toHaveLength(12)
  expect(Math.max(...counts)).toBeLessThanOrEqual(2)
})

test('a function that exceeds its memory fails alone', async () => {
  const all = create(
    2,
    {},
    `exports.handler = async ({ grow }) => { const kept = []; while (grow) kept.push(Array(1e5).fill({})) }`,
  )
  expect(await all.invoke('f0', { grow: true })).toMatchObject({
    kind: 'error',
    error: { errorType: 'Runtime.ExitError' },
  })
  expect(await all.invoke('f1', {})).toMatchObject({ kind: 'value' })
})

test('a bundle that fails to load answers with its error, is loaded again at growing intervals, and is logged once', async () => {
  const loads = path.join(place.folder, 'loads.txt')
  writeFileSync(loads, '')
  const source = `require('node:fs').appendFileSync(${JSON.stringify(loads)}, '+'); throw new TypeError('no setting X')`
  const lines: string[] = []
  const all = create(1, {}, source, (line) => lines.push(line))
  const expected = { kind: 'error', error: { errorType: 'TypeError', errorMessage: 'no setting X' } }
  for (let i = 0; i < 50; i++) expect(await all.invoke('f0', {})).toMatchObject(expected)
  expect(readFileSync(loads, 'utf8').length).toBeLessThan(5)
  await all.warm('f0')
  expect(lines.filter((line) => line.includes('no setting X'))).toHaveLength(1)
  // A changed bundle is loaded at once.
  writeFileSync(path.join(place.folder, 'f0', 'index.cjs'), COUNTER)
  all.reload('f0')
  expect(await all.invoke('f0', {})).toMatchObject({ value: 1 })
})

test('a bundle that isn’t valid fails as on Lambda, and so does one that ends its thread', async () => {
  const errorOf = async (source: string) => {
    const result = await create(1, {}, source).invoke('f0', {})
    await functions?.stop()
    return result.kind === 'error' ? result.error.errorType : result
  }
  expect(await errorOf('exports.handler = async (')).toBe('Runtime.UserCodeSyntaxError')
  expect(await errorOf('require("./nowhere.cjs")')).toBe('Runtime.ImportModuleError')
  expect(await errorOf('process.exit(3)')).toBe('Runtime.ExitError')
})

test('a handler with a callback fails, as on Lambda’s Node.js 24', async () => {
  const all = create(1, {}, 'exports.handler = (event, context, callback) => callback(null, 1)')
  expect(await all.invoke('f0', {})).toMatchObject({
    kind: 'error',
    error: { errorMessage: expect.stringContaining('Return a promise.') },
  })
})
