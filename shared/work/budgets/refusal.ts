import { iso } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { type Budget, MEASURES, type Measure } from './entity.ts'
import { endOf } from './period.ts'

const WHOSE = { workspace: 'workspace’s', agent: 'agent’s', person: 'person’s' } as const
const EVERY = { day: 'daily', month: 'monthly' } as const
const UNITS = { runs: 'run', tokens: 'token', cost_units: 'cost unit' } as const

/** Names a budget: "workspace’s daily budget of 100 runs". */
const budgetName = ({ subject, period, ...limits }: Budget, measure: Measure): string => {
  const limit = limits[measure] ?? 0
  return `${WHOSE[subject]} ${EVERY[period]} budget of ${limit.toLocaleString('en')} ${UNITS[measure]}${limit === 1 ? '' : 's'}`
}

/** Amount that the start of a run adds to a measure. */
export const heldAtStart = (budget: Budget, measure: Measure): number =>
  measure === 'runs' ? 1 : (budget[`run_${measure}`] ?? 0)

/** Finds the measure of which a counter has less left than `wanted`. */
export const spentMeasure = (
  budget: Budget,
  used: { [M in Measure]?: number | undefined },
  wanted: (measure: Measure) => number,
): Measure | undefined =>
  MEASURES.find((measure) => {
    const limit = budget[measure]
    return limit !== undefined && (used[measure] ?? 0) + wanted(measure) > limit
  })

/** Error for a run that a budget doesn't cover. */
export const budgetExceeded = (budget: Budget, measure: Measure, period: string): PlatformError => {
  const resets_at = iso(endOf(period))
  return fail('budget_exceeded', {
    message: `The ${budgetName(budget, measure)} is used up.`,
    fix: `Wait until the budget starts again at ${resets_at}, or ask an admin of the workspace to raise it.`,
    details: { budget_id: budget.id, measure, limit: budget[measure], period: budget.period, resets_at },
  })
}
