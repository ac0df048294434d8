import path from 'node:path'
import { type Platform, startPlatform } from '#local/platform.ts'
import { BUNDLES, prepare } from '#local/prepare.ts'
import { type Receiver, startReceiver } from '#test/support/receiver.ts'
import { scratchFolder } from '#test/support/scratch.ts'
import { type Client, clientOf } from './latency/setup.ts'

/** What an agent answers that is done at once. */
export const DONE = JSON.stringify({ status: 'succeeded', output: { text: 'Hello, Ada!' } })

/** The local run, built and warm, over a data folder of its own. */
export interface LocalRun {
  platform: Platform
  /** Where its data lie. */
  dataDir: string
  call: Client
  /** One more receiver, which ends with the run. */
  open(): Promise<Receiver>
  close(): Promise<void>
}

/**
 * @param name part of the temporary folder's name
 * @param env settings that differ from the local run's own
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
    await prepare({ cdkOut })
    platform = await startPlatform({ dataDir, cdkOut, bundles: BUNDLES, env })
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
