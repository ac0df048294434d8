import { expect, it } from 'vitest'
import { OVERDUE_HANDLERS } from '#functions/workers/sweeper.ts'
import { ENTITIES } from '#shared/entities.ts'

it('completes overdue work of every entity that has a due time', () => {
  const due = [...ENTITIES.values()].filter((entity) => entity.due).map(({ name }) => name)
  expect(OVERDUE_HANDLERS.map(({ entity }) => entity.name).sort()).toEqual(due.sort())
})
