import { type App, AppEntity } from '../../entities/apps.ts'
import type { Work } from '../deps.ts'
import { auditDeveloper } from '../developers/audit.ts'
import { refuseForbidden } from './addresses.ts'
import { presentApp } from './present.ts'
import { ownApp } from './read.ts'
import type { AppView, EditAppInput } from './schemas.ts'

/**
 * Changes the fields that were sent; lists are replaced whole. Wider `requested_scopes` give existing installations
 * nothing: their customers must consent again (specification "Versioning", rule 6).
 * @throws `not_found`, `blocked_target`
 */
export const editApp = async (
  work: Work,
  developerId: string,
  appId: string,
  input: EditAppInput,
): Promise<AppView> => {
  const app = await ownApp(work, developerId, appId)
  refuseForbidden(work, input)
  const fields = Object.keys(input)
  if (fields.length === 0) return presentApp(app)
  // null takes an address away; an absent field stays, so that two people can edit different fields at once.
  const set = {
    ...Object.fromEntries(Object.entries(input).map(([name, value]) => [name, value ?? undefined])),
    updated_at: work.clock.now(),
  } as Partial<App>
  const changed: App = { ...app, ...set }
  const view = presentApp(changed)
  await work.commit(
    [
      AppEntity.update({ id: appId }, { set }, { where: { developer_id: developerId } }),
      auditDeveloper(work, developerId, 'app.updated', { type: 'app', id: appId }, { fields }),
    ],
    view,
  )
  return view
}
