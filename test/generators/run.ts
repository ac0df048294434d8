import { spawn, spawnSync } from 'node:child_process'
import { readCommandLine } from '#ops/command.ts'

const HELP = `npm run test:generators

Generates clients from the OpenAPI documents with openapi-python-client, datamodel-code-generator and oapi-codegen, and uses them;
lints the documents with Spectral; and runs golang.org/x/oauth2 and Spring Security against /connect. Needs Python 3.10 or later with
venv, Go, and Java 17 or later with Maven. Downloads packages from PyPI, npm, the Go module proxy and Maven Central.`

readCommandLine(HELP, {})

const missing = [
  ['python3', ['-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))']] as const,
  ['go', ['version']] as const,
  ['java', ['-version']] as const,
  ['mvn', ['--version']] as const,
].filter(([program, args]) => spawnSync(program, args).status !== 0)

if (missing.length === 0) {
  const env = { ...process.env, GENERATOR_TESTS: '1' }
  const child = spawn('vitest', ['run', '--project', 'whole', 'test/generators'], { stdio: 'inherit', env })
  child.once('close', (code) => {
    process.exitCode = code ?? 1
  })
} else {
  console.error(
    `These tests need ${missing.map(([program]) => program).join(' and ')}: Python 3.10 or later with venv, Go, and Java 17 or later with Maven.`,
  )
  process.exitCode = 1
}
