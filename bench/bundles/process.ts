import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Environment of the measured processes: only what a handler may read while it is imported, without compile cache and settings of
 * this shell. The stage doesn't exist, so nothing is reached by accident.
 */
const ENVIRONMENT = {
  AWS_REGION: 'us-east-1',
  BASE_URL: 'https://platform.example',
  RESPONSE_MODE: 'buffered',
  STAGE: 'bench',
  TABLE_NAME: 'bench',
}

/**
 * Measures the milliseconds from start to end of a fresh Node process that requires a file, or nothing.
 *
 * @throws Error with the output of the process if it fails
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
 * Measures the additional time of a process for each file, compared to one that loads nothing. The two run in turns, so that other
 * load on the machine affects both equally.
 *
 * @returns one difference in milliseconds per sample, by file
 */
export const importTimes = async (files: readonly string[], samples: number): Promise<Map<string, number[]>> => {
  const differences = new Map(files.map((file) => [file, [] as number[]]))
  for (const file of [undefined, ...files]) await processTime(file)
  for (let sample = 0; sample < samples; sample++) {
    for (const file of files) {
      // The second process finds the machine warmer, so they swap places.
      const bareFirst = sample % 2 === 0
      const before = bareFirst ? await processTime(undefined) : undefined
      const loaded = await processTime(file)
      const bare = before ?? (await processTime(undefined))
      differences.get(file)?.push(loaded - bare)
    }
  }
  return differences
}
