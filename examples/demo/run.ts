import { runJourney } from './journey.ts'

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
