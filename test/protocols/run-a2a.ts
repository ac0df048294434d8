import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { readCommandLine } from '#ops/command.ts'

const HELP = `npm run test:a2a

Runs the A2A project's compatibility kit (github.com/a2aproject/a2a-tck, branch 1.0-dev) against the local platform, at the level
MUST, over JSON-RPC and HTTP+JSON.

  A2A_TCK         folder of a checkout of the kit
  A2A_TCK_PYTHON  Python with the packages that the kit needs (default: python3)`

readCommandLine(HELP, {})

const kit = process.env.A2A_TCK
if (kit !== undefined && existsSync(path.join(kit, 'run_tck.py'))) {
  const child = spawn('vitest', ['run', '--project', 'whole', 'test/protocols/a2a-suite.test.ts'], { stdio: 'inherit' })
  child.once('close', (code) => {
    process.exitCode = code ?? 1
  })
} else {
  console.error('Set A2A_TCK to a checkout of the kit. See npm run test:a2a -- --help')
  process.exitCode = 1
}
