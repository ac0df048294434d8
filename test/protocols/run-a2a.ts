import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '#local/prepare.ts'
import { readCommandLine } from '#ops/command.ts'

const SOURCE = 'https://github.com/a2aproject/a2a-tck'
/** Of the branch 1.0-dev. */
const COMMIT = '357c4a87afa2818731590647cccbea31c31733a2'

const HELP = `npm run test:a2a

Runs the A2A project's compatibility kit against the local platform, at the level MUST, over JSON-RPC and HTTP+JSON. It fails unless
exactly the requirements fail that test/protocols/a2a-suite.test.ts lists with their reason.

The first time, it downloads the kit (${SOURCE}, commit ${COMMIT.slice(0, 8)}) and the packages that it needs into
node_modules/.cache. Needs git, and Python 3.11 or later with venv.

  A2A_TCK         folder of another checkout of the kit
  A2A_TCK_PYTHON  Python with the packages that it needs (default: python3)`

readCommandLine(HELP, {})

const run = (command: string, args: string[], cwd?: string): void => {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], cwd })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
}

/** Downloads the kit and its packages, unless an earlier run has. */
const download = (): { kit: string; python: string } => {
  const kit = path.join(ROOT, 'node_modules/.cache/a2a-tck', COMMIT)
  const python = path.join(kit, '.venv/bin/python')
  const isWhole = path.join(kit, '.downloaded')
  if (existsSync(isWhole)) return { kit, python }
  const FIND = 'import sys, venv; sys.exit(sys.version_info < (3, 11))'
  if (spawnSync('python3', ['-c', FIND]).status !== 0) throw new Error('python3 must be 3.11 or later, with venv')
  rmSync(kit, { recursive: true, force: true })
  mkdirSync(kit, { recursive: true })
  run('git', ['init', '--quiet'], kit)
  run('git', ['fetch', '--quiet', '--depth', '1', SOURCE, COMMIT], kit)
  run('git', ['checkout', '--quiet', 'FETCH_HEAD'], kit)
  run('python3', ['-m', 'venv', '.venv'], kit)
  run(python, ['-m', 'pip', '--quiet', '--disable-pip-version-check', 'install', '.'], kit)
  mkdirSync(isWhole)
  return { kit, python }
}

const given = process.env.A2A_TCK
try {
  const { kit, python } =
    given === undefined ? download() : { kit: given, python: process.env.A2A_TCK_PYTHON ?? 'python3' }
  const env = { ...process.env, A2A_TCK: kit, A2A_TCK_PYTHON: python }
  const tests = ['run', '--project', 'whole', 'test/protocols/a2a-suite.test.ts']
  const child = spawn('vitest', tests, { stdio: 'inherit', env })
  child.once('close', (code) => {
    process.exitCode = code ?? 1
  })
} catch (error) {
  console.error(`The kit can’t run: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
