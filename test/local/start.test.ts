import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { prepare, ROOT } from '#local/prepare.ts'
import { ASSEMBLY } from '#testkit/assembly.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { below, killAll, npmStart } from './npm-start.ts'
import { temporaryFolder, until } from './support.ts'

const START = path.join(ROOT, 'local', 'start.ts')

let place: ReturnType<typeof temporaryFolder>
// The local run’s own build, so that each start finds it done.
beforeAll(async () => (await prepare({ ...ASSEMBLY, together: true }))?.())
beforeEach(() => {
  place = temporaryFolder()
})
afterEach(() => {
  killAll()
  place.remove()
})

const isRunning = (pid: number): boolean => below(pid).length > 0

/** Runs the real command, which finds its build done. */
const startBuilt = (args: string[], env: Record<string, string> = {}) => {
  const { cdkOut } = ASSEMBLY
  mkdirSync(path.join(place.folder, 'cdk.out'))
  cpSync(cdkOut, path.join(place.folder, 'cdk.out'), { recursive: true })
  return npmStart(args, { env: { DATA_DIR: place.folder, ...env } })
}

describe('npm start', () => {
  const signals = [
    ['SIGTERM', 'npm'],
    ['SIGHUP', 'npm'],
    ['SIGKILL', 'npm'],
    ['SIGTERM', 'its process group'],
    // Ctrl-C. Sent to npm alone, it has no effect where the shell is dash, which ignores it until the program ends.
    ['SIGINT', 'its process group'],
    ['SIGHUP', 'its process group'],
  ] as const
  test.each(sampleOf(signals, 3))('stops completely on %s to %s', async (signal, receiver) => {
    const { pid, baseUrl } = await startBuilt(['--port', '0'])
    const all = below(pid)
    // npm, its shell unless it has exec'd the program, the platform, the database.
    expect(all.length).toBeGreaterThanOrEqual(3)
    expect((await fetch(`${baseUrl}/api/v1/me`)).status).toBe(401)
    process.kill(receiver === 'npm' ? pid : -pid, signal)
    await until(() => (all.some(isRunning) ? undefined : true), 20_000)
    await expect(fetch(baseUrl)).rejects.toThrow()
  })

  test('listens on --port, whatever PORT says', async () => {
    const port = await freePort()
    const { baseUrl } = await startBuilt(['--port', String(port)], { PORT: '1' })
    expect(baseUrl).toBe(`http://127.0.0.1:${port}`)
    expect((await fetch(`${baseUrl}/api/v1/me`)).status).toBe(401)
  })
})

describe('on the command line', () => {
  const run = (...args: string[]) => spawnSync(process.execPath, [START, ...args], { encoding: 'utf8' })

  test.each(['abc', '70000', '-1', '3000.5', ''])('refuses --port=%s in one line', (port) => {
    const { status, stderr } = run(`--port=${port}`)
    expect(status).toBe(1)
    expect(stderr).toBe(`--port is not a port: ${port}. Give a number from 0 to 65535.\n`)
  })

  test.skipIf(process.platform === 'win32')(
    'names the limit on open files that is too low, and how to raise it',
    () => {
      const { status, stderr } = spawnSync('sh', ['-c', `ulimit -n 200; exec "${process.execPath}" "${START}"`], {
        encoding: 'utf8',
        // Vitest sets it to the path of its own pages.
        env: { ...process.env, BASE_URL: '' },
      })
      expect([status, stderr]).toEqual([
        1,
        'This shell lets a process open 200 files, and the platform needs at least 256. Raise the limit, then start it again: ulimit -n 1024\n',
      ])
    },
  )

  test('shows --port, --base-url and their variables in --help', () => {
    const { stdout } = run('--help')
    for (const name of ['--port', '--base-url', 'PORT', 'BASE_URL'])
      expect(stdout).toMatch(new RegExp(`^ +${name} +`, 'm'))
  })

  test.each(['ftp://laptop.example.com', 'https://laptop.example.com/?a=b', ''])(
    'refuses --base-url=%s in one line',
    (url) => {
      const { status, stderr } = run(`--base-url=${url}`)
      expect(status).toBe(1)
      expect(stderr).toMatch(/^--base-url .+: .*\. Give an address such as https:\/\/laptop\.example\.com or .+\n$/)
    },
  )
})
