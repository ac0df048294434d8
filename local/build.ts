import { once } from 'node:events'
import type { Part } from '#infra/bundle/prebuild.ts'
import { bundleTogether } from '#infra/bundle/together.ts'
import { bundle } from '#infra/bundle.ts'

// Builds the bundles in a separate process, whose memory, up to a gigabyte, is released when it ends. With `--watch`,
// it stays.

/** Messages to the process that started the build. */
export type BuildMessage =
  | { kind: 'built' }
  | { kind: 'failed'; message: string }
  | { kind: 'part'; part: Part; error?: string | undefined }
  | { kind: 'parts' }
  | { kind: 'changed'; names: string[] }
  | { kind: 'errors'; messages: string[] }

const notifyParent = (message: BuildMessage) => process.send?.(message)

// The parent has ended, for whatever reason.
process.once('disconnect', () => process.exit())

const watching = {
  watch: (names: string[]) => notifyParent({ kind: 'changed', names }),
  onError: (messages: string[]) => notifyParent({ kind: 'errors', messages }),
}
const watches = process.argv.includes('--watch')
const options = { inProcess: true, sourceMaps: process.argv.includes('--source-maps') }
const onPart = (part: Part, error?: string) => notifyParent({ kind: 'part', part, error })
const building = process.argv.includes('--together')
  ? bundleTogether({ ...options, onPart, ...(watches && watching) })
  : bundle(options).then(() => undefined)
try {
  const buildParts = await building
  notifyParent({ kind: 'built' })
  if (buildParts) {
    // The parent starts the API first.
    await once(process, 'message')
    await buildParts()
    notifyParent({ kind: 'parts' })
  }
} catch (error) {
  notifyParent({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
}
if (!watches) process.disconnect?.()
