import type { Developer } from '../../entities/developers.ts'
import type { Installation } from '../../entities/installations.ts'
import { type Listener, ListenerEntity } from '../../entities/listening.ts'
import { fail } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { backoff } from '../../table/backoff.ts'
import { ConditionFailed, ifUnchanged } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import { ownApp } from '../apps/read.ts'
import type { Deps } from '../deps.ts'
import { loadDeveloper } from '../developers/read.ts'

type Leasing = Pick<Deps, 'table' | 'clock'>

export const isLive = ({ clock }: Pick<Deps, 'clock'>, listener: Listener | undefined): listener is Listener =>
  listener !== undefined && listener.until > clock.now()

/**
 * Who listens for what would go to an installation's app. Only the app's own developer ever does, and only for their own
 * sandbox workspace: the lease is kept under that workspace, so a customer's installation finds none, and is not looked up.
 */
export const listenerFor = async (
  deps: Leasing,
  { is_sandbox, workspace_id, app_id }: Pick<Installation, 'is_sandbox' | 'workspace_id' | 'app_id'>,
): Promise<Listener | undefined> => {
  if (!is_sandbox) return undefined
  const listener = await deps.table.get(ListenerEntity, { workspace_id, app_id })
  return isLive(deps, listener) ? listener : undefined
}

/** The workspace for which a developer may listen, on behalf of an app of theirs. @throws `not_found` for another's app */
const placeOf = async (
  deps: Leasing,
  developerId: string,
  appId: string,
): Promise<Pick<Developer, 'sandbox_workspace_id'>> => {
  const [, developer] = await Promise.all([ownApp(deps, developerId, appId), loadDeveloper(deps, developerId)])
  return developer
}

/**
 * Begins to listen for an app. A new listener takes the place of the one there is; one that connects again (`resumes`, its
 * id) does not, so that a laptop left alone never wins against the person who began elsewhere.
 * @param connection names this connection; an older one of the same listener ends
 * @returns undefined when another listener took the place of the one that connects again
 * @throws `not_found`; `conflict` when others begin all the time
 */
export const beginListening = async (
  deps: Leasing,
  developer_id: string,
  app_id: string,
  connection: string,
  resumes: string | undefined,
): Promise<Listener | undefined> => {
  const { sandbox_workspace_id: workspace_id } = await placeOf(deps, developer_id, app_id)
  const id = resumes ?? newId('listener', deps.clock.now())
  for (let tries = 0; ; tries++) {
    const current = await deps.table.get(ListenerEntity, { workspace_id, app_id })
    if (resumes !== undefined && isLive(deps, current) && current.id !== resumes) return undefined
    const until = deps.clock.now() + LIMITS.listenerLease
    const listener: Listener = { workspace_id, app_id, developer_id, id, connection, until }
    try {
      await deps.table.transact([
        ListenerEntity.replace(listener, { where: { connection: current?.connection ?? missing } }),
      ])
      return listener
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (tries >= 9) throw fail('conflict', { message: 'Others begin to listen for this app at this moment.' })
      await backoff(tries)
    }
  }
}

/** @returns who listens instead; undefined while it is this one */
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

/** Takes a lease away, unless it is another listener's by now. */
export const dropLease = async (
  deps: Leasing,
  place: Pick<Listener, 'workspace_id' | 'app_id'>,
  id: string,
): Promise<void> => {
  await ifUnchanged(deps.table.transact([ListenerEntity.delete(place, { where: { id } })]))
}

/** Ends a listener at its own wish; one that is over, or was replaced, is left as it is. @throws `not_found` */
export const endListening = async (
  deps: Leasing,
  developerId: string,
  app_id: string,
  listenerId: string,
): Promise<void> => {
  const { sandbox_workspace_id: workspace_id } = await placeOf(deps, developerId, app_id)
  await dropLease(deps, { workspace_id, app_id }, listenerId)
}
