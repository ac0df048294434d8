import { describe, expect, it } from 'vitest'
import { runMcpJourney } from '#examples/demo/mcp.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingOwnLocal } from '../e2e/using-local.ts'

// Two starts of a platform, so that it belongs to `npm run test:deep`.
describe.runIf(DEEP)('the demo of an MCP client', () => {
  const running = usingOwnLocal()

  it('gets the result of a call that a person approved after the platform was restarted', async () => {
    const steps: string[] = []
    const restart = async () => {
      await running.stop()
      await running.startAgain()
    }
    const result = await runMcpJourney({ baseUrl: running.baseUrl, restart, log: (step) => steps.push(step) })
    expect(result.structuredContent).toEqual({ page: 'The content of the page.' })
    expect(steps.length).toBeGreaterThan(6)
  })
})
