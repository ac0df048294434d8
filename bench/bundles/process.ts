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
 * Measures the milliseconds from start to end of a fresh Node process that requires files.
 *
 * @throws Error with the output of the process if it fails
 */
const processTime = async (files: readonly string[]): Promise<number> => {
  const code = files.map((file) => `require(${JSON.stringify(file)})`).join('\n')
  const began = performance.now()
  const child = spawn(process.execPath, ['--eval', code], { env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (piece: Buffer) => {
    errors += piece
  })
  const [status] = await once(child, 'close')
  const took = performance.now() - began
  if (status !== 0) throw new Error(`${files.join(', ')} ended with ${status}: ${errors.slice(0, 2_000)}`)
  return took
}

/** Files that one process requires, and those that the process requires to which it is compared. */
export interface Import {
  files: readonly string[]
  without: readonly string[]
}

/**
 * Measures the additional time of a process for its files, compared to one with fewer. The two run in turns, so that other load on the
 * machine affects both equally.
 *
 * @returns one difference in milliseconds per sample, by import
 */
export const importTimes = async <T extends Import>(
  imports: readonly T[],
  samples: number,
): Promise<Map<T, number[]>> => {
  const differences = new Map(imports.map((one) => [one, [] as number[]]))
  for (const { files } of imports) await processTime(files)
  for (let sample = 0; sample < samples; sample++) {
    for (const one of imports) {
      // The second process finds the machine warmer, so they swap places.
      const bareFirst = sample % 2 === 0
      const before = bareFirst ? await processTime(one.without) : undefined
      const loaded = await processTime(one.files)
      const bare = before ?? (await processTime(one.without))
      differences.get(one)?.push(loaded - bare)
    }
  }
  return differences
}
