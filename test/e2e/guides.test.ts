import { mkdtempSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { ROOT } from '#local/prepare.ts'
import { isSampled } from '#testkit/sampling.ts'
import { answersOf, blocksOf, findDifferences, kindOf, type Printed, runBlocks } from './guide-blocks.ts'
import { pythonVersion } from './python.ts'
import { type Running, startLocal, temporaryFolder } from './support.ts'

const python = await pythonVersion()
if (python === undefined) process.stderr.write('The guides are skipped: this machine has no python3\n')

const guides = readdirSync(path.join(ROOT, 'docs', 'guides'))
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.replace('.md', ''))

describe('the guides', () => {
  it.each(guides)('%s marks for each block how it is tested, or why it isn’t', (name) => {
    for (const block of blocksOf(name)) expect(kindOf(block), `${name}.md:${block.line} ${block.rest}`).toBeDefined()
  })

  it.each(guides)('%s uses every file that the reader saves', (name) => {
    const blocks = blocksOf(name)
    for (const { file, line, notRun } of blocks) {
      if (file === undefined || notRun) continue
      const used = blocks.some((block) => block.line > line && kindOf(block) === 'run' && block.code.includes(file))
      expect(used, `${name}.md:${line} ${file}`).toBe(true)
    }
  })

  it('the comparison detects missing fields, other types and other texts, and lets ids and times differ', () => {
    const shown = { id: 'run_01kae5m1v8w6c3x9q2r7t4y0zn', status: 'succeeded', key: 'dvk_…', steps: [{ seq: 1 }] }
    const got = {
      id: 'run_01kae5m1v8w6c3x9q2r7t4y0zz',
      status: 'succeeded',
      key: 'dvk_x',
      steps: [{ seq: 1 }],
      more: 1,
    }
    expect(findDifferences(shown, got)).toEqual([])
    expect(findDifferences(shown, { ...got, status: 'failed' })).toEqual(['/status is failed, not succeeded'])
    expect(findDifferences(shown, { ...got, id: 'app_01kae5m1v8w6c3x9q2r7t4y0zz' })).toHaveLength(1)
    expect(findDifferences(shown, { ...got, steps: [{}] })).toEqual(['/steps/0/seq is missing'])
    expect(findDifferences({ items: [] }, { items: [1] })).toHaveLength(1)
  })
})

/** In an order in which each guide finds what earlier ones created. */
const RUN = [
  ...[
    'quickstart',
    'runs',
    'requests',
    'webhooks',
    'oauth',
    'surfaces',
    'agents',
    'receipts',
    'mcp',
    'tasks',
    'schedules',
    'manifest',
  ],
  ...['vendors', 'review', 'sandbox'],
]

/** Begins in an empty folder. `stopwatch.test.ts` follows it in both languages. */
const HOSTED = 'hosted-quickstart'

it('every guide with commands is run', () => {
  const withCommands = guides.filter((name) => blocksOf(name).some((block) => kindOf(block) === 'run'))
  expect(withCommands.sort()).toEqual([...RUN, HOSTED].sort())
})

describe.skipIf(python === undefined)('work as written, in one terminal, against the local platform', () => {
  const blocks = RUN.flatMap(blocksOf).filter(({ tab }) => tab !== 'TypeScript')
  let place: ReturnType<typeof temporaryFolder>
  let running: Running
  let put: (text: string) => string
  let printed: Printed[]
  beforeAll(async () => {
    place = temporaryFolder()
    running = await startLocal({ dataDir: path.join(place.folder, 'data') })
    // Other programs may use the ports in the guides.
    const ports = new Map<string, number>()
    for (const port of ['8080', '8081', '8765']) ports.set(port, await freePort())
    put = (text) =>
      text
        .replaceAll(/\b(8080|8081|8765)\b/g, (port) => String(ports.get(port)))
        .replaceAll(/http:\/\/127\.0\.0\.1:3000|\{\{base_url\}\}/g, running.baseUrl)
    printed = await runBlocks(blocks, mkdtempSync(path.join(place.folder, 'reader-')), put)
  })

  afterAll(async () => {
    await running?.stop()
    place.remove()
  })

  it.runIf(isSampled(1, 2))(
    'the local quickstart works in TypeScript',
    async () => {
      const folder = mkdtempSync(path.join(place.folder, 'typescript-'))
      const own = blocksOf('quickstart').filter(({ tab }) => tab !== 'Python')
      // The account and the app of the reader in Python exist already.
      const placeOwn = (text: string) => put(text).replaceAll(/\b(greeter|ada)\b/gi, '$1-ts')
      const answers = answersOf(own, await runBlocks(own, folder, placeOwn))
      for (const { shown, output } of answers)
        expect(findDifferences(JSON.parse(placeOwn(shown.code)), JSON.parse(output)), `${shown.line}`).toEqual([])
    },
    60_000,
  )

  it.each(RUN)('%s: every block works, and every answer matches', (name) => {
    const own = blocks.filter(({ guide }) => guide === name)
    expect(printed.filter(({ block }) => block.guide === name)).toHaveLength(
      own.filter((block) => kindOf(block) === 'run').length,
    )
    for (const { shown, output } of answersOf(own, printed)) {
      expect(
        findDifferences(JSON.parse(put(shown.code)), JSON.parse(output)),
        `${name}.md:${shown.line}\n${output}`,
      ).toEqual([])
    }
  })
})
