import { spawn } from 'node:child_process'
import path from 'node:path'

/** Folder where tests' processes keep compiled sources: most of their time would go to compiling the same files. */
const COMPILE_CACHE = path.resolve(import.meta.dirname, '../node_modules/.cache/node')

export interface CommandResult {
  code: number | null
  /** Text of standard output and standard error. */
  output: string
}

/**
 * Runs an operator's command as a shell would, with a minimal environment.
 *
 * @param file path from the project's folder, such as `ops/admin.ts`
 */
export const runCommand = (
  file: string,
  args: readonly string[],
  { env = {}, input }: { env?: Record<string, string>; input?: string | undefined } = {},
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [path.resolve(import.meta.dirname, '..', file), ...args], {
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        ...env,
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (output += piece))
    child.stdin?.end(input)
    child.once('close', (code) => resolve({ code, output }))
  })
