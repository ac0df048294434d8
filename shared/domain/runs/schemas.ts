import * as z from 'zod'
import { RUN_STATUSES } from '../../entities/runs.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { amount } from '../fields.ts'

const json = () => z.record(z.string(), z.unknown())
const time = () => z.string().meta({ description: 'ISO 8601, UTC', example: '2026-11-21T10:15:30.123+00:00' })

/** A step as the API shows it (decisions §4). */
export const StepSchema = () =>
  z
    .object({
      id: z.string().meta({ example: 'stp_01kae5m1v8w6c3x9q2r7t4y0zn' }),
      seq: z.number().int(),
      type: z.string().meta({ description: 'message, tool_call, approval, error, or a label of the agent’s own' }),
      status: z.string().meta({ example: 'done' }),
      output: json().meta({ example: { text: 'Looking it up' } }),
      tool: z.string().nullable(),
      created_at: time(),
    })
    .meta({ id: 'RunStep' })

/** A run as the API shows it (specification "Run", decisions §4). */
export const RunSchema = () =>
  z
    .object({
      id: z.string().meta({ example: 'run_01kae5m1v8w6c3x9q2r7t4y0zn' }),
      status: z.enum(RUN_STATUSES).meta({ example: 'succeeded' }),
      app_id: z.string(),
      installation_id: z.string(),
      workspace_id: z.string(),
      agent: z.object({ id: z.string(), version: z.string() }),
      trigger: z.string(),
      input: json().meta({ example: { question: 'How many red mugs are in stock?' } }),
      output: json()
        .nullable()
        .meta({ example: { answer: 12 } }),
      error_code: z.string().nullable(),
      error_message: z.string().nullable(),
      cost_units: z.number().nullable(),
      parent_run_id: z.string().nullable(),
      chain_depth: z.number().int().meta({ example: 0 }),
      created_at: time(),
      started_at: time().nullable(),
      finished_at: time().nullable(),
      duration_ms: z.number().int().nullable().meta({ example: 1_042 }),
      steps: z.array(StepSchema()).optional().meta({ description: 'Only where one run is read.' }),
    })
    .meta({ id: 'Run' })

export type RunView = z.infer<ReturnType<typeof RunSchema>>
export type StepView = z.infer<ReturnType<typeof StepSchema>>

export const StartRun = () =>
  z.strictObject({
    input: json()
      .default({})
      .meta({ example: { question: 'How many red mugs are in stock?' } }),
    trigger: z.string().min(1).max(60).default('api').meta({ description: 'A free label.' }),
  })

const newStep = () =>
  z.strictObject({
    type: z.string().min(1).max(60).default('message'),
    output: json().default({}),
    seq: z.number().int().min(1).max(1_000_000).optional(),
  })

export type NewStep = z.infer<ReturnType<typeof newStep>>

/** One step, or up to 50. */
export const AddSteps = () =>
  z.union([z.strictObject({ steps: z.array(newStep()).min(1).max(LIMITS.stepsPerCall) }), newStep()])

const cost = () => amount(1e12)

const failure = {
  error_code: z.string().min(1).max(100),
  error_message: z.string().max(4_000),
}

/** How an agent ends a run, in its answer or by `complete` (specification "Agent runtime protocol"). */
export const CompleteRun = () =>
  z.strictObject({
    status: z.enum(['succeeded', 'failed']),
    output: json().nullish(),
    steps: z.array(newStep()).max(LIMITS.stepsPerCall).nullish(),
    cost_units: cost().nullish(),
    error_code: failure.error_code.nullish(),
    error_message: failure.error_message.nullish(),
  })

type GivenCompletion = z.infer<ReturnType<typeof CompleteRun>>
export type Completion = { [Field in keyof GivenCompletion]: Exclude<GivenCompletion[Field], null> }

/** Serializers of typed objects write null for what is absent; here they mean the same. */
export const withoutNulls = (given: { [Field in keyof GivenCompletion]: unknown }): Completion =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as Completion

/**
 * What an agent answers to run.execute with 200 (specification "Agent runtime protocol"). Unknown fields are let pass:
 * it is an answer, not a request, and the run must not fail for them.
 */
export const AgentAnswer = () =>
  z.discriminatedUnion('status', [
    z.object({
      status: z.literal('succeeded'),
      output: json().nullish(),
      steps: z.array(answerStep()).nullish(),
      cost_units: cost().nullish(),
    }),
    z.object({
      status: z.literal('failed'),
      error_code: failure.error_code.nullish(),
      error_message: z.string().nullish(),
      steps: z.array(answerStep()).nullish(),
      cost_units: cost().nullish(),
    }),
  ])

const answerStep = () => z.object({ type: z.string().min(1).max(60).default('message'), output: json().default({}) })

export type AgentAnswer = z.infer<ReturnType<typeof AgentAnswer>>

export const Decide = () =>
  z.strictObject({ decision: z.enum(['approve', 'reject']), comment: z.string().max(2_000).optional() })
