import { ACTIVE_STATUSES, type Approval, ApprovalEntity, isActive, type Run, RunEntity } from '../../entities/runs.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ConditionFailed } from '../../table/entity.ts'
import { oneOf } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { loadPayload, storePayload } from '../payloads.ts'
import { isTool } from '../tools/catalogue.ts'
import { type HttpFetch, httpFetch } from '../tools/http-fetch.ts'
import { platformBans, refusalOf } from '../tools/permission.ts'
import { voidance } from './approvals.ts'
import { changingRun, type RunKey, runWrite } from './change.ts'
import { changedStep } from './numbers.ts'
import { loadTarget } from './target.ts'
import { tellRun } from './tell.ts'

/**
 * Executes an approved call, at most once: the claim is a conditional write, and a worker that dies after it leaves a
 * call whose outcome nobody knows, which the sweep says so (decisions §4).
 *
 *     approved ──claim──► executing ──result──► executed
 */
export const executeApproved = async (work: Work, key: RunKey, stepId: string): Promise<void> => {
  const [run, approval] = await work.table.getAll([
    { entity: RunEntity, key: RunEntity.key(key) },
    { entity: ApprovalEntity, key: ApprovalEntity.key({ run_id: key.id, step_id: stepId }) },
  ] as const)
  if (!run || approval?.status !== 'approved') return
  if (!isActive(run.status)) return voidCall(work, key, stepId)
  const now = work.clock.now()
  try {
    await work.commit([
      RunEntity.check(key, { where: { status: oneOf(...ACTIVE_STATUSES) } }),
      ApprovalEntity.update(
        approval,
        { set: { status: 'executing', executing_at: now, due_at: now + MINUTE } },
        { where: { status: 'approved' } },
      ),
    ])
  } catch (error) {
    if (error instanceof ConditionFailed) return
    throw error
  }
  const args = (await loadPayload(work, approval.arguments)) as unknown as HttpFetch
  const refusal = await refusedNow(work, run, approval)
  await settle(work, run, approval, refusal ?? (await httpFetch(work, args)))
}

/** The run ended between the decision and now: what was approved for it is not done any more. */
const voidCall = (work: Work, key: RunKey, stepId: string): Promise<void> =>
  changingRun(work, key, async (run) => {
    const approval = await work.table.get(ApprovalEntity, { run_id: key.id, step_id: stepId })
    if (approval?.status !== 'approved') return
    const { writes, counts } = voidance(run, approval, 'approved')
    await work.commit([runWrite(run, counts), ...writes])
  })

/** A ban or a suspension that came after the approval stops the call all the same. */
const refusedNow = async (work: Work, run: Run, approval: Approval): Promise<Record<string, unknown> | undefined> => {
  const [target, banned] = await Promise.all([loadTarget(work, run), platformBans(work)])
  if ('refused' in target) {
    return target.refused[0] === 'app_suspended'
      ? { error: 'app_suspended', message: 'The integration is suspended.' }
      : { error: 'installation_suspended', message: 'The installation is not active.' }
  }
  const { installation, workspace } = target
  if (!isTool(approval.tool)) return { error: 'unknown_tool', message: 'There is no such tool any more.' }
  const refusal = refusalOf(approval.tool, { installation, workspace, scopes: installation.scopes }, banned)
  return refusal && { error: refusal.code, message: refusal.message }
}

/**
 * Writes the result down, in the approval and in its step, and tells the agent that the run goes on. Once: a result that
 * comes after another was written is dropped.
 */
export const settle = async (
  work: Work,
  key: RunKey,
  approval: Approval,
  result: Record<string, unknown>,
): Promise<void> => {
  const place = `runs/${key.id}/${approval.step_id}`
  const args = await loadPayload(work, approval.arguments)
  const [kept, output] = await Promise.all([
    storePayload(work, `${place}/result`, result, 4 * LIMITS.runPayloadBytes),
    storePayload(work, `${place}/output`, { arguments: args, result }, 4 * LIMITS.runPayloadBytes),
  ])
  await changingRun(work, key, async (run) => {
    const now = await work.table.get(ApprovalEntity, approval)
    if (now?.status !== 'executing') return
    const step = changedStep(run, approval, { status: 'executed', output })
    await work.commit([
      ApprovalEntity.update(
        approval,
        { set: { status: 'executed', due_at: undefined, result: kept } },
        { where: { status: 'executing' } },
      ),
      step.write,
      runWrite(run, step.counts),
      // It may have ended while the call was under way; then there is nothing to go on with.
      ...(isActive(run.status)
        ? [tellRun(work, 'run.resumed', run, { step_id: approval.step_id, tool: approval.tool, decision: 'approved' })]
        : []),
    ])
  })
}
