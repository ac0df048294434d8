import { execFileSync } from 'node:child_process'

const LOOK_MS = 250

/** Returns a process's parent and command line, or undefined if the system has no `ps` or no such process. */
const findProcess = (pid: number): { parent: number; command: string } | undefined => {
  if (process.platform === 'win32') return undefined
  try {
    const line = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' })
    const [, parent, command = ''] = /^\s*(\d+)\s+(.*)/.exec(line) ?? []
    return parent === undefined ? undefined : { parent: Number(parent), command }
  } catch {
    return undefined
  }
}

const isNpm = (command: string): boolean => /^npm\b|[\\/]npm(-cli\.js)?( |$)/.test(command)

/** Returns this process's parent and, if that is only the shell in which npm runs scripts, also npm. */
const ancestorPids = (): number[] => {
  const parent = findProcess(process.ppid)
  if (!parent || isNpm(parent.command)) return [process.ppid]
  return isNpm(findProcess(parent.parent)?.command ?? '') ? [process.ppid, parent.parent] : [process.ppid]
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Calls back once npm has ended. npm passes SIGINT and SIGTERM on to its shell but not SIGHUP, and the shell passes
 * none to the process it waits for. A program that npm runs must therefore detect it. Has no effect in a program that
 * npm did not start, which may outlive its shell.
 */
export const onNpmEnd = (ended: () => void): void => {
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  const watched = ancestorPids()
  const timer = setInterval(() => {
    if (process.ppid === parent && watched.every(isAlive)) return
    clearInterval(timer)
    ended()
  }, LOOK_MS)
  timer.unref()
}
