import path from 'node:path'
import { type Platform, startPlatform } from '#local/platform.ts'
import { BUNDLES, prepare } from '#local/prepare.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { type Client, clientOf } from './latency/setup.ts'

/** Answer of an agent that finishes at once. */
export const DONE = JSON.stringify({ status: 'succeeded', output: { text: 'Hello, Ada!' } })

/** Settings with which every function keeps its thread, so that no measurement includes a cold start. */
const WARM = { maxThreads: 1_000, idleThreadMs: 86_400_000 }

/** Settings of the functions. Every tenant of a measurement is a sandbox, which sends no more than its budget otherwise. */
export const UNLIMITED = { SANDBOX_BUDGETS: 'false' }

/** Local run, built and warm, with its own data folder. */
export interface LocalRun {
  platform: Platform
  /** Folder of its data. */
  dataDir: string
  call: Client
  /** Starts another receiver, which stops with the run. */
  open(): Promise<Receiver>
  close(): Promise<void>
}

/**
 * @param name part of the temporary folder's name
 * @param env settings that differ from the local run's defaults
 */
export const startLocalRun = async (name: string, env: Record<string, string> = {}): Promise<LocalRun> => {
  const { folder, remove } = scratchFolder(`bench-${name}-`)
  const opened: Receiver[] = []
  let platform: Platform | undefined
  const close = async () => {
    await Promise.all(opened.map((receiver) => receiver.close()))
    await platform?.stop()
    remove()
  }
  try {
    const cdkOut = path.join(folder, 'cdk.out')
    const dataDir = path.join(folder, 'data')
    await prepare({ cdkOut, sourceMaps: true })
    platform = await startPlatform({ dataDir, cdkOut, bundles: BUNDLES, env: { ...UNLIMITED, ...env }, limits: WARM })
    await platform.warm()
    const open = async () => {
      const receiver = await startReceiver()
      opened.push(receiver)
      return receiver
    }
    return { platform, dataDir, call: clientOf(platform.baseUrl), open, close }
  } catch (error) {
    await close()
    throw error
  }
}
