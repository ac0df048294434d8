import { loadLastInstallations } from '#shared/access/installations/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { UserEntity } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { type Budget, type BudgetCounter, BudgetCounterEntity } from './entity.ts'
import { endOf, periodOf } from './period.ts'
import { loadBudgets } from './reserve.ts'
import type { BudgetView } from './schemas.ts'

/** Most subjects whose use is listed. */
const LISTED = 100

type Reads = Pick<Deps, 'table' | 'clock'>

/** Handles `GET /console/budgets`. */
export const listBudgets = async (deps: Reads, workspaceId: string): Promise<{ items: BudgetView[] }> => ({
  items: await presentBudgets(deps, workspaceId, await loadBudgets(deps, workspaceId)),
})

export const presentBudgets = async (
  deps: Reads,
  workspace_id: string,
  budgets: readonly Budget[],
): Promise<BudgetView[]> => {
  const use = await Promise.all(budgets.map((budget) => listUse(deps, workspace_id, budget)))
  const { names, uninstalled } = await loadNames(deps, workspace_id, [
    ...budgets.map(({ subject, subject_id }) => ({ subject, id: subject_id })),
    ...budgets.flatMap(({ subject }, i) => (use[i] ?? []).map(({ subject_id }) => ({ subject, id: subject_id }))),
  ])
  const nameOf = (id: string | undefined): string | null => (id === undefined ? null : (names.get(id) ?? null))
  return budgets.map((budget, i) => ({
    id: budget.id,
    subject: {
      type: budget.subject,
      id: budget.subject_id ?? null,
      name: nameOf(budget.subject_id),
      is_installed:
        budget.subject === 'agent' && budget.subject_id !== undefined ? !uninstalled.has(budget.subject_id) : null,
    },
    period: budget.period,
    limits: {
      runs: budget.runs ?? null,
      tokens: budget.tokens ?? null,
      cost_units: budget.cost_units ?? null,
    },
    per_run: { tokens: budget.run_tokens ?? null, cost_units: budget.run_cost_units ?? null },
    resets_at: iso(endOf(periodOf(budget.period, deps.clock.now()))),
    use: (use[i] ?? []).map((counter) => ({ name: nameOf(counter.subject_id), ...presentUse(counter) })),
  }))
}

const presentUse = (counter: BudgetCounter) => {
  const { subject_id: id, runs = 0, tokens = 0, cost_units = 0, held_tokens = 0, held_cost_units = 0 } = counter
  return {
    id,
    runs,
    tokens: tokens - held_tokens,
    cost_units: exact(cost_units - held_cost_units),
    reserved: { tokens: held_tokens, cost_units: exact(held_cost_units) },
  }
}

/** Rounds a sum of decimals to remove floating-point errors. */
const exact = (units: number): number => Number(units.toFixed(9))

const listUse = async ({ table, clock }: Reads, workspace_id: string, budget: Budget): Promise<BudgetCounter[]> => {
  const key = { workspace_id, budget_id: budget.id, period: periodOf(budget.period, clock.now()) }
  const sk = (subject_id: string) => BudgetCounterEntity.key({ ...key, subject_id }).sk
  const bounds = { from: sk('!'), to: sk('~') }
  const { items } = await table.query(BudgetCounterEntity, { workspace_id }, { limit: LISTED, ...bounds })
  return items.sort((one, other) => (other.runs ?? 0) - (one.runs ?? 0))
}

const loadNames = async (
  deps: Pick<Deps, 'table'>,
  workspace_id: string,
  subjects: readonly { subject: Budget['subject']; id: string | undefined }[],
): Promise<{ names: Map<string, string>; uninstalled: Set<string> }> => {
  const idsOf = (wanted: Budget['subject']): string[] => [
    ...new Set(subjects.flatMap(({ subject, id }) => (subject === wanted && id !== undefined ? [id] : []))),
  ]
  const [agents, people] = await Promise.all([
    loadLastInstallations(deps, workspace_id, idsOf('agent')),
    deps.table.getAll(idsOf('person').map((id) => UserEntity.ref({ id }))),
  ])
  return {
    names: new Map([
      ...[...agents].map(([id, { app_name }]) => [id, app_name] as const),
      ...people.flatMap((one) => (one ? [[one.id, one.name] as const] : [])),
    ]),
    uninstalled: new Set([...agents].flatMap(([id, { status }]) => (status === 'revoked' ? [id] : []))),
  }
}
