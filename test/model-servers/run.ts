import { spawn, spawnSync } from 'node:child_process'
import { readCommandLine } from '#ops/command.ts'

const HELP = `npm run test:models

Takes turns of inline agents through LiteLLM's proxy, whole and streamed, with a scripted model behind it. Needs Python 3.10 or later
with venv, and downloads packages from PyPI.`

readCommandLine(HELP, {})

const FIND = 'import sys, venv; sys.exit(sys.version_info < (3, 10))'
if (spawnSync('python3', ['-c', FIND]).status === 0) {
  const env = { ...process.env, MODEL_TESTS: '1' }
  const child = spawn('vitest', ['run', '--project', 'whole', 'test/model-servers'], { stdio: 'inherit', env })
  child.once('close', (code) => {
    process.exitCode = code ?? 1
  })
} else {
  console.error('These tests need python3, 3.10 or later, with venv (on Debian: apt install python3-venv).')
  process.exitCode = 1
}
