import type { Work } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { covers, type Scope } from '#shared/kernel/scopes.ts'
import type { Write } from '#shared/table/entity.ts'
import type { FetchedLogo } from '../logos/entity.ts'
import { dequeueWrites, enqueueWrites, requeueWrites } from '../review-queue/writes.ts'
import { type App, AppEntity, type AppRevision, MODERATED_FIELDS, type Screenshot } from './entity.ts'
import type { EditAppInput } from './schemas.ts'

type Fields = Partial<App>
type RevisionChanges = AppRevision['changes']

/** An edit whose screenshots have their sizes. */
export type Edit = Omit<EditAppInput, 'screenshots'> & { screenshots?: Screenshot[] | undefined }

/** An edit of an approved app, split by the time at which it takes effect. */
export interface SplitEdit {
  /** Takes effect at once. */
  live: Fields
  /** Everything that waits for moderation now, earlier changes included. */
  pending: RevisionChanges
}

/**
 * Splits an edit of an approved app (contract/moderation.md#revisions). Moderated fields wait, and the live listing stays.
 * Removing redirect URIs and scopes takes effect at once. A field that is set back to its live value no longer waits.
 */
export const splitEdit = (app: App, input: Edit): SplitEdit => {
  const live: Record<string, unknown> = {}
  const pending: Record<string, unknown> = { ...app.pending_revision?.changes }
  for (const [field, value] of Object.entries(input)) {
    if (!(MODERATED_FIELDS() as readonly string[]).includes(field)) {
      live[field] = value ?? undefined
      continue
    }
    delete pending[field]
    const isList = field === 'redirect_uris' || field === 'requested_scopes'
    const list = isList ? splitList(app, field, value as string[]) : undefined
    if (list) {
      live[field] = list.live
      if (list.waits) pending[field] = value
    } else {
      const current = app[field as keyof App] ?? (Array.isArray(value) ? [] : null)
      if (canonicalJson(value ?? null) !== canonicalJson(current)) pending[field] = value
    }
  }
  return { live, pending }
}

/**
 * Splits a list whose additions wait for review. Removals take effect at once, unless the list would be empty until then.
 */
const splitList = (app: App, field: string, wanted: string[]): { live: string[]; waits: boolean } => {
  const current = field === 'redirect_uris' ? app.redirect_uris : app.requested_scopes
  const isKnown = field === 'redirect_uris' ? knownOrigin(current) : (scope: string) => covers(current, scope as Scope)
  const kept = wanted.filter(isKnown)
  if (kept.length === wanted.length) return { live: wanted, waits: false }
  return { live: kept.length > 0 ? kept : current, waits: true }
}

const knownOrigin = (uris: readonly string[]) => {
  const known = new Set(uris.map((uri) => new URL(uri).origin))
  return (uri: string): boolean => known.has(new URL(uri).origin)
}

const ADDRESSES = ['privacy_url', 'homepage_url', 'install_url'] as const

/** Reports whether changes touch what people recognize an app by: name, logo or domain. */
const changesIdentity = (app: App, changes: RevisionChanges): boolean =>
  changes.name !== undefined ||
  changes.logo_url !== undefined ||
  changes.redirect_uris !== undefined ||
  ADDRESSES.some((field) => {
    const [now, next] = [app[field], changes[field]]
    return typeof next === 'string' && (now === undefined || new URL(now).host !== new URL(next).host)
  })

/** Returns the app as it would be with its pending revision. */
export const withRevision = (app: App): App => ({
  ...app,
  ...(app.pending_revision ? revisedFields(app.pending_revision) : {}),
})

/** Returns the fields that approving a revision sets. Null removes an address. */
export const revisedFields = ({ changes, logo }: AppRevision): Fields => ({
  ...Object.fromEntries(Object.entries(changes).map(([field, value]) => [field, value ?? undefined])),
  ...(changes.logo_url !== undefined && { logo }),
})

/** Returns the names of the fields that a revision changes, in the documented order. A stored map has none. */
export const revisedFieldNames = ({ changes }: AppRevision): (keyof RevisionChanges)[] =>
  MODERATED_FIELDS().filter((field) => changes[field] !== undefined)

/** New revision of an app, with the badge that follows from it, and the writes that go along. */
export interface Revised {
  set: Pick<Fields, 'verified' | 'badge_withheld' | 'pending_revision' | 'pending_revision_id'>
  writes: Write[]
}

/**
 * Plans the change of an app's pending revision: a new one, another one, or none any more. It moves in the review queue,
 * and the badge is withheld while it changes the app's identity.
 */
export const planRevision = async (work: Work, app: App, changes: RevisionChanges): Promise<Revised> => {
  const was = app.pending_revision
  if (canonicalJson(was?.changes ?? {}) === canonicalJson(changes)) return { set: {}, writes: [] }
  const empty = Object.keys(changes).length === 0
  const next = empty
    ? undefined
    : {
        id: work.id('appRevision'),
        changes,
        submitted_at: was?.submitted_at ?? work.clock.now(),
        // Until the image of another address replaces it.
        ...(was?.logo && typeof changes.logo_url === 'string' && { logo: was.logo }),
      }
  const badge = await planBadge(work, app, next !== undefined && changesIdentity(app, changes))
  return {
    set: { pending_revision: next, pending_revision_id: next?.id, ...badge.set },
    writes: [...queueWrites(app, next), ...badge.writes],
  }
}

/**
 * Returns the writes that add the image of a new logo to a pending revision. The revision gets a new id: who looked at it
 * before must look again.
 */
export const revisionLogoWrites = (work: Pick<Work, 'id'>, app: App, was: AppRevision, logo: FetchedLogo): Write[] => {
  const next = { ...was, id: work.id('appRevision'), logo }
  return [
    AppEntity.update(
      { id: app.id },
      { set: { pending_revision: next, pending_revision_id: next.id } },
      { where: { pending_revision_id: was.id } },
    ),
    ...requeueWrites(itemOf(app, was), itemOf(app, next)),
  ]
}

/** Withholds the badge, or returns it if the developer has it. */
export const planBadge = async (work: Pick<Work, 'table'>, app: App, withhold: boolean): Promise<Revised> => {
  if ((app.badge_withheld ?? false) === withhold) return { set: {}, writes: [] }
  const at = { id: app.developer_id }
  const developer = withhold ? undefined : await work.table.get(DeveloperEntity, at)
  return {
    set: { badge_withheld: withhold || undefined, verified: developer?.verified ?? false },
    // If the badge is given or taken at the same time, the app would miss it.
    writes: developer ? [DeveloperEntity.check(at, { where: { verified: developer.verified } })] : [],
  }
}

const itemOf = (app: App, { id, submitted_at }: AppRevision) =>
  ({ app_id: app.id, kind: 'revision', subject: id, waiting_since: submitted_at }) as const

const queueWrites = (app: App, next: AppRevision | undefined): Write[] => {
  const was = app.pending_revision
  if (!was) return next ? enqueueWrites(itemOf(app, next)) : []
  return next ? requeueWrites(itemOf(app, was), itemOf(app, next)) : dequeueWrites(itemOf(app, was))
}
