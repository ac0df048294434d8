import { expect, it } from 'vitest'
import { EVENTS } from '#shared/delivery/catalogue/index.ts'
import { matchesMask } from '#shared/foundation/outbox/index.ts'
import { EVENT_WORDS } from '#web/console/client/ui/event-words.ts'

it('the events that the editor of schedules offers exist', () => {
  const types = Object.keys(EVENTS)
  const unknown = Object.keys(EVENT_WORDS).filter((mask) => !types.some((type) => matchesMask([mask], type)))
  expect(unknown).toEqual([])
})
