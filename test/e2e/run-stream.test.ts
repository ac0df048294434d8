import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { startLocalRun } from '#bench/local-run.ts'
import { findRunning } from '#local/data-dir.ts'
import { recordedStream, streamOfRun } from '#test/deploy/run-stream.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { killAll, npmStart } from '../local/npm-start.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

/** Reads the stream of a stage whose DynamoDB checks no signature. */
const streamAt = (baseUrl: string, dynamodb: string | undefined) =>
  streamOfRun(baseUrl, {
    dynamodb: dynamodb ?? '',
    environment: { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
  })

/** Time to build and start a stage on a slow machine. */
const STARTS = 600_000

// `npm run test:deploy` compares a deployed stage with the same list.
it(
  'a run writes what is recorded on a fresh stage of npm start',
  async () => {
    const { folder, remove } = scratchFolder('run-stream-')
    undo.push(killAll, remove)
    const dataDir = path.join(folder, 'data')
    mkdirSync(dataDir)
    const { baseUrl } = await npmStart(['--fresh', '--port', '0'], { env: { DATA_DIR: dataDir } })
    const running = await findRunning(dataDir)
    expect(await streamAt(baseUrl, running?.endpoints.dynamodb)).toEqual(recordedStream())
  },
  STARTS,
)

it(
  'a run writes what is recorded in the benchmarks',
  async () => {
    const { platform, close } = await startLocalRun('run-stream')
    undo.push(close)
    expect(await streamAt(platform.baseUrl, platform.endpoints.dynamodb)).toEqual(recordedStream())
  },
  STARTS,
)
