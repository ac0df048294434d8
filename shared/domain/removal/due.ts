import { DELETED_PEOPLE, LEAVING_WORKSPACES } from '../../entities/people.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { keysListed } from '../../table/lists.ts'
import type { Work } from '../deps.ts'
import { type Budget, isSpent, Paused, shareOf } from './budget.ts'
import { removeName, removeOwn } from './person.ts'
import { removeWorkspace } from './workspace.ts'

/** One round's work, and what is worth beginning something for. */
export const ROUND = { records: 200_000, ms: 240_000, least: { records: 10_000, ms: 10_000 } }

const PAGE = 50

/**
 * A round of removal: what people had who deleted their account, all of theirs first, because it is little and they wait for it;
 * then what takes long, their names and workspaces whose grace is over. Each gets its share of the round, and what is left over
 * goes around again. Whatever is not done, the next round finds where this one left it. One that fails does not stop the others.
 */
export const removeWhatIsDue = async (work: Work, round = ROUND): Promise<void> => {
  const budget: Budget = { left: round.records, until: performance.now() + round.ms }
  const people = await idsIn(work, DELETED_PEOPLE)
  const nameless: string[] = []
  // However much somebody had, what takes long goes on, too.
  await inTurn(work, shareOf(budget, 2, round.least), round.least, people, async (id, share) => {
    if (await removeOwn(work, id, share)) nameless.push(id)
  })
  const workspaces = await idsIn(work, LEAVING_WORKSPACES, `${String(work.clock.now()).padStart(13, '0')}#~`)
  const isPerson = new Set(nameless)
  await inTurn(work, budget, round.least, [...nameless, ...workspaces], (id, share) =>
    isPerson.has(id) ? removeName(work, id, share) : removeWorkspace(work, id, share),
  )
}

/** Goes around until all are done, or the budget is used up. Each round begins with another one, so that none is never reached. */
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
        return work.log.info('removal goes on in the next round', { open: paused.length + rest })
      }
      try {
        await remove(id, shareOf(budget, rest, least))
      } catch (error) {
        if (error instanceof Paused) paused.push(id)
        else work.log.error('removal failed', { id, error })
      }
    }
    open = paused
  }
}

const idsIn = async (work: Work, list: string, to?: string): Promise<string[]> => {
  const ids: string[] = []
  let after: string | undefined
  do {
    const page = await keysListed(work.table, list, { limit: PAGE, after, ...(to !== undefined && { to }) })
    ids.push(...page.items.map(({ pk }) => pk.slice(pk.indexOf('#') + 1)))
    after = page.next
  } while (after !== undefined)
  return ids
}
