import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * What a handler may read while it is imported, and nothing else: no compile cache, no settings of this shell. The stage
 * is one that exists nowhere, so nothing is reached by accident.
 */
const ENVIRONMENT = {
  AWS_REGION: 'us-east-1',
  BASE_URL: 'https://platform.example',
  RESPONSE_MODE: 'buffered',
  STAGE: 'bench',
  TABLE_NAME: 'bench',
}

/**
 * Milliseconds from the start of a fresh Node process to its end. It requires a file, or nothing.
 *
 * @throws Error with what the process wrote when it fails
 */
const processTime = async (file: string | undefined): Promise<number> => {
  const code = file === undefined ? '' : `require(${JSON.stringify(file)})`
  const began = performance.now()
  const child = spawn(process.execPath, ['--eval', code], { env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (piece: Buffer) => {
    errors += piece
  })
  const [status] = await once(child, 'close')
  const took = performance.now() - began
  if (status !== 0) throw new Error(`${file ?? 'bare Node'} ended with ${status}: ${errors.slice(0, 2_000)}`)
  return took
}

/**
 * How much longer a process takes for each file than one that loads nothing. The two are run in turns, so that whatever
 * else the machine does meets both alike.
 *
 * @returns by file, one difference in milliseconds for each sample
 */
export const importTimes = async (files: readonly string[], samples: number): Promise<Map<string, number[]>> => {
  const differences = new Map(files.map((file) => [file, [] as number[]]))
  for (const file of [undefined, ...files]) await processTime(file)
  for (let sample = 0; sample < samples; sample++) {
    for (const file of files) {
      // Whichever comes second finds the machine warmer, so they change places.
      const bareFirst = sample % 2 === 0
      const before = bareFirst ? await processTime(undefined) : undefined
      const loaded = await processTime(file)
      const bare = before ?? (await processTime(undefined))
      differences.get(file)?.push(loaded - bare)
    }
  }
  return differences
}
