import type { Installation } from '#shared/access/installations/index.ts'
import { type Rate, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { OutgoingFailure } from '#shared/kernel/ports/outgoing-http.ts'

/**
 * Takes a request from a sandbox out of two budgets: its developer's, and that of the destination host over all
 * sandboxes. Accounts are free, so without them anyone could have the platform flood somebody else's server. Customers'
 * installations have no such budget (contract/outgoing-requests.md#budgets-of-sandboxes).
 * @returns the failure to report instead of sending, or undefined to send
 */
export const sandboxRefusal = async (
  deps: Pick<Deps, 'table' | 'clock' | 'settings'>,
  { is_sandbox, workspace_id }: Pick<Installation, 'is_sandbox' | 'workspace_id'>,
  url: string,
): Promise<OutgoingFailure | undefined> => {
  if (!is_sandbox || !deps.settings.sandboxBudgets || !URL.canParse(url)) return undefined
  const { hostname } = new URL(url)
  const developer = await waitFor(deps, `egress:${workspace_id}`, LIMITS.sandboxEgressRate)
  if (developer > 0) return refusal('this sandbox', developer)
  const host = await waitFor(deps, `egress:${hostname}`, LIMITS.sandboxHostRate)
  return host > 0 ? refusal(`all sandboxes to ${hostname}`, host) : undefined
}

const waitFor = async (deps: Pick<Deps, 'table' | 'clock'>, name: string, rate: Rate): Promise<number> =>
  (await takeFromBucket(deps, name, rate)).retryAfter

const refusal = (whose: string, seconds: number): OutgoingFailure => ({
  kind: 'failure',
  phase: 'blocked',
  sent: false,
  message: `Not sent: the budget for requests from ${whose} is used up.`,
  hint: `Wait ${seconds} s. Installations of customers have no such budget.`,
  durationMs: 0,
})
