import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'
import { payload, withPayloads } from './payload.ts'
import { isActive, RUN_STATUSES, type RunStatus } from './run-status.ts'

export { ACTIVE_STATUSES, isActive, RUN_STATUSES, type RunStatus } from './run-status.ts'

const person = () => z.object({ id: z.string(), name: z.string() })

const run = () =>
  z.object({
    id: z.string(),
    installation_id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    agent_id: z.string(),
    version: z.string(),
    version_id: z.string(),
    status: z.enum(RUN_STATUSES),
    trigger: z.string(),
    input: payload(),
    output: payload().optional(),
    error_code: z.string().optional(),
    error_message: z.string().optional(),
    cost_units: z.number().optional(),
    is_sandbox: z.boolean(),
    /** The request that started it; absent in records made before it was kept. */
    request_id: z.string().optional(),
    parent_run_id: z.string().optional(),
    /** Who started it; absent for a run started by API. */
    actor: person().optional(),
    audience: z.enum(['member', 'external']),
    /** The agent that asked or delegated; absent for runs that no agent caused. */
    caller: z
      .object({
        installation_id: z.string(),
        app_id: z.string(),
        slug: z.string(),
        name: z.string(),
        run_id: z.string().optional(),
      })
      .optional(),
    /** The declared tool that `ask_agent` calls; its arguments are the run's input. */
    tool: z.string().optional(),
    /** The task that is worked on. */
    task_id: z.string().optional(),
    /** The conversation whose message started it. */
    conversation_id: z.string().optional(),
    /** The message of a chat that it answers. */
    message_id: z.string().optional(),
    /** The person whose chat it belongs to: nobody else reads it or decides in it. */
    private_to: z.string().optional(),
    chain_id: z.string(),
    chain_depth: z.number(),
    chain_deadline: z.number(),
    step_count: z.number(),
    /** The greatest seq taken; the next step without one gets the next. */
    last_seq: z.number(),
    step_bytes: z.number(),
    /** The greatest number taken in the run's live stream; absent in records made before there was one. */
    stream_seq: z.number().optional(),
    /** The latest states with their numbers in the stream, oldest first; absent like `stream_seq`. */
    transitions: z.array(z.object({ seq: z.number(), status: z.enum(RUN_STATUSES) })).optional(),
    /** The number of the newest state that `transitions` has no room for any more. */
    transitions_lost: z.number().optional(),
    /** The approval the run waits for. */
    pending_step: z.string().optional(),
    /** When run.execute was last handed to a sender. */
    dispatched_at: z.number().optional(),
    /** Set when the agent answered 202 to that. */
    accepted_at: z.number().optional(),
    /** The agent's latest sign of life: a step, a tool call, a token renewal. */
    alive_at: z.number().optional(),
    created_at: z.number(),
    started_at: z.number().optional(),
    finished_at: z.number().optional(),
    /** By when the sweep looks: not dispatched, no sign of life, silent, undecided. */
    due_at: z.number().optional(),
  })

export type Run = z.infer<ReturnType<typeof run>>

/** Narrowed lists of an installation's runs, one per status. */
export const runsByStatus = (installationId: string, status: RunStatus): string => `${installationId}#RUNS#${status}`

export const RunEntity = defineEntity<Run>()({
  name: 'run',
  schema: run,
  pk: 'INS#{installation_id}',
  sk: 'RUN#{id}',
  due: true,
  expires: withPayloads,
  // One that is active is ended first.
  hides: ({ status }) => !isActive(status),
  directory: ({ id, created_at }) => ({ list: 'runs', day: created_at, sort: id }),
  list: ({ installation_id, status, id }) => ({ owner: runsByStatus(installation_id, status), sort: id }),
})

const workspaceRun = () =>
  z.object({
    workspace_id: z.string(),
    run_id: z.string(),
    installation_id: z.string(),
    private_to: z.string().optional(),
    created_at: z.number(),
  })

/** A workspace's runs whatever their installation; written with the run. */
export const WorkspaceRunEntity = defineEntity<z.infer<ReturnType<typeof workspaceRun>>>()({
  name: 'workspace-run',
  schema: workspaceRun,
  pk: 'WS#{workspace_id}',
  sk: 'RUN#{run_id}',
  expires: withPayloads,
})

const step = () =>
  z.object({
    id: z.string(),
    run_id: z.string(),
    seq: z.number(),
    type: z.string(),
    status: z.string(),
    output: payload(),
    tool: z.string().optional(),
    /** Its number in the run's live stream; a greater one with every change. */
    stream_seq: z.number().optional(),
    created_at: z.number(),
  })

export type Step = z.infer<ReturnType<typeof step>>

export const StepEntity = defineEntity<Step>()({
  name: 'step',
  schema: step,
  pk: 'RUN#{run_id}',
  sk: 'STEP#{seq}',
  expires: withPayloads,
})

const approval = () =>
  z.object({
    step_id: z.string(),
    run_id: z.string(),
    seq: z.number(),
    workspace_id: z.string(),
    installation_id: z.string(),
    tool: z.string(),
    /** SHA-256 of the tool's name and its canonical arguments (RFC 8785): what was asked is what is executed. */
    call_hash: z.string(),
    arguments: payload(),
    status: z.enum(['pending', 'approved', 'executing', 'executed', 'rejected', 'voided']),
    decided_by: person().optional(),
    comment: z.string().optional(),
    decided_at: z.number().optional(),
    /** Claimed for execution; at most once. */
    executing_at: z.number().optional(),
    result: payload().optional(),
    /** The agent took the decided result. */
    consumed_at: z.number().optional(),
    /** The run was handed to the agent again with the decision (manifest `runtime.resume`). */
    resumed_at: z.number().optional(),
    created_at: z.number(),
    due_at: z.number().optional(),
  })

export type Approval = z.infer<ReturnType<typeof approval>>

export const ApprovalEntity = defineEntity<Approval>()({
  name: 'approval',
  schema: approval,
  pk: 'RUN#{run_id}',
  sk: 'APPROVAL#{step_id}',
  due: true,
  expires: withPayloads,
})

const call = () => z.object({ run_id: z.string(), call_hash: z.string(), step_id: z.string(), created_at: z.number() })

/** The latest approval of a call in a run, found by what was asked. */
export const ApprovedCallEntity = defineEntity<z.infer<ReturnType<typeof call>>>()({
  name: 'approved-call',
  schema: call,
  pk: 'RUN#{run_id}',
  sk: 'CALL#{call_hash}',
  expires: withPayloads,
})

const chainMark = () =>
  z.object({
    installation_id: z.string(),
    run_id: z.string(),
    chain_id: z.string(),
    chain_depth: z.number(),
    chain_deadline: z.number(),
    audience: z.enum(['member', 'external']),
    actor: person().optional(),
    /** Of a run of somebody's chat: whose. */
    private_to: z.string().optional(),
    /** It stands for work on a task outside of any run; `run_id` is the task’s id. */
    of_task: z.boolean().optional(),
    ended_at: z.number(),
    expires_at: z.number().optional(),
  })

export type ChainMark = z.infer<ReturnType<typeof chainMark>>

/** `ended_at` of a run that goes on: such marks sort behind those of every ended one. */
export const STILL_ACTIVE = 9_999_999_999_999

/**
 * Where an installation's active and just ended runs stand in their chains. A call that names no run takes the worst of
 * them (decisions §5), so this is read consistently and in one range, however many runs there are.
 */
export const ChainMarkEntity = defineEntity<ChainMark>()({
  name: 'chain-mark',
  schema: chainMark,
  pk: 'CHAIN#{installation_id}',
  sk: 'MARK#{ended_at}#{run_id}',
  expires: ({ expires_at }) => expires_at,
})
