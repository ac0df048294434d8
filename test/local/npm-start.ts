import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { ROOT } from '#local/prepare.ts'

/** Lists a process and all its descendants that still run. */
export const below = (root: number): number[] => {
  const lines = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n')
  const all = lines.map((line) => line.trim().split(/\s+/)).filter(([, , state]) => !state?.startsWith('Z'))
  const found = all.filter(([pid]) => Number(pid) === root).map(([pid]) => Number(pid))
  for (const parent of found) {
    found.push(...all.filter(([, ppid]) => Number(ppid) === parent).map(([pid]) => Number(pid)))
  }
  return found
}

let npm: ChildProcess | undefined

/** Ends what {@link npmStart} has started last. */
export const killAll = (): void => {
  for (const pid of below(npm?.pid ?? 0)) process.kill(pid, 'SIGKILL')
}

/**
 * Runs the real command.
 *
 * @param options.cwd the repository, or a copy of it
 * @returns once it is ready, with the lines that it prints
 */
export const npmStart = async (
  args: string[],
  { env, cwd = ROOT }: { env: Record<string, string>; cwd?: string },
): Promise<{ pid: number; baseUrl: string; lines: string[] }> => {
  // Vitest sets BASE_URL, which the platform would use as its own address.
  const { BASE_URL: _, ...inherited } = process.env
  const child = spawn('npm', ['start', '--', '--json', ...args], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    // In its own process group, as a terminal would start it.
    detached: true,
  })
  npm = child
  const lines: string[] = []
  const baseUrl = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      const [, address] = /ready at (http:[^"\s]+)/.exec(line) ?? []
      if (address) resolve(address)
    })
    child.once('exit', (code) => reject(new Error(`npm start ended with code ${code}`)))
  })
  return { pid: child.pid ?? 0, baseUrl, lines }
}
