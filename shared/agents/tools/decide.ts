import type { Installation } from '#shared/access/installations/index.ts'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { DAY, iso } from '#shared/kernel/clock.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import {
  type Decider,
  type Decision,
  decideApproval,
  findApproval,
  findLastApproved,
  readRuling,
} from '#shared/work/approvals/index.ts'
import { findRunKey, type RunView, type SeveralDecisions } from '#shared/work/runs/index.ts'
import { describeRequest } from './describe.ts'
import { loadPlatformBans } from './permission.ts'

/**
 * Returns the version of the policy for an installation's calls: the hash of every scope, ban and rule that decides them. Two
 * decisions with the same version were made under the same rules.
 */
const policyVersion = (
  banned: readonly string[],
  { denied_tools, denied_scopes }: Workspace,
  installation: Installation | undefined,
  rules: readonly unknown[],
): string =>
  sha256(
    canonicalJson({
      ...(rules.length > 0 && { approval_rules: rules }),
      platform: { denied_tools: [...banned].sort() },
      workspace: { denied_tools: [...denied_tools].sort(), denied_scopes: [...denied_scopes].sort() },
      installation: {
        denied_tools: [...(installation?.denied_tools ?? [])].sort(),
        scopes: [...(installation?.scopes ?? [])].sort(),
      },
    }),
  )

/** Records a person's decision on a dangerous call, with its receipt (contract/runs.md#receipts). */
export const decideCall = async (
  work: Work,
  workspace: Workspace,
  decider: Decider,
  runId: string,
  stepId: string,
  decision: Decision,
): Promise<RunView> => {
  const banned = await loadPlatformBans(work)
  return decideApproval(work, workspace.id, decider, runId, stepId, decision, (installation, rules) =>
    policyVersion(banned, workspace, installation, rules),
  )
}

/**
 * Decides several calls, one after the other. A call that can't be decided doesn't stop the others.
 * @throws `validation_error` for an approval of calls of several agents
 */
export const decideCalls = async (
  work: Work,
  workspace: Workspace,
  decider: Decider,
  { decision, comment, arguments_sha256, calls }: SeveralDecisions,
) => {
  if (decision === 'approve') await requireOneAgent(work, workspace.id, decider.id, calls)
  const results: { run_id: string; step_id: string; status: string | null; error: object | null }[] = []
  for (const { run_id, step_id } of calls) {
    const about = { run_id, step_id }
    try {
      const given = { decision, comment, arguments_sha256 }
      const run = await decideCall(withoutAnswer(work), workspace, decider, run_id, step_id, given)
      results.push({ ...about, status: run.status, error: null })
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      results.push({ ...about, status: null, error: { code: error.code, message: error.message } })
    }
  }
  return { results }
}

/** Refuses to approve calls of several agents together, because people judge an agent's calls by its purpose. */
const requireOneAgent = async (
  work: Work,
  workspaceId: string,
  viewerId: string,
  calls: SeveralDecisions['calls'],
): Promise<void> => {
  const keys = await Promise.all(calls.map(({ run_id }) => findRunKey(work, workspaceId, run_id, viewerId)))
  if (new Set(keys.map(({ installation_id }) => installation_id)).size === 1) return
  throw fail('validation_error', {
    message: 'Only calls of one agent can be approved together.',
    fix: 'Approve the calls of each agent on their own.',
    details: { fields: { calls: ['are of several agents'] } },
  })
}

/** Characters of one page of arguments. */
const PAGE = 16_000

/** Reads a call that a person was asked to approve, with one page of its exact arguments. @throws `not_found` */
export const readApproval = async (
  work: Work,
  workspaceId: string,
  viewerId: string,
  { runId, stepId, offset }: { runId: string; stepId: string; offset: number },
) => {
  const { run, approval, shown } = await findApproval(work, workspaceId, viewerId, runId, stepId)
  if (!shown) {
    throw fail('conflict', {
      message: 'The arguments of this call can’t be shown anymore.',
      fix: 'Reject the call. A call that can’t be shown can’t be approved.',
    })
  }
  const { text, sha256: hash, bytes, value } = shown
  const end = pageEnd(text, offset)
  const last = offset === 0 ? await findLastApproved(work, viewerId, approval) : undefined
  return {
    step_id: approval.step_id,
    run_id: approval.run_id,
    tool: approval.tool,
    status: approval.status,
    request: describeRequest(approval.tool, value) ?? null,
    arguments: {
      text: text.slice(offset, end),
      offset,
      next_offset: end < text.length ? end : null,
      characters: text.length,
      bytes,
      sha256: hash,
    },
    reason: approval.reason ?? null,
    requested_by: run.actor ?? null,
    rule: approval.status === 'pending' ? await readRuling(work, run, approval, viewerId, value) : null,
    requested_at: iso(approval.created_at),
    expires_at: approval.status === 'pending' ? iso(approval.due_at ?? approval.created_at + DAY) : null,
    decision:
      approval.decided_at === undefined
        ? null
        : {
            by: approval.decided_by ?? null,
            on_behalf_of: approval.on_behalf_of ?? null,
            at: iso(approval.decided_at),
            comment: approval.comment ?? null,
            approved_before_by: (approval.votes ?? []).map(({ by, at }) => ({ by, at: iso(at) })),
          },
    last_approved: last
      ? {
          run_id: last.approval.run_id,
          step_id: last.approval.step_id,
          decided_at: iso(last.approval.decided_at ?? last.approval.created_at),
          decided_by: last.approval.decided_by ?? null,
          text: last.shown.text.length <= PAGE ? last.shown.text : null,
        }
      : null,
    receipt: approval.receipt ?? null,
  }
}

/** Ends a page before a surrogate pair rather than inside it. */
const pageEnd = (text: string, offset: number): number => {
  const end = Math.min(offset + PAGE, text.length)
  return end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end
}
