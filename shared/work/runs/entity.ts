import * as z from 'zod'
import { ownedByInstallation } from '#shared/access/installations/index.ts'
import { payload, payloadExpiry } from '#shared/foundation/payloads/index.ts'
import { tokenUsage } from '#shared/kernel/token-usage.ts'
import { traceSchema } from '#shared/kernel/tracing/context.ts'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'
import { reservationSchema } from '../budgets/index.ts'
import { ShownRequest } from './shown-request.ts'
import { isActive, RUN_STATUSES, type RunStatus } from './status.ts'

/** Protocols over which a run can be started and followed. They are also its trigger. */
export const PROTOCOLS = ['mcp', 'a2a'] as const

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
    /** Tokens of a language model, if known. */
    usage: tokenUsage().optional(),
    /** Amounts reserved in budgets. Absent without budgets. */
    budgets: z.array(reservationSchema()).optional(),
    /** Number of times that it raised its reservations. */
    budgets_raised: z.number().optional(),
    is_sandbox: z.boolean(),
    /** Id of the request that started it. */
    request_id: z.string(),
    /** Trace of the request that started it, which all of its work continues. */
    trace: traceSchema().optional(),
    parent_run_id: z.string().optional(),
    /** Earlier run whose input a person used again. */
    repeats: z.string().optional(),
    /** Person who started it; absent for a run started by API. */
    actor: person().optional(),
    audience: z.enum(['member', 'external']),
    /** Agent that asked or delegated; absent for runs that no agent caused. */
    caller: z
      .object({
        installation_id: z.string(),
        app_id: z.string(),
        slug: z.string(),
        name: z.string(),
        run_id: z.string().optional(),
      })
      .optional(),
    /** Declared tool that `ask_agent` calls. Its arguments are the run's input. */
    tool: z.string().optional(),
    /** Task that the run works on. */
    task_id: z.string().optional(),
    /** Grant that it began under, and ends with. Absent for a direct install. */
    grant_id: z.string().optional(),
    /** Conversation whose message started it. */
    conversation_id: z.string().optional(),
    /** Message that it answers. */
    message_id: z.string().optional(),
    /** Person whose chat it belongs to. Nobody else reads it or decides in it. */
    private_to: z.string().optional(),
    chain_id: z.string(),
    chain_depth: z.number(),
    /** Limits a run that an agent caused. A root run's time begins with its first question, at `first_hop_at`. */
    chain_deadline: z.number(),
    first_hop_at: z.number().optional(),
    /** Creation of the first run of its chain; absent if its slot names it. */
    chain_started_at: z.number().optional(),
    /** Schedules whose events' runs led to it. Events of the run don't start them again. */
    chain_schedules: z.array(z.string()).optional(),
    step_count: z.number(),
    /** Greatest seq in use. The next step without a seq gets the next one. */
    last_seq: z.number(),
    step_bytes: z.number(),
    /** Text that a model is writing. It is in the run's live stream until the step with its id exists, and isn't kept. */
    draft: z.object({ step_id: z.string(), stream_seq: z.number(), text: z.string() }).optional(),
    /** Greatest number in use in the run's live stream. */
    stream_seq: z.number(),
    /** Latest states with their numbers in the stream, oldest first. */
    transitions: z.array(z.object({ seq: z.number(), status: z.enum(RUN_STATUSES) })),
    /** Number of the newest state dropped from `transitions`. */
    transitions_lost: z.number().optional(),
    /** Approval that the run waits for. */
    pending_step: z.string().optional(),
    /** Steps with unanswered questions, oldest first. While there are any, the run is waiting and takes no active place. */
    input_steps: z.array(z.string()).optional(),
    /** Protocol over which its starter follows it and answers its questions. Absent for runs started in other ways. */
    protocol: z.enum(PROTOCOLS).optional(),
    /** Caller who follows it over the protocol, as `callerName` names it. Nobody else reads or answers it there. */
    followed_by: z.string().optional(),
    /** A2A message that called a declared tool. That of any other message is in the input. */
    client_message: payload().optional(),
    /** A2A context, with its latest runs before this one. */
    context: z.object({ id: z.string(), run_ids: z.array(z.string()) }).optional(),
    /** A2A clients asked to be notified, so events of the run wake the worker that does it. */
    pushes: z.literal(true).optional(),
    /** Capabilities that the MCP client declared. */
    client_capabilities: z.record(z.string(), z.unknown()).optional(),
    /** No call waits for it, although it calls a declared tool. It has a clock of its own. */
    is_detached: z.boolean().optional(),
    /** Time at which run.execute was last dispatched; absent once it has ended. */
    dispatched_at: z.number().optional(),
    /** Number of the latest attempt to send its current message; absent for the first. */
    attempt: z.number().optional(),
    /** Time from which run.execute is sent again. */
    retry_at: z.number().optional(),
    /** Decision or answers that the latest request carried, if its agent may get them again. */
    resumed_with: z.object({ step_id: z.string(), is_decision: z.boolean(), answered: z.array(z.string()) }).optional(),
    /** Time at which the agent accepted run.execute with 202; absent once it has ended. */
    accepted_at: z.number().optional(),
    /** Time of the agent's latest sign of life: a step, a tool call or a token renewal; absent once it has ended. */
    alive_at: z.number().optional(),
    created_at: createdAt(),
    /** Time at which it fails if it is still active; absent once it has ended. */
    ends_at: z.number().optional(),
    started_at: z.number().optional(),
    finished_at: z.number().optional(),
    /** Time at which the sweeper looks whether the run needs attention: not dispatched, no sign of life, silent or undecided. */
    due_at: z.number().optional(),
  })

export type Run = z.infer<ReturnType<typeof run>>

/**
 * Owner of the narrowed list that a run with this status is stored in. Active runs stay in one list until they end,
 * because each move costs two index writes. Those that a slot names are in none.
 */
export const runsByStatus = (installationId: string, status: RunStatus): string =>
  `${installationId}#RUNS#${isActive(status) ? 'active' : status}`

/** Returns the stored lists of an installation's runs with these statuses, which may hold active runs of other statuses. */
export const storedLists = (installationId: string, statuses: readonly RunStatus[]): { list: string }[] =>
  [...new Set(statuses.map((status) => runsByStatus(installationId, status)))].map((list) => ({ list }))

/** Returns true for a run that another run, a person or a chat has nothing to do with. */
export const isUnrelated = ({
  id,
  chain_id,
  chain_depth,
  chain_schedules,
  audience,
  actor,
  private_to,
}: Run): boolean =>
  chain_id === id &&
  chain_depth === 0 &&
  chain_schedules === undefined &&
  audience === 'member' &&
  actor === undefined &&
  private_to === undefined

/**
 * Returns true if the run's slot among its installation's active runs names it until it ends, instead of a mark in its chain
 * ({@link ChainMarkEntity}) and an entry in a list. Such a run has no `chain_started_at`. It began its chain, for no person
 * and in no chat, so its id is all that a call needs to know of it.
 */
export const isNamedBySlot = (run: Run): boolean => run.chain_started_at === undefined && isUnrelated(run)

export const RunEntity = defineEntity({
  name: 'run',
  schema: run,
  pk: 'INS#{installation_id}',
  sk: 'RUN#{id}',
  personal: { names: ['actor'], text: ['input', 'output', 'error_message', 'client_message', 'draft'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept', partitions: ({ id }) => [['step', { run_id: id }]] },
  due: true,
  expires: payloadExpiry,
  // An active run is ended first.
  hides: ({ status }) => !isActive(status),
  directory: ({ id, created_at }) => ({ list: 'runs', day: created_at, sort: id }),
  list: (run) =>
    isActive(run.status) && isNamedBySlot(run)
      ? undefined
      : { owner: runsByStatus(run.installation_id, run.status), sort: run.id },
})

const workspaceRun = () =>
  z.object({
    workspace_id: z.string(),
    run_id: z.string(),
    installation_id: z.string(),
    private_to: z.string().optional(),
    created_at: createdAt(),
  })

/** A workspace's runs of all installations. Written with the run. */
export const WorkspaceRunEntity = defineEntity({
  name: 'workspace-run',
  schema: workspaceRun,
  pk: 'WS#{workspace_id}',
  sk: 'RUN#{run_id}',
  personal: 'none',
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ run_id, installation_id }) => [['step', { run_id }], ...ownedByInstallation(installation_id)],
  },
  expires: payloadExpiry,
})

const runChild = () =>
  z.object({ run_id: z.string(), child_id: z.string(), installation_id: z.string(), created_at: createdAt() })

/** A run that another run caused. Written with it. */
export const RunChildEntity = defineEntity({
  name: 'run-child',
  schema: runChild,
  pk: 'RUN#{run_id}',
  sk: 'CHILD#{child_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})

const stepFields = () => ({
  id: z.string(),
  seq: z.number(),
  type: z.string(),
  status: z.string(),
  output: payload(),
  tool: z.string().optional(),
  /** Number in the run's live stream. Raised by every change. */
  stream_seq: z.number(),
  /** Start of the call that it reports; absent for what agents report. */
  started_at: z.number().optional(),
  created_at: createdAt(),
})

const step = () =>
  z.object({
    run_id: z.string(),
    ...stepFields(),
    /** Steps with the next numbers, reported in the same call. They never change. */
    more: z.array(z.object(stepFields())).optional(),
  })

export type StepItem = z.infer<ReturnType<typeof step>>

export type Step = Omit<StepItem, 'more'>

export const StepEntity = defineEntity({
  name: 'step',
  schema: step,
  pk: 'RUN#{run_id}',
  sk: 'STEP#{seq}',
  personal: { text: ['output', 'more'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})

const approval = () =>
  z.object({
    step_id: z.string(),
    run_id: z.string(),
    seq: z.number(),
    workspace_id: z.string(),
    installation_id: z.string(),
    tool: z.string(),
    /** SHA-256 of the tool's name and its canonical arguments (RFC 8785), so that exactly the approved call is executed. */
    call_hash: z.string(),
    arguments: payload(),
    /** The request that the call sends. Absent for tools that send none. */
    request: ShownRequest().optional(),
    /** Amount that the request names, such as a price. */
    amount: z.object({ field: z.string(), value: z.number(), currency: z.string().optional() }).optional(),
    /** Why the agent calls, in its own words. */
    reason: z.string().optional(),
    status: z.enum(['pending', 'approved', 'executing', 'executed', 'rejected', 'voided']),
    /** Approvals before the last one, if the workspace's rules ask for several people. */
    votes: z
      .array(
        z.object({
          by: person(),
          /** Start of their membership. The approval ends with it. */
          member_since: z.number(),
          /** Person who is away, in whose place they approved. */
          on_behalf_of: person().optional(),
          /** Start of the membership of the person whose right it is. */
          right_since: z.number(),
          comment: z.string().optional(),
          receipt: z.string(),
          at: z.number(),
        }),
      )
      .optional(),
    /** The rule by which it was approved read a number from the request, so that no redirect may lead to another request. */
    is_number_read: z.literal(true).optional(),
    decided_by: person().optional(),
    on_behalf_of: person().optional(),
    comment: z.string().optional(),
    decided_at: z.number().optional(),
    /** Signed receipt of the decision. Absent if no person decided. */
    receipt: z.string().optional(),
    /** Time at which a worker claimed it for execution, at most once. */
    executing_at: z.number().optional(),
    executed_at: z.number().optional(),
    result: payload().optional(),
    /** Time at which the agent consumed the decided result. */
    consumed_at: z.number().optional(),
    /** Time at which the run was dispatched again with the decision (manifest `runtime.resume`). */
    resumed_at: z.number().optional(),
    created_at: z.number(),
    due_at: z.number().optional(),
  })

export type Approval = z.infer<ReturnType<typeof approval>>

export const ApprovalEntity = defineEntity({
  name: 'approval',
  schema: approval,
  pk: 'RUN#{run_id}',
  sk: 'APPROVAL#{step_id}',
  personal: {
    names: ['decided_by', 'on_behalf_of', 'votes'],
    text: ['arguments', 'amount', 'reason', 'comment', 'result', 'votes'],
  },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
  expires: payloadExpiry,
})

const inputRequest = () =>
  z.object({
    step_id: z.string(),
    run_id: z.string(),
    seq: z.number(),
    workspace_id: z.string(),
    installation_id: z.string(),
    /** Person whose chat the run belongs to. Only they are asked. */
    private_to: z.string().optional(),
    /** Platform tool that asked; absent if the agent asked itself. */
    tool: z.string().optional(),
    /** `{input_requests}`: the questions by key. */
    asked: payload(),
    /** Keys that are answered so far. */
    answered: z.array(z.string()),
    /** `{responses, messages?}`: the answers by key. Absent before the first. */
    answers: payload().optional(),
    status: z.enum(['pending', 'answered', 'voided']),
    /** Time at which the run was dispatched again with the answers (manifest `runtime.resume`). */
    resumed_at: z.number().optional(),
    created_at: z.number(),
    /** Time at which the run fails unless the questions are answered. */
    due_at: z.number().optional(),
  })

export type InputRequest = z.infer<ReturnType<typeof inputRequest>>

/** Owner of the list of a workspace's unanswered questions. */
export const pendingInputsOf = (workspaceId: string): string => `${workspaceId}#INPUTS`

/** Questions that an agent asked in one call (contract/runs.md#questions). */
export const InputRequestEntity = defineEntity({
  name: 'input-request',
  schema: inputRequest,
  pk: 'RUN#{run_id}',
  sk: 'INPUT#{step_id}',
  personal: { text: ['asked', 'answers'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
  expires: payloadExpiry,
  list: ({ workspace_id, status, step_id }) =>
    status === 'pending' ? { owner: pendingInputsOf(workspace_id), sort: step_id } : undefined,
})

const inputKey = () => z.object({ run_id: z.string(), key: z.string(), created_at: z.number() })

/** Key of a question. A run uses each key once. */
export const InputKeyEntity = defineEntity({
  name: 'input-key',
  schema: inputKey,
  pk: 'RUN#{run_id}',
  sk: 'INPUTKEY#{key}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})

const followedCall = () =>
  z.object({
    call_hash: z.string(),
    run_id: z.string(),
    installation_id: z.string(),
    expires_at: z.number(),
  })

/** Run of a client's request, under the hash of caller, session and request id, so that the client can cancel it. */
export const FollowedCallEntity = defineEntity({
  name: 'followed-call',
  schema: followedCall,
  pk: 'FOLLOWED#{call_hash}',
  sk: 'FOLLOWED',
  personal: 'none',
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 1 },
  expires: ({ expires_at }) => expires_at,
})

const call = () => z.object({ run_id: z.string(), call_hash: z.string(), step_id: z.string(), created_at: z.number() })

/** The latest approval of a call in a run, keyed by the call's hash. */
export const ApprovedCallEntity = defineEntity({
  name: 'approved-call',
  schema: call,
  pk: 'RUN#{run_id}',
  sk: 'CALL#{call_hash}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})

const lastApproved = () =>
  z.object({
    installation_id: z.string(),
    kind: z.string(),
    run_id: z.string(),
    step_id: z.string(),
    created_at: z.number(),
  })

/** The call of each kind that a person approved last, so that the next one can be compared with it. */
export const LastApprovedEntity = defineEntity({
  name: 'last-approved',
  schema: lastApproved,
  pk: 'INS#{installation_id}',
  sk: 'APPROVED#{kind}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})

const chainMark = () =>
  z.object({
    installation_id: z.string(),
    run_id: z.string(),
    chain_id: z.string(),
    chain_depth: z.number(),
    chain_deadline: z.number(),
    /** Creation of the first run of the chain; absent for a task outside of any. */
    chain_started_at: z.number().optional(),
    chain_schedules: z.array(z.string()).optional(),
    audience: z.enum(['member', 'external']),
    actor: person().optional(),
    /** Person whose chat the run belongs to, if any. */
    private_to: z.string().optional(),
    /** True for work on a task outside of any run. `run_id` is then the task's id. */
    of_task: z.boolean().optional(),
    ended_at: z.number(),
    expires_at: z.number().optional(),
  })

export type ChainMark = z.infer<ReturnType<typeof chainMark>>

/** `ended_at` of an active run. Such marks sort after those of all ended runs. */
export const STILL_ACTIVE = 9_999_999_999_999

/**
 * Position of an active or just ended run in its chain. A call without a run takes the worst position of its installation's
 * marks (contract/agent-to-agent.md#chains). They are read consistently and in one range, regardless of their number.
 */
export const ChainMarkEntity = defineEntity({
  name: 'chain-mark',
  schema: chainMark,
  pk: 'CHAIN#{installation_id}',
  sk: 'MARK#{ended_at}#{run_id}',
  personal: { names: ['actor'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: ({ expires_at }) => expires_at,
})
