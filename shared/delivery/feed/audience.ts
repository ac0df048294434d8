import { hasConsent, InstallationEntity } from '#shared/access/installations/index.ts'
import { ORCHESTRATOR_APP_ID } from '#shared/access/orchestrator/index.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { eachItem } from '#shared/table/pages.ts'
import { definitionOf } from '../catalogue/catalogue.ts'
import { canReadEvent } from '../catalogue/readable.ts'

type Reading = Pick<Deps, 'table'>

/**
 * Returns the ids of the installations that see an event, by polling and by webhook alike
 * (contract/events-and-webhooks.md#who-sees-an-event). Returns none for events that only wake the platform's own
 * workers.
 */
export const loadAudience = async (deps: Reading, event: OutboxEvent): Promise<string[]> => {
  // A sample goes only to the app that requested it, even if a real event would go to the whole workspace.
  if (event.test) return ownReader(deps, event)
  // The orchestrator does not poll and has no webhooks.
  if (event.app_id === ORCHESTRATOR_APP_ID) return []
  switch (definitionOf(event.type)?.audience) {
    case 'installation':
      return ownReader(deps, event)
    case 'workspace':
      return [...(await readersOf(deps, event)), ...(event.last_for === undefined ? [] : [event.last_for])]
    default:
      return []
  }
}

/** Returns the installation that the event belongs to, if somebody consents to it and it may read the event. */
const ownReader = async (
  { table }: Reading,
  { type, workspace_id, installation_id: id }: OutboxEvent,
): Promise<string[]> => {
  if (id === undefined) return []
  const [installation, workspace] = await table.getAll([
    InstallationEntity.ref({ workspace_id, id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ] as const)
  if (!installation || !workspace || !hasConsent(installation)) return []
  return canReadEvent(type, { scopes: installation.scopes, workspace }) ? [id] : []
}

/** Lists the workspace's installations that may read the event and are not removed. */
const readersOf = async ({ table }: Reading, { type, workspace_id }: OutboxEvent): Promise<string[]> => {
  const workspace = await table.get(WorkspaceEntity, { id: workspace_id })
  if (!workspace) return []
  const readers: string[] = []
  const installations = eachItem((after) => table.query(InstallationEntity, { workspace_id }, { limit: 100, after }))
  for await (const { id, status, scopes } of installations) {
    if (status !== 'revoked' && canReadEvent(type, { scopes, workspace })) readers.push(id)
  }
  return readers
}
