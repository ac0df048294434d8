import type { Installation } from '#shared/access/installations/index.ts'
import { loadOwnApp } from '#shared/catalogue/apps/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import type { Developer } from '#shared/identity/developers/index.ts'
import { newId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed, ifUnchanged } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { ENDED, type Listener, ListenerEntity } from './entity.ts'

type Leasing = Pick<Deps, 'table' | 'clock'>

export const isLive = ({ clock }: Pick<Deps, 'clock'>, listener: Listener | undefined): listener is Listener =>
  listener !== undefined && listener.until > clock.now()

/**
 * Finds the active listener for an installation's app. Only the app's own developer can listen, and only for their own
 * sandbox workspace. The lease is stored under that workspace, so customer installations skip the lookup.
 */
export const findListener = async (
  deps: Leasing,
  { is_sandbox, workspace_id, app_id }: Pick<Installation, 'is_sandbox' | 'workspace_id' | 'app_id'>,
): Promise<Listener | undefined> => {
  if (!is_sandbox) return undefined
  const listener = await deps.table.get(ListenerEntity, { workspace_id, app_id })
  return isLive(deps, listener) ? listener : undefined
}

/** Loads the developer, whose sandbox workspace the listener serves. @throws `not_found` for another developer's app */
const loadListeningDeveloper = async (
  deps: Leasing,
  developerId: string,
  appId: string,
): Promise<Pick<Developer, 'sandbox_workspace_id'>> => {
  const [, developer] = await Promise.all([loadOwnApp(deps, developerId, appId), loadDeveloper(deps, developerId)])
  return developer
}

/**
 * Starts listening for an app. A new listener replaces the current one. A listener that reconnects (`resumes`, its id)
 * doesn't, so a forgotten laptop never displaces a newer listener. A HEAD takes no lease, because its commit writes nothing.
 * @param connection id of this connection; older connections of the same listener end
 * @returns undefined when the one that reconnects was replaced, or ended by its own request
 * @throws `not_found`; `conflict` under constant contention
 */
export const acquireLease = async (
  deps: Leasing & Pick<Work, 'commit'>,
  developer_id: string,
  app_id: string,
  connection: string,
  resumes: string | undefined,
): Promise<Listener | undefined> => {
  const { sandbox_workspace_id: workspace_id } = await loadListeningDeveloper(deps, developer_id, app_id)
  const id = resumes ?? newId('listener', deps.clock.now())
  return retryOnConflict(async () => {
    const current = await deps.table.get(ListenerEntity, { workspace_id, app_id })
    if (resumes !== undefined && isLive(deps, current) && current.id !== resumes) return undefined
    if (resumes !== undefined && current?.id === resumes && current.connection === ENDED) return undefined
    const until = deps.clock.now() + LIMITS.listenerLease
    const listener: Listener = { workspace_id, app_id, developer_id, id, connection, until }
    await deps.commit([ListenerEntity.replace(listener, { where: { connection: current?.connection ?? missing } })])
    return listener
  })
}

/** @returns the listener that replaced this one; undefined while this one holds the lease */
export const renewLease = async (deps: Leasing, listener: Listener): Promise<Listener | 'nobody' | undefined> => {
  const { id, connection } = listener
  try {
    await deps.table.transact([
      ListenerEntity.update(
        listener,
        { set: { until: deps.clock.now() + LIMITS.listenerLease } },
        { where: { id, connection } },
      ),
    ])
    return undefined
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return (error.current as Listener | undefined) ?? 'nobody'
  }
}

/** Deletes a lease unless another listener holds it by now. */
export const dropLease = async (
  deps: Leasing,
  place: Pick<Listener, 'workspace_id' | 'app_id'>,
  id: string,
): Promise<void> => {
  await ifUnchanged(deps.table.transact([ListenerEntity.delete(place, { where: { id } })]))
}

/**
 * Ends a listener at its own request, for good: its streams end, and one that reconnects gets an error. Does nothing if it
 * already ended or was replaced. @throws `not_found`
 */
export const endListening = async (
  deps: Leasing,
  developerId: string,
  app_id: string,
  listenerId: string,
): Promise<void> => {
  const { sandbox_workspace_id: workspace_id } = await loadListeningDeveloper(deps, developerId, app_id)
  const set = { until: deps.clock.now(), connection: ENDED }
  await ifUnchanged(
    deps.table.transact([ListenerEntity.update({ workspace_id, app_id }, { set }, { where: { id: listenerId } })]),
  )
}
