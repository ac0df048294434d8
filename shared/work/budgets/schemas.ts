import * as z from 'zod'
import { amount, idField } from '#shared/foundation/schemas/index.ts'
import { PERIODS, SUBJECTS } from './entity.ts'

/** Largest number of budgets in a workspace. The start of a run changes a counter for each that is about it. */
export const MOST_BUDGETS = 20

const whole = () => z.number().int().min(1).max(1e12)
const units = () => amount(1e12).refine((given) => given > 0, 'must be more than 0')

const limits = () =>
  z
    .strictObject({ runs: whole().optional(), tokens: whole().optional(), cost_units: units().optional() })
    .refine((given) => Object.values(given).some((limit) => limit !== undefined), 'must have at least one limit')

const perRun = () =>
  z.strictObject({ tokens: whole().optional(), cost_units: units().optional() }).meta({
    description:
      'Amounts that each run reserves at its start, for measures with a limit. Default: a hundredth of the limit.',
  })

const change = () => ({ limits: limits(), per_run: perRun().default({}) })

type Change = z.infer<z.ZodObject<ReturnType<typeof change>>>

const fits = ({ limits: most, per_run }: Change): boolean =>
  (['tokens', 'cost_units'] as const).every(
    (measure) => (per_run[measure] ?? 0) <= (most[measure] ?? Number.POSITIVE_INFINITY),
  )

const misfit = { path: ['per_run'], error: 'must not be more than the limit' }

/** Body of `PUT /console/budgets/{id}`. */
export const ChangeBudget = () => z.strictObject(change()).refine(fits, misfit)

export type ChangeBudget = z.infer<ReturnType<typeof ChangeBudget>>

/** Body of `POST /console/budgets`. */
export const NewBudget = () =>
  z
    .strictObject({
      subject: z
        .strictObject({ type: z.enum(SUBJECTS), id: z.string().max(64).optional() })
        .refine(({ type, id }) => type !== 'workspace' || id === undefined, 'takes no id for the workspace')
        .meta({
          description:
            'The `id` of an app or of a member. A budget of an app also applies when the app is installed again. ' +
            'Without an id, each agent or each person has the budget.',
          example: { type: 'agent', id: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' },
        }),
      period: z.enum(PERIODS).meta({ description: 'In UTC.' }),
      ...change(),
    })
    .refine(fits, misfit)

export type NewBudget = z.infer<ReturnType<typeof NewBudget>>

const amounts = () => ({ tokens: z.number().nullable(), cost_units: z.number().nullable() })

/** A budget with its use in the current period. */
export const BudgetSchema = () =>
  z
    .object({
      id: idField('bdg'),
      subject: z.object({
        type: z.enum(SUBJECTS),
        id: z.string().nullable().meta({ description: 'Null if each agent or person has the budget.' }),
        name: z.string().nullable(),
        is_installed: z.boolean().nullable().meta({
          description:
            'False for an agent whose app was uninstalled. Its budget counts again when it is installed. Null for others.',
        }),
      }),
      period: z.enum(PERIODS),
      limits: z.object({ runs: z.number().nullable(), ...amounts() }),
      per_run: z.object(amounts()).meta({ description: 'Amounts that each run reserves at its start.' }),
      resets_at: z.string().meta({ description: 'ISO 8601, UTC', example: '2026-11-22T00:00:00.000+00:00' }),
      use: z
        .array(
          z.object({
            id: z.string().meta({ description: 'The workspace, the app or the person.' }),
            name: z.string().nullable(),
            runs: z.number(),
            tokens: z.number(),
            cost_units: z.number(),
            reserved: z.object({ tokens: z.number(), cost_units: z.number() }),
          }),
        )
        .meta({ description: 'Use in the current period, the most runs first, at most 100.' }),
    })
    .meta({ id: 'Budget' })

export type BudgetView = z.infer<ReturnType<typeof BudgetSchema>>

export const BudgetsSchema = () => z.object({ items: z.array(BudgetSchema()) }).meta({ id: 'Budgets' })
