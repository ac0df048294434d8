import { InstallationEntity } from '../../entities/installations.ts'
import { type Approval, ApprovalEntity, ApprovedCallEntity, isActive, type Run } from '../../entities/runs.ts'
import type { EventType } from '../../events/catalogue.ts'
import { tell } from '../../events/outbox.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import { auditEntry } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { storePayload } from '../payloads.ts'
import { changingRun, type RunKey, requireActive, requireStarted, runWrite } from './change.ts'
import { lookAt } from './due.ts'
import { changedStep } from './numbers.ts'
import { presentRun } from './present.ts'
import { keyInWorkspace } from './read.ts'
import type { RunView } from './schemas.ts'
import { prepareSteps } from './steps.ts'
import { tellChat, tellRun } from './tell.ts'

export interface AskedCall {
  tool: string
  arguments: Record<string, unknown>
  /** SHA-256 of the tool and its canonical arguments. */
  hash: string
}

/**
 * Stops a run until a person decides about a dangerous call.
 *
 *     running ──ask──► awaiting_approval ──decide──► running
 *
 * @throws `run_already_finished`; `conflict` while queued, or while another call waits
 */
export const askApproval = (work: Work, key: RunKey, call: AskedCall): Promise<{ step_id: string }> =>
  changingRun(work, key, async (run) => {
    requireStarted(run)
    if (run.pending_step !== undefined) {
      const pending = await work.table.get(ApprovalEntity, { run_id: run.id, step_id: run.pending_step })
      // The same call, made twice at the same time, is one.
      if (pending?.call_hash === call.hash) return { step_id: run.pending_step }
      throw fail('conflict', {
        message: 'Another call of this run waits for approval.',
        fix: 'Wait for its decision (event run.resumed, or GET /runs/{id}), then call again.',
        details: { step_id: run.pending_step },
      })
    }
    const now = work.clock.now()
    const step_id = work.id('step')
    const stored = await storePayload(work, `runs/${run.id}/${step_id}/arguments`, call.arguments)
    const steps = await prepareSteps(work, run, [
      { id: step_id, type: 'approval', status: 'pending', tool: call.tool, output: shown(call.arguments) },
    ])
    const changes = {
      ...steps.counts,
      status: 'awaiting_approval' as const,
      pending_step: step_id,
      alive_at: now,
      due_at: lookAt(run, undefined),
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
        status: 'pending',
        created_at: now,
        due_at: now + LIMITS.approvalLife,
      }),
      ApprovedCallEntity.replace({ run_id: run.id, call_hash: call.hash, step_id, created_at: now }),
      tellRun(work, 'run.awaiting_approval', { ...run, ...changes }, { step_id, tool: call.tool }),
      ...tellChat(work, run),
    ])
    return { step_id }
  })

/** The arguments as the step shows them to the person who decides: whole, unless they are too large for a step. */
const shown = (args: Record<string, unknown>): Record<string, unknown> =>
  Buffer.byteLength(JSON.stringify(args)) <= LIMITS.stepOutputBytes - 1_024
    ? { arguments: args }
    : { arguments: Object.fromEntries(Object.entries(args).map(([name, value]) => [name, clip(value)])), clipped: true }

const clip = (value: unknown): unknown => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 400 ? `${text.slice(0, 400)}…` : value
}

export interface Decider {
  id: string
  name: string
}

/**
 * A person's decision. The run goes on at once; an approved call is executed by a worker, at most once.
 * @throws `not_found`; `approval_already_decided`; `run_already_finished`
 */
export const decide = async (
  work: Work,
  workspaceId: string,
  decider: Decider,
  runId: string,
  stepId: string,
  decision: { decision: 'approve' | 'reject'; comment?: string | undefined },
): Promise<RunView> => {
  const key = await keyInWorkspace(work, workspaceId, runId, decider.id)
  const installation = await work.table.get(InstallationEntity, { workspace_id: workspaceId, id: key.installation_id })
  if (installation?.status === 'revoked') throw fail('run_already_finished', { message: 'The app was uninstalled.' })
  return decideAt(work, key, decider, stepId, decision)
}

/** {@link decide} for those who know where the run is: the sweep, which rejects what nobody decided in 24 hours. */
export const decideAt = (
  work: Work,
  key: RunKey,
  decider: Decider | undefined,
  stepId: string,
  { decision, comment }: { decision: 'approve' | 'reject'; comment?: string | undefined },
): Promise<RunView> =>
  changingRun(work, key, async (run) => {
    const approval = await work.table.get(ApprovalEntity, { run_id: key.id, step_id: stepId })
    if (!approval) throw fail('not_found', { message: 'There is no such approval in this run.' })
    if (approval.status !== 'pending' && approval.status !== 'voided') throw fail('approval_already_decided')
    requireActive(run)
    const now = work.clock.now()
    const approved = decision === 'approve'
    const step = changedStep(run, approval, { status: approved ? 'approved' : 'rejected' })
    const changes = {
      ...step.counts,
      status: 'running' as const,
      pending_step: undefined,
      alive_at: now,
      due_at: lookAt(run, now + (run.accepted_at === undefined ? LIMITS.agentLifeSign : LIMITS.agentSilence)),
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
              decided_by: decider,
              comment,
              decided_at: now,
              due_at: approved ? now + MINUTE : undefined,
            },
          },
          { where: { status: 'pending' }, otherwise: () => fail('approval_already_decided') },
        ),
        step.write,
        auditEntry(work, {
          scope: run.workspace_id,
          action: approved ? 'approval.approved' : 'approval.rejected',
          actor: decider ? { type: 'user', id: decider.id } : { type: 'system', id: 'platform' },
          target: { type: 'run', id: run.id },
          details: { step_id: stepId, tool: approval.tool, installation_id: run.installation_id },
        }),
        approved
          ? tellDecided(work, run, stepId)
          : tellRun(work, 'run.resumed', resumed, { step_id: stepId, tool: approval.tool, decision: 'rejected' }),
      ],
      view,
    )
    return view
  })

/** Wakes the worker that executes approved calls; `run.resumed` follows when the result is there. */
const tellDecided = (work: Work, run: Run, stepId: string): Write =>
  tell(work.clock, {
    type: 'approval.decided' satisfies EventType,
    workspace_id: run.workspace_id,
    installation_id: run.installation_id,
    app_id: run.app_id,
    data: { run_id: run.id, installation_id: run.installation_id, step_id: stepId, decision: 'approved' },
  })

/** An approval that still stands for its call: pending, or decided and not yet taken by the agent. */
export const standingApproval = async (work: Work, run: Run, hash: string): Promise<Approval | undefined> => {
  const call = await work.table.get(ApprovedCallEntity, { run_id: run.id, call_hash: hash })
  if (!call) return undefined
  const approval = await work.table.get(ApprovalEntity, { run_id: run.id, step_id: call.step_id })
  if (!approval || approval.consumed_at !== undefined || approval.status === 'voided') return undefined
  return isActive(run.status) ? approval : undefined
}

/**
 * The writes that make an approval void: nothing is executed for it any more, and its step says so.
 * @param run as it is once what goes before in its stream is written
 */
export const voidance = (run: Run, approval: Approval, from: 'pending' | 'approved') => {
  const step = changedStep(run, approval, { status: 'voided' })
  return {
    writes: [
      ApprovalEntity.update(approval, { set: { status: 'voided', due_at: undefined } }, { where: { status: from } }),
      step.write,
    ],
    counts: step.counts,
  }
}

/** The write by which the agent takes a decided result: it is given once. */
export const consumption = (work: Work, approval: Approval): Write =>
  ApprovalEntity.update(
    approval,
    { set: { consumed_at: work.clock.now() } },
    { where: { consumed_at: missing, status: approval.status } },
  )
