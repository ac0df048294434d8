import type { ConsoleCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  addBudget,
  BudgetSchema,
  BudgetsSchema,
  ChangeBudget,
  changeBudget,
  listBudgets,
  NewBudget,
  removeBudget,
} from '#shared/work/budgets/index.ts'

const editor = ({ workspace, user }: ConsoleCaller) => ({ workspaceId: workspace.id, userId: user.id })

const common = { group: 'console', caller: 'console' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.budgets.list',
  method: 'GET',
  path: '/console/budgets',
  summary: 'List the workspace’s budgets with their use',
  description: 'Returns what runs used and reserved in the current day or month, in UTC.',
  response: BudgetsSchema,
  handler: ({ work, caller }) => listBudgets(work, caller.workspace.id),
})

const add = defineEndpoint({
  ...common,
  id: 'console.budgets.add',
  method: 'POST',
  path: '/console/budgets',
  role: 'admin',
  summary: 'Add a budget',
  description:
    'Limits the runs, tokens and cost units of the workspace, an agent or a person in a day or month. A run reserves its ' +
    'share before it starts, and is refused with `budget_exceeded` if the budget doesn’t cover it. At its end, the run’s ' +
    'own figures replace the reservation. People are notified at 50, 80 and 100 percent.',
  status: 201,
  body: NewBudget,
  response: BudgetSchema,
  errors: ['conflict', 'not_found'],
  handler: ({ work, caller, body }) => addBudget(work, editor(caller), body),
})

const change = defineEndpoint({
  ...common,
  id: 'console.budgets.change',
  method: 'PUT',
  path: '/console/budgets/{id}',
  params: { id: 'budget' },
  role: 'admin',
  summary: 'Change a budget’s limits',
  description: 'Replaces the limits from the next run on. What was used in the current period stays.',
  body: ChangeBudget,
  response: BudgetSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => changeBudget(work, editor(caller), params.id, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'console.budgets.remove',
  method: 'DELETE',
  path: '/console/budgets/{id}',
  params: { id: 'budget' },
  role: 'admin',
  summary: 'Remove a budget',
  description: 'New runs no longer count, and the budget’s figures are removed.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await removeBudget(work, editor(caller), params.id)
    return undefined
  },
})

export const endpoints = [list, add, change, remove]
