import * as z from 'zod'
import { amount } from '#shared/foundation/schemas/index.ts'
import { lazily } from '#shared/kernel/lazily.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { tokenUsage } from '#shared/kernel/token-usage.ts'
import { UNREAD } from '../approval-rules/index.ts'
import { InputRequests } from './input-schemas.ts'
import { ShownRequest } from './shown-request.ts'
import { RUN_STATUSES } from './status.ts'

const json = () => z.record(z.string(), z.unknown())

const time = () => z.string().meta({ description: 'ISO 8601, UTC', example: '2026-11-21T10:15:30.123+00:00' })

/** A step as the API shows it (contract/runs.md#steps). */
export const StepSchema = () =>
  z
    .object({
      id: z.string().meta({ example: 'stp_01kae5m1v8w6c3x9q2r7t4y0zn' }),
      seq: z.number().int(),
      type: z
        .string()
        .meta({ description: 'message, tool_call, approval, input_request, error, or the agent’s own label' }),
      status: z.string().meta({ example: 'done' }),
      output: json().meta({ example: { text: 'Looking it up' } }),
      tool: z.string().nullable(),
      created_at: time(),
    })
    .meta({ id: 'RunStep' })

/** Why a run failed, in the form of the API's errors (contract/errors.md#run-error-codes). */
const runError = () =>
  z
    .object({
      code: z.string().meta({ description: 'The same as `error_code`.', example: 'agent_unreachable' }),
      message: z.string().meta({ description: 'The same as `error_message`.' }),
      fix: z.string().meta({ description: 'What to do next.' }),
      docs_url: z.string().meta({ description: 'The documentation of the code.', format: 'uri' }),
    })
    .meta({ id: 'RunError' })

export type RunErrorView = z.infer<ReturnType<typeof runError>>

/** A run as the API shows it (contract/runs.md#run-record). */
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
      error: runError().nullable().meta({ description: 'Why the run failed and what to do; null if it didn’t fail.' }),
      cost_units: z.number().nullable(),
      usage: tokenUsage().nullable().meta({ description: 'Tokens of a language model, if the agent reports them.' }),
      parent_run_id: z.string().nullable(),
      chain_depth: z.number().int().meta({ example: 0 }),
      created_at: time(),
      started_at: time().nullable(),
      finished_at: time().nullable(),
      duration_ms: z.number().int().nullable().meta({ example: 1_042 }),
      steps: z.array(StepSchema()).optional().meta({ description: 'Present only when a single run is read.' }),
    })
    .meta({ id: 'Run' })

/** A run as members of its workspace see it. */
export const WorkspaceRunSchema = () =>
  RunSchema()
    .extend({
      started_by: z
        .object({ id: z.string(), name: z.string() })
        .nullable()
        .meta({ description: 'The person who started it, or its chain; null for a run started by API.' }),
      task_id: z.string().nullable().meta({ description: 'The task that it works on.' }),
      conversation_id: z.string().nullable().meta({ description: 'The conversation that it answers.' }),
      waits_for_answer: z.boolean().meta({ description: 'It asked a question that nobody has answered yet.' }),
      repeats: z.string().nullable().meta({ description: 'The earlier run whose input a person used again.' }),
      tool: z.string().nullable().meta({ description: 'The declared tool that it was asked to use.' }),
    })
    .meta({ id: 'WorkspaceRun' })

export const RunAgain = () =>
  z.strictObject({ input: json().optional().meta({ description: 'Another input. Default: that of the earlier run.' }) })

const decided = () =>
  z.object({
    by: someone().nullable(),
    on_behalf_of: someone().nullable(),
    at: time(),
    comment: z.string().nullable(),
    approved_before_by: z
      .array(z.object({ by: someone(), at: time() }))
      .meta({ description: 'People who approved first, if the rules asked for several.' }),
  })

const tokens = () =>
  z
    .object({
      input: z.number(),
      output: z.number(),
      ...tokenUsage().pick({ cached_tokens: true, reasoning_tokens: true, estimated: true, cost_usd: true }).shape,
    })
    .nullable()
    .meta({ description: 'Tokens that the agent reported in `usage`; null if it reported none.' })

/** When everything in a run happened (contract/runs.md#traces-of-a-run). */
export const TraceSchema = () =>
  z
    .object({
      runs: z
        .array(
          z.object({
            id: z.string(),
            parent_run_id: z.string().nullable(),
            installation_id: z.string(),
            agent: z.object({ id: z.string(), version: z.string(), name: z.string().nullable() }),
            status: z.enum(RUN_STATUSES),
            trigger: z.string(),
            tool: z.string().nullable(),
            created_at: time(),
            started_at: time().nullable(),
            finished_at: time().nullable(),
            input_bytes: z.number().int(),
            output_bytes: z.number().int(),
            cost_units: z.number().nullable(),
            tokens: tokens(),
            error_code: z.string().nullable(),
            steps: z.array(
              z.object({
                id: z.string(),
                seq: z.number().int(),
                type: z.string(),
                tool: z.string().nullable(),
                status: z.string(),
                created_at: time(),
                started_at: time(),
                ended_at: time().nullable().meta({ description: 'Null while it waits for somebody.' }),
                executing_at: time().nullable().meta({ description: 'When the execution of an approved call began.' }),
                bytes: z.number().int(),
                tokens: tokens(),
                decision: decided().nullable(),
              }),
            ),
          }),
        )
        .meta({ description: 'The run, and those that it caused, at most 40.' }),
      is_complete: z.boolean().meta({ description: 'False if it caused more.' }),
    })
    .meta({ id: 'RunTrace' })

export type Trace = z.infer<ReturnType<typeof TraceSchema>>

const moment = (description: string) =>
  z.iso.datetime({ offset: true }).optional().meta({ description, example: '2026-11-21T00:00:00.000+00:00' })

const exact = (description: string, max = 100) => z.string().min(1).max(max).optional().meta({ description })

/** Filters of a workspace's runs, combined with AND. */
export const runFilters = () => ({
  status: z.enum(RUN_STATUSES).optional(),
  installation_id: z.string().max(64).optional().meta({ description: 'Only runs of this agent.' }),
  trigger: exact('Only runs with this trigger.', 60),
  person: exact('ID of the person who started it.'),
  error: exact('Only failed runs with this `error_code`.'),
  since: moment('Runs created at this time or later.'),
  until: moment('Runs created before this time.'),
  q: exact(
    'Words that all occur in the run: in its ID, agent, trigger, people, error, input or output. Inputs and outputs over ' +
      '16 KiB aren’t searched.',
    200,
  ),
})

export type RunView = z.infer<ReturnType<typeof RunSchema>>

export type StepView = z.infer<ReturnType<typeof StepSchema>>

export const StartRun = () =>
  z.strictObject({
    input: json()
      .default({})
      .meta({ example: { question: 'How many red mugs are in stock?' } }),
    trigger: z.string().min(1).max(60).default('api').meta({ description: 'Any label.' }),
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

const failure = () => ({
  error_code: z.string().min(1).max(100),
  error_message: z.string().max(4_000),
})

/** Room for 1 MiB of input or output with any escaping, plus steps. The exact limits are checked on the parsed values. */
export const RUN_BODY_BYTES = 4 * 1_024 * 1_024

/** Result with which an agent ends a run, in its response or by `complete` (contract/runs.md#finishing). */
export const CompleteRun = () =>
  z.strictObject({
    status: z.enum(['succeeded', 'failed']),
    output: json().nullish(),
    steps: z.array(newStep()).max(LIMITS.stepsPerCall).nullish(),
    cost_units: cost().nullish(),
    usage: z.strictObject(tokenUsage().shape).nullish(),
    error_code: failure().error_code.nullish(),
    error_message: failure().error_message.nullish(),
  })

type GivenCompletion = z.infer<ReturnType<typeof CompleteRun>>

export type Completion = { [Field in keyof GivenCompletion]: Exclude<GivenCompletion[Field], null> }

/** Removes fields that are null. Serializers of typed objects write null for absent fields; both mean the same here. */
export const withoutNulls = (given: { [Field in keyof GivenCompletion]: unknown }): Completion =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as Completion

/**
 * An agent's response to run.execute with status 200 (contract/runs.md#agent-answers). Unknown fields are accepted,
 * because this is a response and must not fail the run.
 */
export const AgentAnswer = lazily(() =>
  z.discriminatedUnion('status', [
    z.object({
      status: z.literal('succeeded'),
      output: json().nullish(),
      steps: z.array(answerStep()).nullish(),
      cost_units: cost().nullish(),
      usage: tokenUsage().nullish(),
    }),
    z.object({
      status: z.literal('failed'),
      error_code: failure().error_code.nullish(),
      error_message: z.string().nullish(),
      steps: z.array(answerStep()).nullish(),
      cost_units: cost().nullish(),
      usage: tokenUsage().nullish(),
    }),
    InputRequired(),
  ]),
)

/** Response to run.execute by which an agent asks people (contract/runs.md#questions). */
export const InputRequired = () =>
  z.object({
    status: z.literal('input_required'),
    input_requests: InputRequests(),
    steps: z.array(answerStep()).nullish(),
  })

const answerStep = () => z.object({ type: z.string().min(1).max(60).default('message'), output: json().default({}) })

export type AgentAnswer = z.infer<ReturnType<typeof AgentAnswer>>

export const Decide = () =>
  z.strictObject({
    decision: z.enum(['approve', 'reject']),
    comment: z.string().max(2_000).optional(),
    arguments_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
      .optional()
      .meta({
        description:
          'The SHA-256 of the arguments that the person read. Required to approve arguments that the step doesn’t ' +
          'show in full. A different one is refused.',
      }),
  })

/** One decision on several calls. */
export const DecideSeveral = () =>
  Decide()
    .extend({
      calls: z
        .array(z.strictObject({ run_id: z.string().max(64), step_id: z.string().max(64) }))
        .min(1)
        .max(50)
        .refine(
          (calls) => new Set(calls.map(({ run_id, step_id }) => `${run_id} ${step_id}`)).size === calls.length,
          'must not repeat',
        ),
    })
    .refine(({ decision, arguments_sha256 }) => decision === 'reject' || arguments_sha256 !== undefined, {
      path: ['arguments_sha256'],
      message: 'is required to approve calls together: the SHA-256 of the arguments that all of them have',
    })

export type SeveralDecisions = z.infer<ReturnType<typeof DecideSeveral>>

export const SeveralDecidedSchema = () =>
  z
    .object({
      results: z.array(
        z.object({
          run_id: z.string(),
          step_id: z.string(),
          status: z
            .enum(RUN_STATUSES)
            .nullable()
            .meta({ description: 'Of the run after the decision. Null if it failed.' }),
          error: z.object({ code: z.string(), message: z.string() }).nullable(),
        }),
      ),
    })
    .meta({ id: 'SeveralDecided' })

const someone = () => z.object({ id: z.string(), name: z.string() })

/** A call that a person was asked to approve (contract/runs.md#approvals). */
export const ApprovalSchema = () =>
  z
    .object({
      step_id: z.string(),
      run_id: z.string(),
      tool: z.string().meta({ example: 'http_fetch' }),
      status: z.enum(['pending', 'approved', 'executing', 'executed', 'rejected', 'voided']),
      request: ShownRequest().nullable().meta({ description: 'The request that the call sends, if it sends one.' }),
      arguments: z.object({
        text: z.string().meta({ description: 'One page of the arguments as canonical JSON (RFC 8785).' }),
        offset: z.number().int(),
        next_offset: z
          .number()
          .int()
          .nullable()
          .meta({ description: 'Offset of the next page. Null on the last one.' }),
        characters: z.number().int().meta({ description: 'Length of the whole text, in UTF-16 units as offsets are.' }),
        bytes: z.number().int().meta({ description: 'Size of the whole text in UTF-8.' }),
        sha256: z.string().meta({ description: 'SHA-256 of the whole text in UTF-8, in hex.' }),
      }),
      reason: z.string().nullable().meta({ description: 'Why the agent calls, in its own words.' }),
      requested_by: someone()
        .nullable()
        .meta({ description: 'The person who started the run; null for a run started by API.' }),
      requested_at: time(),
      expires_at: time()
        .nullable()
        .meta({ description: 'When the call is rejected unless somebody decides. Null once it was decided.' }),
      rule: z
        .object({
          name: z.string().nullable().meta({ description: 'Null if no rule of the workspace is for this call.' }),
          approvers: z.string().meta({ description: 'Who may approve, in words.', example: 'an owner' }),
          required: z.number().int().meta({ description: 'Number of people who have to approve.' }),
          reading: z
            .object({
              field: z.string().meta({ example: 'body.amount' }),
              at_least: z.number().meta({ description: 'From this number on, two people have to approve.' }),
              value: z
                .number()
                .nullable()
                .meta({ description: 'The number that the rule read. Null if it read none.' }),
              unread: z
                .enum(UNREAD)
                .nullable()
                .meta({ description: 'Why the rule read none. Then two people have to approve.' }),
            })
            .nullable()
            .meta({
              description: 'The number that decides how many people have to approve. Null if the rule reads none.',
            }),
          approved_by: z.array(
            z.object({
              by: someone(),
              on_behalf_of: someone().nullable(),
              at: time(),
              comment: z.string().nullable(),
            }),
          ),
          you_may_approve: z.boolean(),
          on_behalf_of: someone()
            .nullable()
            .meta({ description: 'Person who is away, in whose place you would approve.' }),
        })
        .nullable()
        .meta({ description: 'What the workspace’s rules say about the call. Null once it was decided.' }),
      decision: decided().nullable().meta({ description: 'Null before it. `by` is null if nobody decided in time.' }),
      last_approved: z
        .object({
          run_id: z.string(),
          step_id: z.string(),
          decided_at: time(),
          decided_by: someone().nullable(),
          text: z
            .string()
            .nullable()
            .meta({ description: 'Its arguments as canonical JSON. Null if they have more than 16,000 characters.' }),
        })
        .nullable()
        .meta({
          description:
            'The agent’s call of the same tool, method and origin that a person approved last. Only on the first page.',
        }),
      receipt: z
        .string()
        .nullable()
        .meta({ description: 'The signed receipt of the decision. Null before it, and if no person decided.' }),
    })
    .meta({ id: 'Approval' })
