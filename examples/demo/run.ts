import { runJourney } from './journey.ts'

const HELP = `npm run demo

Drives the main job over HTTP against the platform that npm start runs, from a developer's registration to signed webhooks, and
prints each step with its time.

  PORT       where the platform listens (3000)
  BASE_URL   its address, where that is another one
  ADMIN_KEY  the admin key that approves the app (local-admin-key)
  --help     this`

if (process.argv.length > 2) {
  console.log(HELP)
  process.exit(process.argv[2] === '--help' ? 0 : 1)
}

const baseUrl = process.env.BASE_URL ?? `http://127.0.0.1:${process.env.PORT ?? 3000}`

const reachable = await fetch(`${baseUrl}/oauth/scopes`).then(
  (response) => response.ok,
  () => false,
)
if (!reachable) {
  console.error(`No platform answers at ${baseUrl}. Start it first, in another terminal: npm start`)
  process.exit(1)
}

const began = performance.now()
const { runId, deliveries } = await runJourney({
  baseUrl,
  adminKey: process.env.ADMIN_KEY ?? 'local-admin-key',
  log: (step, detail, ms) =>
    console.log(`${String(Math.round(ms)).padStart(6)} ms  ${step}${detail ? `  (${detail})` : ''}`),
})
console.log(
  `\nThe whole job took ${((performance.now() - began) / 1_000).toFixed(1)} s: run ${runId}, ${deliveries.length} signed webhooks.`,
)
