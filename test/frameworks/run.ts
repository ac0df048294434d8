import { spawn } from 'node:child_process'
import { readCommandLine } from '#ops/command.ts'

const HELP = `npm run test:frameworks

Connects agent frameworks to the MCP server of the local platform: CrewAI, AutoGen, smolagents, Semantic Kernel and Pydantic AI, which
need Python 3.10 or later with venv, and Mastra. Each lists all tools and calls some, among them those of an agent with odd schemas.
Checks the catalogue with the conformance test of Agentic Resource Discovery, and runs the guide's lines for Node-RED and n8n. Serves an
agent of the JavaScript SDK on Node 20 to 26, Bun, Deno, workerd and Next, in each web framework (on Linux with x64). Downloads packages
from PyPI and npm. Without Python, its frameworks are skipped.`

readCommandLine(HELP, {})

const env = { ...process.env, FRAMEWORK_TESTS: '1' }
spawn('vitest', ['run', '--project', 'whole', 'test/frameworks'], { stdio: 'inherit', env }).once('close', (code) => {
  process.exitCode = code ?? 1
})
