import { hasConsent, type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import { emitEvent } from '#shared/foundation/outbox/index.ts'
import { loadPayload, storePayload } from '#shared/foundation/payloads/index.ts'
import { type Deps, isVisibleTo, type Work } from '#shared/foundation/work/index.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { iso, MINUTE } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import {
  type ApproversOf,
  type Authority,
  approversAmong,
  authorityChecks,
  describeApprovers,
  findAmount,
  findAuthority,
  loadRules,
  peopleNeeded,
  ruleFor,
  rulesCheck,
} from '../approval-rules/index.ts'
import { signReceipt } from '../receipts/index.ts'
import type { RunEventType, RunView, ShownRequest } from '../runs/index.ts'
import {
  type Approval,
  ApprovalEntity,
  ApprovedCallEntity,
  changeRun,
  emitChatMoved,
  emitRunEvent,
  findRunKey,
  isActive,
  LastApprovedEntity,
  nextCheckAt,
  prepareSteps,
  presentRun,
  type Run,
  RunEntity,
  type RunKey,
  requireActive,
  requireStarted,
  runWrite,
  silentAfter,
  stepChange,
  WorkspaceRunEntity,
} from '../runs/index.ts'

export interface RequestedCall {
  tool: string
  arguments: Record<string, unknown>
  /** SHA-256 of the tool and its canonical arguments. */
  hash: string
  /** The request that the call sends, if it sends one. */
  request: ShownRequest | undefined
  /** Why the agent calls, in its own words. */
  reason?: string | undefined
}

/** Hash that binds an approval to exactly one call: SHA-256 of the tool and its canonical arguments (RFC 8785). */
export const callHash = (tool: string, args: Record<string, unknown>): string =>
  sha256(`${tool}\n${canonicalJson(args)}`)

/** Arguments of a call as they will be executed. */
export interface ShownArguments {
  value: Record<string, unknown>
  /** Canonical JSON (RFC 8785). */
  text: string
  bytes: number
  sha256: string
}

/**
 * Loads the arguments that an approval stands for. Returns undefined if they were lost, or aren't those of the call
 * that the agent asked for: what can't be shown can't be approved.
 */
export const loadShownArguments = async (
  deps: Pick<Deps, 'objects'>,
  { arguments: stored, tool, call_hash }: Approval,
): Promise<ShownArguments | undefined> => {
  const value = (await loadPayload(deps, stored)) as Record<string, unknown> | null
  if (value === null || callHash(tool, value) !== call_hash) return undefined
  const text = canonicalJson(value)
  return { value, text, bytes: Buffer.byteLength(text), sha256: sha256(text) }
}

/**
 * Pauses a run until a person decides on a dangerous call.
 *
 *     running ──ask──► awaiting_approval ──decide──► running
 *
 * @throws `run_already_finished`; `conflict` while queued, or while another call waits
 */
export const requestApproval = (work: Work, key: RunKey, call: RequestedCall): Promise<{ step_id: string }> =>
  changeRun(work, key, async (run) => {
    requireStarted(run)
    if (run.pending_step !== undefined) {
      const pending = await work.table.get(ApprovalEntity, { run_id: run.id, step_id: run.pending_step })
      // Two concurrent requests for the same call count as one.
      if (pending?.call_hash === call.hash) return { step_id: run.pending_step }
      throw fail('conflict', {
        message: 'Another call of this run is waiting for approval.',
        fix: 'Wait for its decision (event run.resumed, or GET /runs/{id}), then call again.',
        details: { step_id: run.pending_step },
      })
    }
    const now = work.clock.now()
    const { rules } = await loadRules(work, run.workspace_id)
    const step_id = work.id('step')
    const stored = await storePayload(work, `runs/${run.id}/${step_id}/arguments`, call.arguments)
    const steps = await prepareSteps(work, run, [
      { id: step_id, type: 'approval', status: 'pending', tool: call.tool, output: shownInStep(call) },
    ])
    const changes = {
      ...steps.counts,
      status: 'awaiting_approval' as const,
      pending_step: step_id,
      alive_at: now,
      due_at: nextCheckAt(run, undefined),
    }
    await work.commit([
      runWrite(run, changes),
      ...steps.writes,
      ApprovalEntity.create({
        step_id,
        run_id: run.id,
        seq: steps.counts.last_seq,
        workspace_id: run.workspace_id,
        installation_id: run.installation_id,
        tool: call.tool,
        call_hash: call.hash,
        arguments: stored,
        request: call.request,
        amount: call.request && findAmount(call.arguments),
        reason: call.reason,
        status: 'pending',
        created_at: now,
        due_at:
          now + Math.min(LIMITS.approvalLife, ruleFor(rules, ruledCall(run, call)).expires_after_minutes * MINUTE),
      }),
      ApprovedCallEntity.replace({ run_id: run.id, call_hash: call.hash, step_id, created_at: now }),
      emitRunEvent(work, 'run.awaiting_approval', { ...run, ...changes }, { step_id, tool: call.tool }),
      ...emitChatMoved(work, run),
    ])
    return { step_id }
  })

const ruledCall = ({ app_id }: Pick<Run, 'app_id'>, { tool, request }: Pick<Approval, 'tool' | 'request'>) => ({
  app_id,
  tool,
  origin: request?.origin,
})

/** Room in a step for what isn't arguments: the request with its path, size and hash. */
const STEP_ROOM = 4_096

const fitsStep = (args: Record<string, unknown>): boolean =>
  Buffer.byteLength(JSON.stringify(args)) <= LIMITS.stepOutputBytes - STEP_ROOM

/**
 * Returns what the step shows of a call. Arguments that are too large for a step are shortened there. The person who
 * decides reads the whole of them in pages.
 */
const shownInStep = ({ arguments: args, request }: RequestedCall): Record<string, unknown> => {
  const text = canonicalJson(args)
  const about = {
    ...(request && { request }),
    arguments_bytes: Buffer.byteLength(text),
    arguments_sha256: sha256(text),
  }
  if (fitsStep(args)) return { arguments: args, ...about }
  const names = Object.entries(args).slice(0, 10)
  return { arguments: Object.fromEntries(names.map(([name, value]) => [name, clip(value)])), clipped: true, ...about }
}

const clip = (value: unknown): unknown => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 400 ? `${text.slice(0, 400)}…` : value
}

export interface Decider {
  id: string
  name: string
  /** Console session in which they decide. */
  session_id: string
}

export interface Decision {
  decision: 'approve' | 'reject'
  comment?: string | undefined
  /** Hash of the arguments that the person read. Required for arguments that a step doesn't show in full. */
  arguments_sha256?: string | undefined
}

/** Loads an approval that the viewer may decide, with its run and its arguments. @throws `not_found` */
export const findApproval = async (
  work: Work,
  workspaceId: string,
  viewerId: string,
  runId: string,
  stepId: string,
): Promise<{ run: Run; approval: Approval; shown: ShownArguments | undefined }> => {
  const key = await findRunKey(work, workspaceId, runId, viewerId)
  const [run, approval] = await work.table.getAll([
    RunEntity.ref(key),
    ApprovalEntity.ref({ run_id: key.id, step_id: stepId }),
  ] as const)
  if (!run || !approval) throw noApproval()
  return { run, approval, shown: await loadShownArguments(work, approval) }
}

/** Kind of a call: the tool, and for a request also its method and origin. */
const kindOf = ({ tool, request }: Pick<Approval, 'tool' | 'request'>): string =>
  sha256([tool, request?.method, request?.origin].join('\n'))

const rememberApproved = (run: Run, approval: Approval, now: number): Write =>
  LastApprovedEntity.replace({
    installation_id: run.installation_id,
    kind: kindOf(approval),
    run_id: run.id,
    step_id: approval.step_id,
    created_at: now,
  })

/**
 * Finds the call of the same kind that a person approved last. Returns undefined if there is none, or it belongs to somebody
 * else's chat, or its arguments can't be shown anymore.
 */
export const findLastApproved = async (
  work: Work,
  viewerId: string,
  approval: Approval,
): Promise<{ approval: Approval; shown: ShownArguments } | undefined> => {
  const { workspace_id, installation_id } = approval
  const last = await work.table.get(LastApprovedEntity, { installation_id, kind: kindOf(approval) })
  if (!last || last.step_id === approval.step_id) return undefined
  const [ref, before] = await work.table.getAll([
    WorkspaceRunEntity.ref({ workspace_id, run_id: last.run_id }),
    ApprovalEntity.ref({ run_id: last.run_id, step_id: last.step_id }),
  ] as const)
  if (!ref || !before || !isVisibleTo(viewerId, ref)) return undefined
  const shown = await loadShownArguments(work, before)
  return shown && { approval: before, shown }
}

const noApproval = () => fail('not_found', { message: 'This run has no such approval.' })

/**
 * Records a person's decision and signs its receipt. The run resumes at once. A worker executes an approved call, at
 * most once.
 * @throws `not_found`; `approval_already_decided`; `run_already_finished`; `conflict` or `validation_error` for an
 *   approval of arguments that can't be shown or weren't read
 */
export const decideApproval = async (
  work: Work,
  workspaceId: string,
  decider: Decider,
  runId: string,
  stepId: string,
  decision: Decision,
  policyVersionOf: (installation: Installation | undefined, rules: readonly unknown[]) => string,
): Promise<RunView> => {
  const key = await findRunKey(work, workspaceId, runId, decider.id)
  const installation = await work.table.get(InstallationEntity, { workspace_id: workspaceId, id: key.installation_id })
  if (installation?.status === 'revoked') throw fail('run_already_finished', { message: 'The app was uninstalled.' })
  if (installation && !hasConsent(installation)) {
    throw fail('run_already_finished', { message: 'The app’s access was withdrawn.' })
  }
  const policyVersion = (rules: readonly unknown[]) => policyVersionOf(installation, rules)
  return decideApprovalByKey(work, key, { ...decider, policyVersion }, stepId, decision)
}

/** Decides like {@link decideApproval}, with the run's key. The sweeper uses it to reject calls left undecided for 24 hours. */
export const decideApprovalByKey = (
  work: Work,
  key: RunKey,
  decider: Judge | undefined,
  stepId: string,
  { decision, comment, arguments_sha256 }: Decision,
): Promise<RunView> =>
  changeRun(work, key, async (run) => {
    const approval = await work.table.get(ApprovalEntity, { run_id: key.id, step_id: stepId })
    if (!approval) throw noApproval()
    if (approval.status !== 'pending' && approval.status !== 'voided') throw fail('approval_already_decided')
    requireActive(run)
    const now = work.clock.now()
    const approved = decision === 'approve'
    const shown = decider && (await loadShownArguments(work, approval))
    if (approved) requireRead(shown, arguments_sha256)
    const judged = decider && (await judge(work, run, approval, decider, approved, shown))
    const receipt = judged && (await signReceipt(work, judged.claims))
    const onBehalfOf = judged?.onBehalfOf
    const audited = (action: 'approved' | 'rejected' | 'first_approved'): Write =>
      auditEntry(work, {
        scope: run.workspace_id,
        action: `approval.${action}`,
        actor: decider ? { type: 'user', id: decider.id } : { type: 'system', id: 'platform' },
        target: { type: 'run', id: run.id },
        private_to: run.private_to,
        details: {
          step_id: stepId,
          tool: approval.tool,
          installation_id: run.installation_id,
          ...(onBehalfOf && { on_behalf_of: onBehalfOf.id }),
          ...(shown && { arguments_sha256: shown.sha256 }),
          ...(receipt && { receipt_id: receipt.id, receipt: receipt.text }),
        },
      })
    const pending = { where: { status: 'pending' as const }, otherwise: () => fail('approval_already_decided') }
    if (judged?.since && receipt && decider && !judged.isLast) {
      const step = stepChange(run, approval, {})
      const view = await presentRun(work, run)
      const vote = {
        by: { id: decider.id, name: decider.name },
        ...judged.since,
        on_behalf_of: onBehalfOf,
        comment,
        receipt: receipt.text,
        at: now,
      }
      await work.commit(
        [
          runWrite(run, step.counts),
          ApprovalEntity.update(approval, { set: { votes: [...judged.votes, vote] } }, pending),
          step.write,
          ...judged.checks,
          audited('first_approved'),
        ],
        view,
      )
      return view
    }
    const step = stepChange(run, approval, { status: approved ? 'approved' : 'rejected' })
    const changes = {
      ...step.counts,
      status: 'running' as const,
      pending_step: undefined,
      alive_at: now,
      due_at: nextCheckAt(run, silentAfter(run, now)),
    }
    const resumed: Run = { ...run, ...changes }
    const view = await presentRun(work, resumed)
    await work.commit(
      [
        runWrite(run, changes),
        ApprovalEntity.update(
          approval,
          {
            set: {
              status: approved ? 'approved' : 'rejected',
              ...(judged && { votes: judged.votes.length > 0 ? judged.votes : undefined }),
              ...(judged?.isNumberRead && { is_number_read: true as const }),
              decided_by: decider && { id: decider.id, name: decider.name },
              on_behalf_of: onBehalfOf,
              receipt: receipt?.text,
              comment,
              decided_at: now,
              due_at: approved ? now + MINUTE : undefined,
            },
          },
          pending,
        ),
        step.write,
        ...(judged?.checks ?? []),
        ...(approved && decider ? [rememberApproved(run, approval, now)] : []),
        audited(approved ? 'approved' : 'rejected'),
        approved
          ? tellDecided(work, run, stepId)
          : emitRunEvent(work, 'run.resumed', resumed, {
              step_id: stepId,
              tool: approval.tool,
              decision: 'rejected',
              ...(receipt && { receipt: receipt.text }),
            }),
      ],
      view,
    )
    return view
  })

/** Person who decides, and the version of the rules that their receipt names. */
export type Judge = Decider & { policyVersion(rules: readonly unknown[]): string }

type Vote = NonNullable<Approval['votes']>[number]

/**
 * Checks a decision against the workspace's rules. Anyone who sees a call may reject it.
 * @throws `forbidden` for an approval by somebody who may not; `approval_already_decided` for a second one of the same person
 */
const judge = async (
  work: Work,
  run: Run,
  approval: Approval,
  decider: Judge,
  approved: boolean,
  shown: ShownArguments | undefined,
) => {
  const { rules, named, revision } = await loadRules(work, run.workspace_id)
  const rule = ruleFor(rules, ruledCall(run, approval))
  const scope: ApproversOf = { workspaceId: run.workspace_id, rule, named, requesterId: run.actor?.id }
  const claims = receiptOf(run, approval, { ...decider, policy_version: decider.policyVersion(rules) }, approved, shown)
  if (!approved) {
    return {
      claims,
      votes: approval.votes ?? [],
      since: undefined,
      onBehalfOf: undefined,
      isLast: true,
      isNumberRead: false,
      checks: [],
    }
  }
  const { people: needed, reading } = peopleNeeded(rule, shown?.value ?? {})
  const { votes, checks: before } = needed > 1 ? await standingVotes(work, scope, approval) : { votes: [], checks: [] }
  if (votes.some(({ by }) => by.id === decider.id)) {
    throw fail('approval_already_decided', {
      message: 'You have approved this call already. It needs the approval of a second person.',
    })
  }
  const taken = votes.flatMap(({ by, on_behalf_of }) => [by.id, on_behalf_of?.id ?? by.id])
  const authority = await findAuthority(work, scope, decider.id, taken)
  if (!authority) throw await notAnApprover(work, run, scope)
  const onBehalfOf =
    authority.of.user_id === decider.id ? undefined : { id: authority.of.user_id, name: authority.of.name }
  return {
    votes,
    since: sinceOf(authority),
    onBehalfOf,
    isLast: votes.length + 1 >= needed,
    isNumberRead: reading !== undefined,
    checks: [rulesCheck(run.workspace_id, revision), ...before, ...authorityChecks(authority)],
    claims: {
      ...claims,
      ...(needed > 1 && {
        approvals: { given: votes.length + 1, required: needed },
        approved_before_by: votes.map(({ by }) => by.id),
      }),
      ...(onBehalfOf && { on_behalf_of: onBehalfOf.id }),
    },
  }
}

/** Returns the memberships under which an approval is given. */
const sinceOf = ({ by, of }: Authority) => ({ member_since: by.joined_at, right_since: of.joined_at })

/** Returns the earlier approvals of people who still may approve, in the same membership, with the checks that this stays so. */
const standingVotes = async (
  work: Work,
  scope: ApproversOf,
  { votes = [] }: Approval,
): Promise<{ votes: Vote[]; checks: Write[] }> => {
  const standing: Vote[] = []
  const checks: Write[] = []
  for (const vote of votes) {
    const authority = await findAuthority(work, scope, vote.by.id)
    if (!authority || authority.of.user_id !== (vote.on_behalf_of?.id ?? vote.by.id)) continue
    const { member_since, right_since } = sinceOf(authority)
    if (vote.member_since !== member_since || vote.right_since !== right_since) continue
    standing.push(vote)
    checks.push(...authorityChecks(authority))
  }
  return { votes: standing, checks }
}

const notAnApprover = async (work: Work, { private_to }: Run, scope: ApproversOf) => {
  const { rule, requesterId, workspaceId } = scope
  const approvers = await describeApprovers(work, scope)
  return fail('forbidden', {
    message: `The workspace’s rule “${rule.name}” lets ${approvers} approve this call${rule.requester_may_approve ? '' : ', but not the person who started the run'}.`,
    fix: private_to
      ? 'The call belongs to your own conversation, which nobody else sees. Give the agent the work as a task instead.'
      : 'Ask one of them to decide. You can reject the call.',
    details: { rule: rule.name, requester_id: requesterId ?? null, workspace_id: workspaceId },
  })
}

/** Returns a test of which members may approve a call, for asking only those. */
export const approverTest = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  run: Pick<Run, 'workspace_id' | 'app_id' | 'actor'>,
  approval: Approval,
) => {
  const { rules, named } = await loadRules(deps, run.workspace_id)
  const rule = ruleFor(rules, ruledCall(run, approval))
  return approversAmong(deps, { workspaceId: run.workspace_id, rule, named, requesterId: run.actor?.id })
}

/** Returns the ruling of the workspace's rules on a call, for a person who looks at it. */
export const readRuling = async (
  work: Work,
  run: Run,
  approval: Approval,
  viewerId: string,
  args: Record<string, unknown>,
) => {
  const { rules, named } = await loadRules(work, run.workspace_id)
  const rule = ruleFor(rules, ruledCall(run, approval))
  const scope: ApproversOf = { workspaceId: run.workspace_id, rule, named, requesterId: run.actor?.id }
  const { people: needed, reading } = peopleNeeded(rule, args)
  const { votes } = needed > 1 ? await standingVotes(work, scope, approval) : { votes: [] }
  const taken = votes.flatMap(({ by, on_behalf_of }) => [by.id, on_behalf_of?.id ?? by.id])
  const hasApproved = votes.some(({ by }) => by.id === viewerId)
  const authority = hasApproved ? undefined : await findAuthority(work, scope, viewerId, taken)
  return {
    name: rule.name || null,
    approvers: await describeApprovers(work, scope),
    required: needed,
    reading: reading ? { ...reading, value: reading.value ?? null, unread: reading.unread ?? null } : null,
    approved_by: votes.map(({ by, on_behalf_of, at, comment }) => ({
      by,
      on_behalf_of: on_behalf_of ?? null,
      at: iso(at),
      comment: comment ?? null,
    })),
    you_may_approve: authority !== undefined,
    on_behalf_of:
      authority && authority.of.user_id !== viewerId ? { id: authority.of.user_id, name: authority.of.name } : null,
  }
}

/**
 * Refuses to approve what a person can't have read.
 * @throws `conflict` for arguments that are lost or other than those read; `validation_error` for long ones not read
 */
const requireRead = (shown: ShownArguments | undefined, read: string | undefined): void => {
  if (!shown) {
    throw fail('conflict', {
      message: 'The arguments of this call can’t be shown anymore, so it can’t be approved.',
      fix: 'Reject the call.',
    })
  }
  if (read === undefined && !fitsStep(shown.value)) {
    throw fail('validation_error', {
      message: `The arguments have ${shown.bytes} bytes, which the step doesn’t show in full.`,
      fix: 'Read all pages of GET /console/runs/{id}/steps/{step}/approval, and send the hash of the arguments.',
      details: { fields: { arguments_sha256: ['is required for arguments that the step doesn’t show in full'] } },
    })
  }
  if (read !== undefined && read !== shown.sha256) {
    throw fail('conflict', {
      message: 'The call has other arguments than those you read.',
      fix: 'Read the approval again before you decide.',
      details: { arguments_sha256: shown.sha256 },
    })
  }
}

const receiptOf = (
  run: Run,
  approval: Approval,
  { id, session_id, policy_version }: Decider & { policy_version: string },
  approved: boolean,
  shown: ShownArguments | undefined,
) => ({
  sub: id,
  sid: session_id,
  workspace_id: run.workspace_id,
  app_id: run.app_id,
  installation_id: run.installation_id,
  run_id: run.id,
  step_id: approval.step_id,
  tool: approval.tool,
  arguments_sha256: shown?.sha256 ?? null,
  policy_version,
  decision: approved ? ('approved' as const) : ('rejected' as const),
})

/** Outbox event that wakes the worker for approved calls. `run.resumed` follows with the result. */
const tellDecided = (work: Work, run: Run, stepId: string): Write =>
  emitEvent<RunEventType>(work.clock, {
    type: 'approval.decided' satisfies RunEventType,
    workspace_id: run.workspace_id,
    installation_id: run.installation_id,
    app_id: run.app_id,
    private_to: run.private_to,
    data: { run_id: run.id, installation_id: run.installation_id, step_id: stepId, decision: 'approved' },
  })

/** Loads the approval of a call if it still applies: pending, or decided and not yet consumed by the agent. */
export const findApplicableApproval = async (work: Work, run: Run, hash: string): Promise<Approval | undefined> => {
  const call = await work.table.get(ApprovedCallEntity, { run_id: run.id, call_hash: hash })
  if (!call) return undefined
  const approval = await work.table.get(ApprovalEntity, { run_id: run.id, step_id: call.step_id })
  if (!approval || approval.consumed_at !== undefined || approval.status === 'voided') return undefined
  return isActive(run.status) ? approval : undefined
}

/** Most runs of an installation among which an approval is looked for: the newest. */
const SEARCHED_RUNS = 100

/**
 * Finds an approval of an installation's runs by the id of its step alone.
 * @param runId the only run to look in
 */
export const findOwnApproval = async (
  { table }: Pick<Deps, 'table'>,
  installation_id: string,
  step_id: string,
  runId: string | undefined,
): Promise<{ run: Run; approval: Approval } | undefined> => {
  const runs =
    runId === undefined
      ? (await table.query(RunEntity, { installation_id }, { limit: SEARCHED_RUNS })).items
      : [await table.get(RunEntity, { installation_id, id: runId })].flatMap((run) => run ?? [])
  const found = await table.getAll(runs.map(({ id }) => ApprovalEntity.ref({ run_id: id, step_id })))
  return runs.flatMap((run, i) => {
    const approval = found[i]
    return approval ? [{ run, approval }] : []
  })[0]
}

/** Write by which the agent consumes a decided result. It gets the result once. */
export const consumeApproval = (work: Work, approval: Approval): Write =>
  ApprovalEntity.update(
    approval,
    { set: { consumed_at: work.clock.now() } },
    { where: { consumed_at: missing, status: approval.status } },
  )
