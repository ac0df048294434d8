import { expect, it } from 'vitest'
import { runClientJourney } from '#ops/prove/client-journey.ts'
import { usingLocal } from './using-local.ts'

const running = usingLocal()

it('the journey of a proof needs only the address, and reports whether its token still works', async () => {
  const journey = await runClientJourney(running.baseUrl)
  expect(journey.seen).toContain('a signed run was answered')
  await journey.requireAccess()
})
