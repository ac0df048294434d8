import { loadLastInstallations } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { findMember } from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Budget, WorkspaceBudgetsEntity } from './entity.ts'
import { type BudgetView, type ChangeBudget, MOST_BUDGETS, type NewBudget } from './schemas.ts'
import { presentBudgets } from './view.ts'

interface Editor {
  workspaceId: string
  userId: string
}

/** A hundredth of a limit, for budgets that don't say what a run reserves. */
const share = (limit: number): number => limit / 100

const amountsOf = ({ limits: { runs, tokens, cost_units }, per_run }: ChangeBudget) => ({
  runs,
  tokens,
  cost_units,
  run_tokens: tokens === undefined ? undefined : (per_run.tokens ?? Math.ceil(share(tokens))),
  run_cost_units: cost_units === undefined ? undefined : (per_run.cost_units ?? Math.max(share(cost_units), 1e-9)),
})

/** Changes the record of a workspace's budgets. @param change returns the new budgets and the one that changed */
const changeBudgets = (
  work: Work,
  { workspaceId, userId }: Editor,
  action: 'budget.added' | 'budget.changed' | 'budget.removed',
  change: (budgets: readonly Budget[]) => { budgets: Budget[]; before?: Budget; after?: Budget },
): Promise<BudgetView | undefined> =>
  retryOnConflict(async () => {
    const known = await work.table.get(WorkspaceBudgetsEntity, { workspace_id: workspaceId })
    const { budgets, before, after } = change(known?.budgets ?? [])
    const [view] = after ? await presentBudgets(work, workspaceId, [after]) : []
    const target = { type: 'budget', id: (after ?? before)?.id ?? '' }
    await work.commit(
      [
        WorkspaceBudgetsEntity.replace(
          { workspace_id: workspaceId, budgets, revision: (known?.revision ?? 0) + 1 },
          { where: { revision: known?.revision ?? missing } },
        ),
        auditPerson(work, { workspaceId, userId }, action, target, { before, after }),
      ],
      view,
    )
    return view
  })

const notFound = (): PlatformError => fail('not_found', { message: 'Budget not found.' })

/** Handles `POST /console/budgets`. @throws `not_found` for its agent or person; `conflict` */
export const addBudget = async (work: Work, by: Editor, given: NewBudget): Promise<BudgetView> => {
  const { type: subject, id: subject_id } = given.subject
  await requireSubject(work, by.workspaceId, subject, subject_id)
  const added: Budget = { id: work.id('budget'), subject, subject_id, period: given.period, ...amountsOf(given) }
  const view = await changeBudgets(work, by, 'budget.added', (budgets) => {
    if (budgets.length >= MOST_BUDGETS) {
      throw fail('conflict', {
        message: `A workspace can have at most ${MOST_BUDGETS} budgets.`,
        fix: 'Change or remove a budget.',
      })
    }
    const same = budgets.find(
      (one) => one.subject === subject && one.subject_id === subject_id && one.period === given.period,
    )
    if (same) {
      throw fail('conflict', {
        message: 'There is a budget for this subject and period already.',
        fix: `Change it: PUT /console/budgets/${same.id}.`,
      })
    }
    return { budgets: [...budgets, added], after: added }
  })
  return view as BudgetView
}

const requireSubject = async (
  work: Pick<Work, 'table' | 'clock'>,
  workspace_id: string,
  subject: Budget['subject'],
  id: string | undefined,
): Promise<void> => {
  if (id === undefined || subject === 'workspace') return
  const found =
    subject === 'agent'
      ? (await loadLastInstallations(work, workspace_id, [id])).get(id)
      : await findMember(work, workspace_id, id)
  if (!found) throw fail('not_found', { message: subject === 'agent' ? 'Agent not found.' : 'Member not found.' })
}

/** Handles `PUT /console/budgets/{id}`. What was used in the current period stays. @throws `not_found` */
export const changeBudget = async (work: Work, by: Editor, id: string, given: ChangeBudget): Promise<BudgetView> => {
  const view = await changeBudgets(work, by, 'budget.changed', (budgets) => {
    const before = budgets.find((one) => one.id === id)
    if (!before) throw notFound()
    const { subject, subject_id, period } = before
    const after: Budget = { id, subject, subject_id, period, ...amountsOf(given) }
    return { budgets: budgets.map((one) => (one.id === id ? after : one)), before, after }
  })
  return view as BudgetView
}

/** Handles `DELETE /console/budgets/{id}`. @throws `not_found` */
export const removeBudget = async (work: Work, by: Editor, id: string): Promise<void> => {
  await changeBudgets(work, by, 'budget.removed', (budgets) => {
    const before = budgets.find((one) => one.id === id)
    if (!before) throw notFound()
    return { budgets: budgets.filter((one) => one.id !== id), before }
  })
}
