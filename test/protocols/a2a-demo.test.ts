import { expect, it } from 'vitest'
import { runA2aJourney } from '#examples/demo/a2a.ts'
import { usingLocal } from '../e2e/using-local.ts'

const running = usingLocal()

it('the demo of A2A shows a stream that is cut and resumed without loss, a question and its answer, and an outside agent’s run', async () => {
  const steps: string[] = []
  const { events, output, run } = await runA2aJourney({ baseUrl: running.baseUrl, log: (step) => steps.push(step) })
  expect(events[0]).toMatch(/^task (SUBMITTED|WORKING)$/)
  const said = events.filter((event) => event.includes('Counting'))
  expect(said).toEqual([1, 2, 3].map((shelf) => `WORKING: Counting shelf ${shelf}.`))
  expect(events.slice(-2)).toEqual(['artifact output', 'COMPLETED'])
  expect(events.filter((event) => event.startsWith('INPUT_REQUIRED'))).toHaveLength(1)
  expect(output).toEqual({ count: 12, warehouse: 'north' })
  expect(run).toMatchObject({ status: 'succeeded', output: { text: '12 (red mugs)' } })
  expect(steps).toHaveLength(8)
})
