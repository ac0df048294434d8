import type { App } from '../../entities/apps.ts'
import { type Run, RunEntity } from '../../entities/runs.ts'
import type { Work } from '../deps.ts'
import { issueToken } from '../tokens/tokens.ts'

/** A new callback token for the same run (decisions §2). Asking for one is a sign of life. `expires_in` in seconds. */
export const renewCallbackToken = async (
  work: Work,
  run: Run,
  app: App,
): Promise<{ token: string; expires_in: number }> => {
  const { token, expires_in } = await issueToken(work, 'callback', {
    ins: run.installation_id,
    ws: run.workspace_id,
    app: run.app_id,
    run: run.id,
    sv: app.secret_version,
  })
  const answer = { token, expires_in }
  await work.commit([RunEntity.update(run, { set: { alive_at: work.clock.now() } })], answer)
  return answer
}
