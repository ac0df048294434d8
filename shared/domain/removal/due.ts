import { DELETED_PEOPLE, LEAVING_WORKSPACES } from '../../entities/people.ts'
import { keysListed } from '../../table/lists.ts'
import type { Work } from '../deps.ts'
import { type Budget, Paused } from './budget.ts'
import { removeTraces } from './person.ts'
import { removeWorkspace } from './workspace.ts'

/** One round's work. */
export const ROUND = { records: 200_000, ms: 240_000 }

const PAGE = 50

/**
 * A round of removal: workspaces whose grace is over, and what is left of people who deleted their account; those first that
 * have waited longest. Whatever is not done, the next round finds where this one did. One that fails does not stop the others.
 */
export const removeWhatIsDue = async (work: Work, round = ROUND): Promise<void> => {
  const budget: Budget = { left: round.records, until: performance.now() + round.ms }
  try {
    await each(work, DELETED_PEOPLE, (id) => removeTraces(work, id, budget))
    const now = String(work.clock.now()).padStart(13, '0')
    await each(work, LEAVING_WORKSPACES, (id) => removeWorkspace(work, id, budget), `${now}#~`)
  } catch (error) {
    if (!(error instanceof Paused)) throw error
    work.log.info('removal goes on in the next round')
  }
}

const each = async (work: Work, list: string, remove: (id: string) => Promise<void>, to?: string): Promise<void> => {
  let after: string | undefined
  do {
    const page = await keysListed(work.table, list, { limit: PAGE, after, ...(to !== undefined && { to }) })
    for (const { pk } of page.items) {
      try {
        await remove(pk.slice(pk.indexOf('#') + 1))
      } catch (error) {
        if (error instanceof Paused) throw error
        work.log.error('removal failed', { pk, error })
      }
    }
    after = page.next
  } while (after !== undefined)
}
