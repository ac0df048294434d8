import { readCommandLine } from '#ops/command.ts'
import { runA2aJourney } from './a2a.ts'
import { runJourney } from './journey.ts'
import { runMcpJourney } from './mcp.ts'
import { startPlatform } from './platform.ts'

const HELP = `npm run demo [-- --mcp | --a2a]

Runs the platform's main use case over HTTP, from a developer's registration to signed webhooks, and prints each step with its
duration. Start the platform first, with npm start.

  PORT          the platform's port (default: 3000)
  PLATFORM_URL  the platform's address (default: http://127.0.0.1:PORT)
  --mcp         show an MCP client instead: on a platform of the demo's own, which it restarts while a task waits for a person
  --a2a         show A2A instead, on a platform of the demo's own: a client of an installed agent, and an agent that runs elsewhere
  ADMIN_KEY     the admin key that approves the app (default: local-admin-key)
  --help        show this help`

const { mcp, a2a } = readCommandLine(HELP, { options: { mcp: { type: 'boolean' }, a2a: { type: 'boolean' } } }).values

const print = (step: string, detail: string, ms: number): void =>
  console.log(`${String(Math.round(ms)).padStart(6)} ms  ${step}${detail ? `  (${detail})` : ''}`)

if (mcp || a2a) {
  console.log('Starting a platform for the demo …')
  const platform = await startPlatform()
  try {
    const { baseUrl, restart } = platform
    if (mcp) await runMcpJourney({ baseUrl, restart, log: print })
    if (a2a) await runA2aJourney({ baseUrl, log: print })
  } finally {
    await platform.stop()
  }
  process.exit()
}

const baseUrl = process.env.PLATFORM_URL ?? `http://127.0.0.1:${process.env.PORT ?? 3000}`

const reachable = await fetch(`${baseUrl}/oauth/scopes`).then(
  (response) => response.ok,
  () => false,
)
if (!reachable) {
  console.error(`The platform doesn't respond at ${baseUrl}. Start it in another terminal: npm start`)
  process.exit(1)
}

const began = performance.now()
const { runId, deliveries } = await runJourney({
  baseUrl,
  adminKey: process.env.ADMIN_KEY ?? 'local-admin-key',
  log: print,
})
console.log(
  `\nThe whole journey took ${((performance.now() - began) / 1_000).toFixed(1)} s: run ${runId}, ${deliveries.length} signed webhooks.`,
)
