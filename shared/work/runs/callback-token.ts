import type { App } from '#shared/catalogue/apps/index.ts'
import { issueToken } from '#shared/foundation/tokens/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { oneOf } from '#shared/table/expressions.ts'
import { requireStarted } from './change.ts'
import { type Run, RunEntity } from './entity.ts'
import { ACTIVE_STATUSES } from './status.ts'

/** Token that asks for a new callback token. */
export interface Renewing {
  app: App
  /** Its grant, if it has one. The new token, and with it the run, is bound to it. */
  grant: { id: string } | undefined
  /** True if it has only the scopes of its grant. The new token has no more. */
  isLimited: boolean
  /** Its scopes if they are fewer than those of the grant. The new token has no others. */
  narrowed: readonly string[] | undefined
}

/**
 * Issues a new callback token for the same run (contract/oauth-and-tokens.md#callback-tokens), which counts as a sign of
 * life. `expires_in` is in seconds.
 * @throws `run_already_finished`; `conflict` while queued
 */
export const renewCallbackToken = async (
  work: Work,
  run: Run,
  { app, grant, isLimited, narrowed }: Renewing,
): Promise<{ token: string; expires_in: number }> => {
  requireStarted(run)
  if (run.ends_at !== undefined && run.ends_at <= work.clock.now()) {
    throw fail('run_already_finished', { message: 'The run has reached its longest lifetime.' })
  }
  const { token, expires_in } = await issueToken(work, 'callback', {
    ins: run.installation_id,
    ws: run.workspace_id,
    app: run.app_id,
    run: run.id,
    grt: grant?.id,
    ...(isLimited && { lim: true }),
    ...(narrowed && { scp: narrowed.join(' ') }),
    sv: app.secret_version,
  })
  const response = { token, expires_in }
  const renewed = RunEntity.update(
    run,
    { set: { alive_at: work.clock.now(), grant_id: grant?.id } },
    { where: { status: oneOf(...ACTIVE_STATUSES) }, otherwise: () => fail('run_already_finished') },
  )
  await work.commit([renewed], response)
  return response
}
