import type { Deps } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lte, missing, type Where } from '#shared/table/expressions.ts'
import {
  type Budget,
  type BudgetCounter,
  BudgetCounterEntity,
  MEASURES,
  type Reservation,
  WorkspaceBudgetsEntity,
} from './entity.ts'
import { expiryOf, periodOf } from './period.ts'
import { budgetExceeded, heldAtStart, spentMeasure } from './refusal.ts'

/** Run that budgets are charged with. */
interface Charged {
  workspace_id: string
  app_id: string
  /** Person who started it, or the first run of its chain. */
  actor?: { id: string } | undefined
}

/** Returns whom a budget counts the run for; undefined if it isn't about the run. */
const subjectOf = ({ subject, subject_id }: Budget, run: Charged): string | undefined => {
  if (subject === 'workspace') return run.workspace_id
  const id = subject === 'agent' ? run.app_id : run.actor?.id
  return subject_id === undefined || subject_id === id ? id : undefined
}

export const loadBudgets = async ({ table }: Pick<Deps, 'table'>, workspace_id: string): Promise<Budget[]> =>
  (await table.get(WorkspaceBudgetsEntity, { workspace_id }))?.budgets ?? []

/**
 * Reserves what a new run needs in every budget that is about it. The counters hold what is used and reserved, and are
 * changed on a condition in the run's own transaction. Parallel starts therefore never exceed a limit.
 * @param budgets those of the run's workspace
 * @throws the writes: `budget_exceeded`
 */
export const reserveBudgets = (
  { clock }: Pick<Deps, 'clock'>,
  run: Charged,
  budgets: readonly Budget[],
): { reserved: Reservation[] | undefined; writes: Write[] } => {
  const now = clock.now()
  const reserved: Reservation[] = []
  const writes: Write[] = []
  for (const budget of budgets) {
    const subject_id = subjectOf(budget, run)
    if (subject_id === undefined) continue
    const period = periodOf(budget.period, now)
    const { run_tokens: tokens, run_cost_units: cost_units } = budget
    const reservation = { budget_id: budget.id, period, subject_id, tokens, cost_units }
    reserved.push(reservation)
    writes.push(
      addToCounter(
        run.workspace_id,
        reservation,
        { runs: 1, tokens, held_tokens: tokens, cost_units, held_cost_units: cost_units },
        budget,
      ),
    )
  }
  return { reserved: reserved.length > 0 ? reserved : undefined, writes }
}

type Added = { [F in keyof BudgetCounter]?: number | undefined }

/** @param within budget whose limits must hold afterwards */
const addToCounter = (
  workspace_id: string,
  { budget_id, period, subject_id }: Reservation,
  added: Added,
  within?: Budget,
): Write => {
  const key = { workspace_id, budget_id, period, subject_id }
  const add = Object.fromEntries(Object.entries(added).filter(([, n]) => n)) as Record<string, number>
  const limits = MEASURES.filter((measure) => within?.[measure] !== undefined && add[measure] !== undefined)
  const where: Where<BudgetCounter> = Object.fromEntries(
    limits.map((measure) => [measure, either(missing, lte((within?.[measure] ?? 0) - (add[measure] ?? 0)))]),
  )
  return BudgetCounterEntity.upsert(
    key,
    { set: { ...key, expires_at: expiryOf(period) }, add },
    within && {
      where,
      otherwise: (current) =>
        budgetExceeded(within, spentMeasure(within, current ?? {}, (measure) => add[measure] ?? 0) ?? 'runs', period),
    },
  )
}

/** A run’s use of the measures that are known only at its end. */
export interface Used {
  tokens: number
  cost_units: number
}

interface Reserving {
  workspace_id: string
  budgets?: Reservation[] | undefined
}

/** Replaces a run's reservations by what it used. Part of every transaction that ends a run. */
export const settleBudgets = ({ workspace_id, budgets = [] }: Reserving, used: Used): Write[] =>
  budgets.flatMap((reservation) => {
    const { tokens = 0, cost_units = 0 } = reservation
    const added = {
      tokens: used.tokens - tokens,
      held_tokens: -tokens,
      cost_units: used.cost_units - cost_units,
      held_cost_units: -cost_units,
    }
    return Object.values(added).some((n) => n !== 0) ? [addToCounter(workspace_id, reservation, added)] : []
  })

/**
 * Raises a run's reservations above what it has used so far, by whole reservations, before it uses more.
 * @returns undefined if they suffice
 * @throws the writes: `budget_exceeded`
 */
export const raiseReservations = async (
  deps: Pick<Deps, 'table'>,
  { workspace_id, budgets = [] }: Reserving,
  used: Used,
): Promise<{ reserved: Reservation[]; writes: Write[] } | undefined> => {
  const measures = ['tokens', 'cost_units'] as const
  const isShort = (reservation: Reservation, measure: (typeof measures)[number]): boolean =>
    (reservation[measure] ?? Number.POSITIVE_INFINITY) <= used[measure]
  if (!budgets.some((reservation) => measures.some((measure) => isShort(reservation, measure)))) return undefined
  const known = new Map((await loadBudgets(deps, workspace_id)).map((budget) => [budget.id, budget]))
  const writes: Write[] = []
  const reserved = budgets.map((reservation) => {
    const budget = known.get(reservation.budget_id)
    const added: Added = {}
    const raised = { ...reservation }
    for (const measure of measures) {
      const step = budget && heldAtStart(budget, measure)
      if (!step || !isShort(reservation, measure)) continue
      const before = reservation[measure] ?? 0
      const by = (Math.floor((used[measure] - before) / step) + 1) * step
      added[measure] = by
      added[`held_${measure}`] = by
      raised[measure] = before + by
    }
    if (Object.keys(added).length > 0) writes.push(addToCounter(workspace_id, reservation, added, budget))
    return raised
  })
  return writes.length > 0 ? { reserved, writes } : undefined
}
