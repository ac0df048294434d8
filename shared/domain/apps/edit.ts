import { type App, AppEntity } from '../../entities/apps.ts'
import type { Write } from '../../table/entity.ts'
import { missing, type Where } from '../../table/expressions.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { listingWrites, readListing } from '../marketplace/list-app.ts'
import { tryAgain } from '../try-again.ts'
import { refuseForbidden } from './addresses.ts'
import { presentApp } from './present.ts'
import { ownApp } from './read.ts'
import type { AppView, EditAppInput } from './schemas.ts'

/**
 * Changes the fields that were sent; lists are replaced whole. Wider `requested_scopes` give existing installations
 * nothing: their customers must consent again (specification "Versioning", rule 6). What the marketplace finds a listed
 * app by changes with it.
 * @throws `not_found`, `blocked_target`
 */
export const editApp = (work: Work, developerId: string, appId: string, input: EditAppInput): Promise<AppView> =>
  tryAgain(async () => {
    const app = await ownApp(work, developerId, appId)
    refuseForbidden(work, input)
    const fields = Object.keys(input)
    if (fields.length === 0) return presentApp(app)
    // null takes a value away; an absent field stays, so that two people can edit different fields at once.
    const set = {
      ...Object.fromEntries(Object.entries(input).map(([name, value]) => [name, value ?? undefined])),
      updated_at: work.clock.now(),
    } as Partial<App>
    const changed: App = { ...app, ...set }
    const view = presentApp(changed)
    const listing = await relisted(work, app, changed, fields)
    await work.commit(
      [
        AppEntity.update(
          { id: appId },
          { set },
          { where: { developer_id: developerId, status: app.status, ...listing.where } },
        ),
        ...listing.writes,
        auditDeveloper(work, developerId, 'app.updated', { type: 'app', id: appId }, { fields }),
      ],
      view,
    )
    return view
  })

/** The fields by which the marketplace finds an app and puts it in order. */
const SHOWN: readonly string[] = ['name', 'summary', 'category']

/** A listing is made from all of them together, those included that were not sent: so they have to be what was read. */
const relisted = async (
  work: Work,
  { name, summary, category }: App,
  app: App,
  fields: readonly string[],
): Promise<{ where: Where<App>; writes: Write[] }> => {
  if (app.status !== 'approved' || !fields.some((field) => SHOWN.includes(field))) return { where: {}, writes: [] }
  const { listed, developerName } = await readListing(work, app)
  if (!listed) return { where: {}, writes: [] }
  const { listed_at, featured_at } = listed
  return {
    where: { name, summary, category: category ?? missing },
    writes: listingWrites(listed, { app, developerName, listed_at, featured_at }),
  }
}
