import type { OutboxEvent } from '../../entities/events.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import { WorkspaceEntity } from '../../entities/people.ts'
import { definitionOf } from '../../events/catalogue.ts'
import { covers } from '../../kernel/scopes.ts'
import type { Deps } from '../deps.ts'
import { ORCHESTRATOR_APP_ID } from '../orchestrator/principal.ts'

/**
 * The installations that see an event, by polling and by webhook alike (decisions §6 "Who sees an event").
 * @returns their ids; none for what only wakes the platform's own workers
 */
export const audienceOf = async (deps: Pick<Deps, 'table'>, event: OutboxEvent): Promise<string[]> => {
  // A sample is for the app that asked for it, also where the real event would be for the whole workspace.
  if (event.test) return event.installation_id === undefined ? [] : [event.installation_id]
  // The orchestrator polls nothing and has no webhooks.
  if (event.app_id === ORCHESTRATOR_APP_ID) return []
  switch (definitionOf(event.type)?.audience) {
    case 'installation':
      return event.installation_id === undefined ? [] : [event.installation_id]
    case 'workspace':
      return readersOf(deps, event.workspace_id)
    default:
      return []
  }
}

/** Every installation of the workspace that may read it and was not removed. */
const readersOf = async ({ table }: Pick<Deps, 'table'>, workspace_id: string): Promise<string[]> => {
  const workspace = await table.get(WorkspaceEntity, { id: workspace_id })
  if (!workspace || workspace.denied_scopes.includes('workspace:read')) return []
  const readers: string[] = []
  let after: string | undefined
  do {
    const page = await table.query(InstallationEntity, { workspace_id }, { limit: 100, after })
    for (const { id, status, scopes } of page.items) {
      if (status !== 'revoked' && covers(scopes, 'workspace:read')) readers.push(id)
    }
    after = page.next
  } while (after !== undefined)
  return readers
}
