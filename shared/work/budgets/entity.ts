import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

/** Measures that a budget can limit. */
export const MEASURES = ['runs', 'tokens', 'cost_units'] as const

export type Measure = (typeof MEASURES)[number]

/** Kinds of owners that a budget can have. */
export const SUBJECTS = ['workspace', 'agent', 'person'] as const

export const PERIODS = ['day', 'month'] as const

const budget = () =>
  z.object({
    id: z.string(),
    subject: z.enum(SUBJECTS),
    /** App of the agent, whichever installation it has, or person. Absent if each of them has the budget, and for the workspace. */
    subject_id: z.string().optional(),
    period: z.enum(PERIODS),
    runs: z.number().optional(),
    tokens: z.number().optional(),
    cost_units: z.number().optional(),
    /** Tokens and cost units that a run reserves at its start. Present with their limits. */
    run_tokens: z.number().optional(),
    run_cost_units: z.number().optional(),
  })

export type Budget = z.infer<ReturnType<typeof budget>>

const workspaceBudgets = () => z.object({ workspace_id: z.string(), budgets: z.array(budget()), revision: z.number() })

/** A workspace's budgets, in one record, because the start of every run reads them. */
export const WorkspaceBudgetsEntity = defineEntity({
  name: 'workspace-budgets',
  schema: workspaceBudgets,
  pk: 'WS#{workspace_id}',
  sk: 'BUDGETS',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

/** Amounts that a run reserved in a counter. */
export const reservationSchema = () =>
  z.object({
    budget_id: z.string(),
    period: z.string(),
    subject_id: z.string(),
    tokens: z.number().optional(),
    cost_units: z.number().optional(),
  })

export type Reservation = z.infer<ReturnType<typeof reservationSchema>>

const budgetCounter = () =>
  z.object({
    workspace_id: z.string(),
    budget_id: z.string(),
    /** Day or month in UTC: `2026-11-24`, `2026-11`. */
    period: z.string(),
    subject_id: z.string(),
    runs: z.number().optional(),
    /** Used and reserved. */
    tokens: z.number().optional(),
    cost_units: z.number().optional(),
    /** Share of them that runs in progress reserved. */
    held_tokens: z.number().optional(),
    held_cost_units: z.number().optional(),
    /** Highest alert so far, with the limits that it was about. */
    announced: z.string().optional(),
    expires_at: z.number(),
  })

export type BudgetCounter = z.infer<ReturnType<typeof budgetCounter>>

/** Use of a budget by one subject in one period. */
export const BudgetCounterEntity = defineEntity({
  name: 'budget-counter',
  schema: budgetCounter,
  pk: 'BUDGETS#{workspace_id}',
  sk: 'USE#{budget_id}#{period}#{subject_id}',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 75 },
  expires: ({ expires_at }) => expires_at,
})
