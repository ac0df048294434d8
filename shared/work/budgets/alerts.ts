import { loadLastInstallations } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { utcDate } from '#shared/kernel/clock.ts'
import { msg } from '#shared/kernel/messages.ts'
import { cleanName } from '#shared/kernel/names.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import {
  type Budget,
  type BudgetCounter,
  BudgetCounterEntity,
  MEASURES,
  type Measure,
  type Reservation,
  WorkspaceBudgetsEntity,
} from './entity.ts'
import { endOf } from './period.ts'
import { heldAtStart } from './refusal.ts'

/** Shares of a budget, in percent, at which people are notified. */
const ALERTS = [50, 80, 100] as const

interface Reached {
  percent: number
  measure: Measure
}

/**
 * Returns the highest alert that a counter has reached. Only what was used counts, not what running agents reserved. A
 * budget counts as used up once it doesn't cover another run.
 */
const reachedBy = (budget: Budget, counter: BudgetCounter): Reached | undefined =>
  MEASURES.map((measure) => {
    const limit = budget[measure]
    if (limit === undefined) return undefined
    const used = (counter[measure] ?? 0) - (measure === 'runs' ? 0 : (counter[`held_${measure}`] ?? 0))
    const percent =
      used + heldAtStart(budget, measure) > limit ? 100 : ALERTS.findLast((share) => used * 100 >= limit * share)
    return percent === undefined ? undefined : { percent, measure }
  })
    .filter((reached) => reached !== undefined)
    .sort((one, other) => other.percent - one.percent)[0]

/** An alert is repeated in its period only after the limits changed. */
const limitsOf = ({ runs, tokens, cost_units }: Budget): string => JSON.stringify([runs, tokens, cost_units])

/**
 * Notifies people about budgets that runs have used to 50, 80 or 100 percent, once for each period. A person is notified about
 * their own budget, everyone in the workspace about the others.
 * @param runs runs that began or ended
 */
export const alertBudgets = async (
  work: Work,
  runs: readonly { workspace_id: string; budgets?: Reservation[] | undefined }[],
): Promise<void> => {
  const counters = new Map(
    runs.flatMap(({ workspace_id, budgets = [] }) =>
      budgets.map(({ budget_id, period, subject_id }) => {
        const ref = BudgetCounterEntity.ref({ workspace_id, budget_id, period, subject_id })
        return [`${ref.key.pk} ${ref.key.sk}`, ref] as const
      }),
    ),
  )
  if (counters.size === 0) return
  const workspaces = [...new Set(runs.map(({ workspace_id }) => workspace_id))]
  const [found, known] = await Promise.all([
    work.table.getAll([...counters.values()]),
    work.table.getAll(workspaces.map((workspace_id) => WorkspaceBudgetsEntity.ref({ workspace_id }))),
  ])
  const budgets = new Map(known.flatMap((record) => record?.budgets.map((one) => [one.id, one] as const) ?? []))
  for (const counter of found) {
    const budget = counter && budgets.get(counter.budget_id)
    if (budget) await alert(work, budget, counter)
  }
}

const alert = async (work: Work, budget: Budget, counter: BudgetCounter): Promise<void> => {
  const reached = reachedBy(budget, counter)
  if (!reached) return
  const [before, limits] = (counter.announced ?? '').split(' ')
  if (limits === limitsOf(budget) && Number(before) >= reached.percent) return
  const { percent, measure } = reached
  const { workspace_id, subject_id } = counter
  const installation =
    budget.subject === 'agent'
      ? (await loadLastInstallations(work, workspace_id, [subject_id])).get(subject_id)
      : undefined
  const starts = utcDate(endOf(counter.period))
  const { writes } = newNotification(work, {
    workspace_id,
    user_id: budget.subject === 'person' ? subject_id : undefined,
    kind: 'budget.alert',
    title: msg(
      '{agent}{percent}% of the {subject, select, workspace {workspace’s} agent {agent’s} other {person’s}} {period, select, day {daily} other {monthly}} budget of {measure, select, runs {{limit, plural, one {# run} other {# runs}}} tokens {{limit, plural, one {# token} other {# tokens}}} other {{limit, plural, one {# cost unit} other {# cost units}}}} {percent, plural, =100 {is used up} other {is used}}',
      {
        agent: installation ? `${cleanName(installation.app_name)}: ` : '',
        percent,
        subject: budget.subject,
        period: budget.period,
        measure,
        limit: budget[measure] ?? 0,
      },
    ),
    body:
      percent === 100
        ? msg('No further runs start until the budget starts again on {day} (UTC), or an admin raises it.', {
            day: starts,
          })
        : msg('The budget starts again on {day} (UTC).', { day: starts }),
    installation_id: installation?.id,
    app_id: installation?.app_id,
    target: { type: 'budget', id: budget.id },
  })
  const announced = `${percent} ${limitsOf(budget)}`
  const noted = BudgetCounterEntity.update(
    counter,
    { set: { announced } },
    { where: { announced: counter.announced ?? missing } },
  )
  // Another batch may have notified people already.
  await ifUnchanged(work.commit([noted, ...writes]))
}
