import * as z from 'zod'
import { loadPayload, storePayload } from '#shared/foundation/payloads/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { oneOf } from '#shared/table/expressions.ts'
import { loadShownArguments } from '#shared/work/approvals/index.ts'
import { InvalidReceipt, type Receipt, ReceiptUseEntity, verifyOwnReceipt } from '#shared/work/receipts/index.ts'
import {
  ACTIVE_STATUSES,
  type Approval,
  ApprovalEntity,
  changeRun,
  emitRunEvent,
  isActive,
  type Run,
  RunEntity,
  type RunKey,
  runWrite,
  stepChange,
  voidApprovalWrites,
} from '#shared/work/runs/index.ts'
import { sandboxRefusal } from '../egress/sandbox-budget.ts'
import { loadTarget } from '../targets/target.ts'
import { isTool } from '../tools/catalogue.ts'
import { type HttpFetch, httpFetch } from '../tools/http-fetch.ts'
import { loadPlatformBans, toolRefusalOf } from '../tools/permission.ts'

/** Message to execute an approved call, in place of a lost `approval.decided`. */
export const CallMessage = () =>
  z.object({ kind: z.literal('call'), run_id: z.string(), installation_id: z.string(), step_id: z.string() })

export const callMessage = ({ run_id, installation_id, step_id }: Approval) => ({
  body: { kind: 'call', run_id, installation_id, step_id } satisfies z.infer<ReturnType<typeof CallMessage>>,
  group: installation_id,
})

/**
 * Executes an approved call at most once, on the strength of its receipt. The claim is a conditional write that uses
 * the receipt up. If a worker dies after claiming, the outcome is unknown and the sweeper records that
 * (contract/runs.md#approvals).
 *
 *     approved ──claim──► executing ──result──► executed
 */
export const executeApprovedCall = async (work: Work, key: RunKey, stepId: string): Promise<void> => {
  const [run, approval] = await work.table.getAll([
    RunEntity.ref(key),
    ApprovalEntity.ref({ run_id: key.id, step_id: stepId }),
  ] as const)
  if (!run || approval?.status !== 'approved') return
  if (!isActive(run.status)) return voidCall(work, key, stepId)
  const allowed = await checkReceipt(work, run, approval)
  const receiptId = 'receiptId' in allowed ? allowed.receiptId : undefined
  const claimed = await claim(work, key, approval, receiptId)
  if (claimed === 'lost') return
  if (claimed === 'used') return refuseUsed(work, key, approval)
  if ('error' in allowed) return storeResult(work, run, approval, allowed)
  const refusal = await refusedNow(work, run, approval, allowed.args)
  const limits = approval.is_number_read ? { maxRedirects: 0 } : {}
  await storeResult(work, run, approval, refusal ?? (await httpFetch(work, allowed.args, limits)))
}

type Refused = { error: string; message: string }

const REFUSED: Refused = {
  error: 'receipt_invalid',
  message: 'No valid receipt of a person’s decision allows this call, so it wasn’t executed.',
}

/**
 * Checks that a person approved exactly this call. The record alone isn't enough: many functions can write it, and only
 * those that take decisions can sign a receipt.
 */
const checkReceipt = async (
  work: Work,
  run: Run,
  approval: Approval,
): Promise<{ args: HttpFetch; receiptId: string } | Refused> => {
  const shown = await loadShownArguments(work, approval)
  if (!shown) return { error: 'arguments_unavailable', message: 'The approved arguments can’t be read anymore.' }
  try {
    const receipt = await verifyOwnReceipt(work, approval.receipt ?? '')
    const isForThisCall =
      receipt.decision === 'approved' &&
      receipt.workspace_id === run.workspace_id &&
      receipt.installation_id === run.installation_id &&
      receipt.run_id === run.id &&
      receipt.step_id === approval.step_id &&
      receipt.tool === approval.tool &&
      receipt.arguments_sha256 === shown.sha256 &&
      isEnough(receipt)
    return isForThisCall ? { args: shown.value as unknown as HttpFetch, receiptId: receipt.jti } : REFUSED
  } catch (error) {
    if (!(error instanceof InvalidReceipt)) throw error
    work.log.warn('an approved call has no valid receipt', { run_id: run.id, step_id: approval.step_id, error })
    return REFUSED
  }
}

/** The receipt of the first of two people alone isn't enough, whatever the record says. */
const isEnough = ({ approvals = { given: 1, required: 1 } }: Receipt): boolean => approvals.given >= approvals.required

/** Claims the call for this worker and uses its receipt up, in one transaction. */
const claim = async (
  work: Work,
  key: RunKey,
  approval: Approval,
  receiptId: string | undefined,
): Promise<'claimed' | 'lost' | 'used'> => {
  const now = work.clock.now()
  const use =
    receiptId !== undefined &&
    ReceiptUseEntity.create({ id: receiptId, run_id: key.id, step_id: approval.step_id, used_at: now })
  try {
    await work.commit([
      RunEntity.check(key, { where: { status: oneOf(...ACTIVE_STATUSES) } }),
      ApprovalEntity.update(
        approval,
        { set: { status: 'executing', executing_at: now, due_at: now + MINUTE } },
        { where: { status: 'approved' } },
      ),
      ...(use ? [use] : []),
    ])
    return 'claimed'
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return use && error.isOf(use) ? 'used' : 'lost'
  }
}

/** Ends a call whose receipt already executed one. */
const refuseUsed = async (work: Work, key: RunKey, approval: Approval): Promise<void> => {
  if ((await claim(work, key, approval, undefined)) !== 'claimed') return
  await storeResult(work, key, approval, {
    error: 'receipt_used',
    message: 'The receipt of this decision was used before, so the call wasn’t executed again.',
  })
}

/** Voids an approved call whose run ended before the call was executed. */
const voidCall = (work: Work, key: RunKey, stepId: string): Promise<void> =>
  changeRun(work, key, async (run) => {
    const approval = await work.table.get(ApprovalEntity, { run_id: key.id, step_id: stepId })
    if (approval?.status !== 'approved') return
    const { writes, counts } = voidApprovalWrites(run, approval, 'approved')
    await work.commit([runWrite(run, counts), ...writes])
  })

/** Checks permissions again, because a ban or suspension may have followed the approval. */
const refusedNow = async (
  work: Work,
  run: Run,
  approval: Approval,
  { url }: HttpFetch,
): Promise<Record<string, unknown> | undefined> => {
  const [target, banned] = await Promise.all([loadTarget(work, run), loadPlatformBans(work)])
  if ('refused' in target) {
    const [error, message] = target.refused
    return error.startsWith('installation_')
      ? { error: 'installation_suspended', message: 'The installation is not active.' }
      : { error, message }
  }
  const { installation, workspace } = target
  if (!isTool(approval.tool)) return { error: 'unknown_tool', message: 'This tool no longer exists.' }
  const refusal = toolRefusalOf(approval.tool, { installation, workspace, scopes: installation.scopes }, banned)
  if (refusal) return { error: refusal.code, message: refusal.message }
  const spent = await sandboxRefusal(work, installation, url)
  return spent && { error: spent.phase, message: spent.message, duration_ms: spent.durationMs, url }
}

/**
 * Stores the result in the approval and its step, and notifies the agent that the run resumes. Later results are
 * dropped.
 */
export const storeResult = async (
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
  await changeRun(work, key, async (run) => {
    const now = await work.table.get(ApprovalEntity, approval)
    if (now?.status !== 'executing') return
    const step = stepChange(run, approval, { status: 'executed', output })
    await work.commit([
      ApprovalEntity.update(
        approval,
        { set: { status: 'executed', executed_at: work.clock.now(), due_at: undefined, result: kept } },
        { where: { status: 'executing' } },
      ),
      step.write,
      runWrite(run, step.counts),
      // The run may have ended during the call. Then there is nothing to resume.
      ...(isActive(run.status)
        ? [
            emitRunEvent(work, 'run.resumed', run, {
              step_id: approval.step_id,
              tool: approval.tool,
              decision: 'approved',
              ...(approval.receipt !== undefined && { receipt: approval.receipt }),
            }),
          ]
        : []),
    ])
  })
}
