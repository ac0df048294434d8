import { spawn, spawnSync } from 'node:child_process'
import { readCommandLine } from '#ops/command.ts'

const HELP = `npm run test:generators

Generates clients from the OpenAPI documents with openapi-generator (TypeScript, Python, Java, Go, Rust), openapi-python-client,
datamodel-code-generator, oapi-codegen, @hey-api/openapi-ts, orval, openapi-fetch, Postman, Bruno and FastMCP, compiles them, and calls the API
with each; lints the documents with Spectral; runs golang.org/x/oauth2 and Spring Security against /connect; verifies receipts with
the guide's programs in Python, Go, Java and Rust; signs in with soft authenticators in Go, Rust and JavaScript; asks Amazon's Event
Ruler which events match a pattern; and runs the local platform behind Caddy and, where it is installed, nginx. Needs Python 3.10 or
later with venv, Go, and Java 17 or later with Maven. The test of Rust is skipped without Cargo. Downloads packages from PyPI, npm, the
Go module proxy, Maven Central and crates.io.`

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
