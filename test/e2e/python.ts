import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from '#local/prepare.ts'
import { run } from '#test/deploy/shell.ts'

/** The client packages, at the versions that these tests were written for. */
const REQUIREMENTS = ['authlib==1.6.5', 'requests-oauthlib==2.0.0', 'oauthlib==4.0.1', 'requests==2.34.2']
const CACHE = path.join(ROOT, 'node_modules', '.cache')
export const SCRIPTS = path.join(import.meta.dirname, 'python')

/** Returns the version of the machine's Python 3; undefined without one. */
export const pythonVersion = (): Promise<string | undefined> => run('python3', ['--version']).catch(() => undefined)

/** Returns a Python with the OAuth clients. */
export const pythonClients = () => pythonWith('python-clients', REQUIREMENTS)

/**
 * Returns a Python with packages installed, or why there is none: `npm test` needs only Node
 * (architecture.md#local-run-and-emulator).
 */
export const pythonWith = async (
  name: string,
  requirements: readonly string[],
): Promise<{ python: string } | { missing: string }> => {
  const home = path.join(CACHE, name)
  const version = await pythonVersion()
  if (version === undefined) return { missing: 'this machine has no python3' }
  const python = path.join(home, process.platform === 'win32' ? 'Scripts' : 'bin', 'python')
  const marker = path.join(home, 'installed')
  const wanted = [version.trim(), ...requirements].join('\n')
  if ((await readFile(marker, 'utf8').catch(() => '')) === wanted) return { python }
  try {
    await rm(home, { recursive: true, force: true })
    await mkdir(path.dirname(home), { recursive: true })
    await run('python3', ['-m', 'venv', home])
    const quickly = ['--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '15']
    await run(python, ['-m', 'pip', 'install', ...quickly, ...requirements])
    await writeFile(marker, wanted)
    return { python }
  } catch {
    return { missing: 'the packages could not be installed: no venv, or no package index within reach' }
  }
}

/**
 * Runs a script of `python/` to its end. It asks for a person's part with a line `{"consent": <authorize address>}`,
 * and gets the address that the browser was redirected to.
 * @returns the last line printed, as JSON
 * @throws with the text of the error stream, if it fails
 */
export const runScript = async (
  python: string,
  script: string,
  input: object,
  consent: (authorizeUrl: URL) => Promise<URL>,
): Promise<Record<string, unknown>> => {
  const child = spawn(python, [path.join(SCRIPTS, script), JSON.stringify(input)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Allows plain HTTP, which the libraries otherwise refuse, and bypasses proxies.
    env: { ...process.env, AUTHLIB_INSECURE_TRANSPORT: '1', OAUTHLIB_INSECURE_TRANSPORT: '1', NO_PROXY: '*' },
  })
  const ended = once(child, 'close')
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  let last: Record<string, unknown> = {}
  for await (const line of createInterface({ input: child.stdout })) {
    last = JSON.parse(line) as Record<string, unknown>
    if (typeof last.consent !== 'string') continue
    child.stdin.write(`${(await consent(new URL(last.consent))).href}\n`)
  }
  const [status] = await ended
  if (status !== 0) throw new Error(`${script} ended with ${status}:\n${errors}`)
  return last
}
