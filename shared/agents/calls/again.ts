import { hasConsent, InstallationEntity } from '#shared/access/installations/index.ts'
import { ORCHESTRATOR_APP_ID } from '#shared/access/orchestrator/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { suspended } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { findRunKey, loadRun, type Run, type RunView, startRun } from '#shared/work/runs/index.ts'
import { checkArguments, loadDeclaredTool } from './declared-tool.ts'

/**
 * Starts a run with the input of an earlier one, or another, for a person. It begins a chain of its own.
 * @param input Default: that of the earlier run.
 * @throws `not_found`; `conflict` for a run that belongs to a task or chat, or whose input is gone; `app_suspended`,
 *   `installation_suspended`, `access_withdrawn`, `tool_not_offered`, `invalid_arguments`, `too_many_active_runs`
 */
export const runAgain = async (
  work: Work,
  workspaceId: string,
  person: { id: string; name: string },
  runId: string,
  input: Record<string, unknown> | undefined,
): Promise<RunView> => {
  const run = await loadRun(work, await findRunKey(work, workspaceId, runId, person.id))
  refuseBelonging(run)
  const [installation, app] = await work.table.getAll([
    InstallationEntity.ref({ workspace_id: workspaceId, id: run.installation_id }),
    AppEntity.ref({ id: run.app_id }),
  ] as const)
  if (!installation || installation.status === 'revoked' || !app) {
    throw fail('not_found', { message: 'The agent is no longer installed.' })
  }
  if (app.status === 'suspended') throw fail('app_suspended')
  if (installation.status === 'suspended') throw suspended()
  if (!hasConsent(installation)) throw fail('access_withdrawn')
  const given = input ?? ((await loadPayload(work, run.input)) as Record<string, unknown> | null)
  if (given === null) throw fail('conflict', { message: 'The input of this run is no longer stored.' })
  if (run.tool !== undefined) checkArguments(await loadDeclaredTool(work, { installation, app }, run.tool), given)
  return startRun(work, {
    installation,
    input: given,
    trigger: 'manual',
    actor: { id: person.id, name: person.name },
    tool: run.tool,
    private_to: run.private_to,
    // The input is the same, so it comes from where it came from.
    chain: { audience: run.audience },
    repeats: run.id,
  })
}

const refuseBelonging = ({ task_id, conversation_id, app_id }: Run): void => {
  if (task_id !== undefined) {
    throw fail('conflict', {
      message: 'This run works on a task.',
      fix: 'Hand the task to the agent again with POST /console/tasks/{id}/run.',
      details: { task_id },
    })
  }
  if (conversation_id !== undefined || app_id === ORCHESTRATOR_APP_ID) {
    throw fail('conflict', { message: 'This run answers a message.', fix: 'Send the message again.' })
  }
}
