import {
  type App,
  AppEntity,
  type AppRevision,
  listingWrites,
  logoChangeWrites,
  planBadge,
  readListing,
  refuseSlugAsName,
  revisedFieldNames,
  revisedFields,
} from '#shared/catalogue/apps/index.ts'
import { dequeueWrites, ReviewClaimEntity, ReviewItemEntity } from '#shared/catalogue/review-queue/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { newAppMessage } from '../correspondence/messages.ts'
import { endClaim } from './claim.ts'
import { presentModeratedApp } from './decide.ts'
import { type Accepting, acceptedLookalikes } from './lookalikes.ts'
import type { ModeratedAppView } from './schemas.ts'

/**
 * Handles `POST …/revisions/{rid}/approve`: the changes of an approved app become live, in the marketplace as well, and the
 * app gets its badge back (contract/moderation.md#revisions).
 * @throws `not_found`; `conflict` if the revision was decided on or changed by its developer, while another moderator has
 * claimed the app, or if the new name is confusable and that wasn't accepted; `validation_error` if the new name became
 * another app's slug
 */
export const approveRevision = (
  work: Work,
  moderator: Moderator,
  appId: string,
  id: string,
  accepting: Accepting,
): Promise<ModeratedAppView> =>
  decideRevision(work, moderator, appId, id, 'approved', undefined, async (app, revision) => {
    const { changes } = revision
    const fields = revisedFields(revision)
    const after: App = { ...app, ...fields }
    if (changes.name === undefined) return { set: fields }
    await refuseSlugAsName(work, app.slug, changes.name)
    const similar = await acceptedLookalikes(work, after, accepting)
    return { set: { ...fields, ...similar.set }, details: similar.details }
  })

/** Handles `POST …/revisions/{rid}/reject`, with the reason for the developer. The live app stays. Throws as above. */
export const rejectRevision = (
  work: Work,
  moderator: Moderator,
  appId: string,
  id: string,
  reason: string,
): Promise<ModeratedAppView> =>
  decideRevision(work, moderator, appId, id, 'rejected', reason, async () => ({ set: {} }))

interface Effect {
  set: { [F in keyof App]?: App[F] | undefined }
  details?: Record<string, unknown>
}

const decideRevision = async (
  work: Work,
  moderator: Moderator,
  app_id: string,
  id: string,
  outcome: 'approved' | 'rejected',
  reason: string | undefined,
  effectOf: (app: App, revision: AppRevision) => Promise<Effect>,
): Promise<ModeratedAppView> => {
  const [app, item, claim] = await work.table.getAll([
    AppEntity.ref({ id: app_id }),
    ReviewItemEntity.ref({ app_id, subject: id }),
    ReviewClaimEntity.ref({ app_id }),
  ] as const)
  if (!app) throw fail('not_found', { message: 'App not found.' })
  const revision = app.pending_revision
  if (revision?.id !== id) throw doesNotWait(app)
  const effect = await effectOf(app, revision)
  const badge = await planBadge(work, app, false)
  const set = {
    ...effect.set,
    ...badge.set,
    ...(outcome === 'rejected' && { uploads: withoutRejected(app, revision) }),
    pending_revision: undefined,
    pending_revision_id: undefined,
    updated_at: work.clock.now(),
  }
  const after = { ...app, ...set } as App
  const view = presentModeratedApp(after)
  const author = { type: 'moderator', id: moderator.admin.id, name: moderator.admin.name } as const
  const fields = revisedFieldNames(revision)
  await work.commit(
    [
      AppEntity.update(
        { id: app_id },
        { set },
        {
          where: {
            pending_revision_id: id,
            status: app.status,
            category: app.category,
            uploads: app.uploads ?? missing,
            updated_at: app.updated_at,
          },
          otherwise: decidedConcurrently,
        },
      ),
      ...(await relistingWrites(work, after)),
      ...badge.writes,
      ...(await logoChangeWrites(work, app, after)),
      ...dequeueWrites(item, decidedConcurrently),
      ...endClaim(work, moderator, app_id, claim, decidedConcurrently),
      ...newAppMessage(work, app, author, { code: `revision.${outcome}`, fields, reason }).writes,
      auditAdmin(
        work,
        moderator,
        `revision.${outcome}`,
        { type: 'app', id: app_id },
        {
          revision_id: id,
          before: Object.fromEntries(fields.map((field) => [field, app[field] ?? null])),
          after: revision.changes,
          ...effect.details,
          ...(reason !== undefined && { reason }),
        },
      ),
    ],
    view,
  )
  return view
}

/** Returns the uploads without the rejected images, which are then deleted unless the listing shows them. */
const withoutRejected = ({ uploads }: App, { changes }: AppRevision): App['uploads'] =>
  uploads?.filter(({ id }) => !changes.screenshots?.some((rejected) => rejected.id === id))

const relistingWrites = async (work: Work, app: App): Promise<Write[]> => {
  if (app.status !== 'approved') return []
  const { listed, developerName } = await readListing(work, app)
  if (!listed) return []
  const { listed_at, featured_at } = listed
  return listingWrites(listed, { app, developerName, listed_at, featured_at }, decidedConcurrently)
}

const doesNotWait = ({ pending_revision }: App) =>
  pending_revision
    ? fail('conflict', {
        message: 'The developer has changed the revision since.',
        fix: 'Read the app again, and decide on its pending_revision.',
        details: { pending_revision: pending_revision.id },
      })
    : fail('conflict', {
        message: 'No changes of this app wait for review.',
        fix: 'List the review queue with GET /admin/review.',
      })

const decidedConcurrently = () =>
  fail('conflict', { message: 'The app changed in the meantime.', fix: 'Read the app again, then decide.' })
