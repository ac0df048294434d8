import { spawn } from 'node:child_process'
import path from 'node:path'

export interface CommandResult {
  code: number | null
  /** What it said, on both of its outputs. */
  output: string
}

/**
 * Runs a command of the operator's as a shell would, with nothing in its environment but what it needs.
 *
 * @param file below the project's folder, such as `infra/admin.ts`
 */
export const runCommand = (
  file: string,
  args: readonly string[],
  { env = {}, input }: { env?: Record<string, string>; input?: string | undefined } = {},
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [path.resolve(import.meta.dirname, '../..', file), ...args], {
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
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
