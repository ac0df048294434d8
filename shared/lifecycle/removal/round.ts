import type { Work } from '#shared/foundation/work/index.ts'
import { DELETED_PEOPLE, LEAVING_WORKSPACES } from '#shared/identity/people/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { listKeys } from '#shared/table/lists.ts'
import { allItems } from '#shared/table/pages.ts'
import { type Budget, BudgetExhausted, isSpent, shareOf } from './budget.ts'
import { removePersonalData, removePersonName } from './person.ts'
import { removeWorkspace } from './workspace.ts'

/** Budget of one round, and the minimum worth starting an item for. */
export const ROUND = { records: 200_000, ms: 240_000, least: { records: 10_000, ms: 10_000 } }

const PAGE = 50

/**
 * Runs a round of removal. First it removes the own data of people who deleted their accounts, because it is little and
 * they are waiting for it. Then it handles the long tasks: their names, and workspaces whose grace period is over. Each
 * task gets a share of the round, and leftovers are shared again. The next round continues where this one stopped. A
 * failing task does not stop the others.
 */
export const runRemovalRound = async (work: Work, round = ROUND): Promise<void> => {
  const budget: Budget = { left: round.records, until: performance.now() + round.ms }
  const people = await idsIn(work, DELETED_PEOPLE)
  const nameless: string[] = []
  // Half of the budget is reserved for the long tasks, however much data a person has.
  await inTurn(work, shareOf(budget, 2, round.least), round.least, people, async (id, share) => {
    if (await removePersonalData(work, id, share)) nameless.push(id)
  })
  const workspaces = await idsIn(work, LEAVING_WORKSPACES, `${String(work.clock.now()).padStart(13, '0')}#~`)
  const isPerson = new Set(nameless)
  await inTurn(work, budget, round.least, [...nameless, ...workspaces], (id, share) =>
    isPerson.has(id) ? removePersonName(work, id, share) : removeWorkspace(work, id, share),
  )
}

/**
 * Takes turns until all items are done or the budget is used up. Each turn starts with a different item, so that every
 * item is reached.
 */
const inTurn = async (
  work: Work,
  budget: Budget,
  least: typeof ROUND.least,
  ids: readonly string[],
  remove: (id: string, share: Budget) => Promise<void>,
): Promise<void> => {
  const first = Math.floor(work.clock.now() / MINUTE) % Math.max(1, ids.length)
  let open = [...ids.slice(first), ...ids.slice(0, first)]
  while (open.length > 0) {
    const paused: string[] = []
    for (const [i, id] of open.entries()) {
      const rest = open.length - i
      if (isSpent(budget)) {
        return work.log.info('removal continues in the next round', { open: paused.length + rest })
      }
      try {
        await remove(id, shareOf(budget, rest, least))
      } catch (error) {
        if (error instanceof BudgetExhausted) paused.push(id)
        else work.log.error('removal failed', { id, error })
      }
    }
    open = paused
  }
}

const idsIn = async (work: Work, list: string, to?: string): Promise<string[]> => {
  const bounds = to === undefined ? {} : { to }
  const keys = await allItems((after) => listKeys(work.table, list, { limit: PAGE, after, ...bounds }))
  return keys.map(({ pk }) => pk.slice(pk.indexOf('#') + 1))
}
