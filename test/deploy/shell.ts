import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

/** A command that ended with a status other than 0. The message holds the end of its output. */
export class CommandError extends Error {
  override name = 'CommandError'
}

/**
 * Runs a command to its end.
 * @returns The output of both streams.
 * @throws {CommandError} if it can't be started or fails.
 */
export function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (chunk: Buffer) => {
      output += chunk
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', (error) => reject(new CommandError(`${command}: ${error.message}`)))
    child.on('close', (status) => {
      if (status === 0) resolve(output)
      else
        reject(
          new CommandError(
            `${command} ${args.join(' ')} ended with ${status}:\n${output.split('\n').slice(-40).join('\n')}`,
          ),
        )
    })
  })
}

/** Returns a port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
