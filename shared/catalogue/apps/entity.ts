import * as z from 'zod'
import { lazily } from '#shared/kernel/lazily.ts'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'
import { fetchedLogo } from '../logos/entity.ts'

export const APP_STATUSES = ['draft', 'in_review', 'approved', 'rejected', 'suspended', 'delisted'] as const

const sealedSecret = () => z.object({ value: z.string(), until: z.number().optional() })

const uploadedImage = () => z.object({ id: z.string(), width: z.number(), height: z.number() })

const screenshot = () => uploadedImage().extend({ caption: z.string() })

/** An image of an app's listing. Its id is the SHA-256 of its bytes, its size is in pixels. */
export type Screenshot = z.infer<ReturnType<typeof screenshot>>

/** Fields of an approved app whose changes wait for moderation (contract/moderation.md#revisions). */
export const moderatedFields = () => ({
  name: z.string(),
  summary: z.string(),
  description: z.string(),
  logo_url: z.string().nullable(),
  privacy_url: z.string().nullable(),
  homepage_url: z.string().nullable(),
  install_url: z.string().nullable(),
  redirect_uris: z.array(z.string()),
  requested_scopes: z.array(z.string()),
  screenshots: z.array(screenshot()),
})

/** Keys of {@link moderatedFields}. */
export const MODERATED_FIELDS = lazily(
  () => Object.keys(moderatedFields()) as (keyof ReturnType<typeof moderatedFields>)[],
)

const appRevision = () =>
  z.object({
    /** A new id for each change, so that a decision covers exactly what the moderator looked at. */
    id: z.string(),
    /** New values. Null removes an address. */
    changes: z.object(moderatedFields()).partial(),
    submitted_at: z.number(),
    /** Image of the new logo, which becomes live with the revision. */
    logo: fetchedLogo().optional(),
  })

export type AppRevision = z.infer<ReturnType<typeof appRevision>>

const app = () =>
  z.object({
    id: z.string(),
    developer_id: z.string(),
    slug: z.string(),
    type: z.enum(['agent', 'integration']),
    name: z.string(),
    summary: z.string(),
    description: z.string(),
    /** One of `CATEGORIES`. Absent until the developer chooses one. */
    category: z.string().optional(),
    logo_url: z.string().optional(),
    /** Image that was fetched from a logo's address. Shown while that is `logo_url`. */
    logo: fetchedLogo().optional(),
    privacy_url: z.string().optional(),
    homepage_url: z.string().optional(),
    install_url: z.string().optional(),
    support_email: z.string().optional(),
    redirect_uris: z.array(z.string()),
    requested_scopes: z.array(z.string()),
    /** In the order in which customers see them. */
    screenshots: z.array(screenshot()).optional(),
    /** Images that were uploaded last, oldest first, for screenshots. */
    uploads: z.array(uploadedImage()).optional(),
    status: z.enum(APP_STATUSES),
    /** Status before a suspension, to restore when it ends. */
    status_before: z.enum(APP_STATUSES).optional(),
    status_reason: z.string().optional(),
    client_secret_hash: z.string(),
    /** Public keys by which the app also proves itself at `/connect`. */
    jwks: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }).optional(),
    /** Increased by every rotation of the client secret. Access tokens carry it and end with it. */
    secret_version: z.number(),
    /** Encrypted `agsec_…` secrets, newest first. Older ones also sign until `until`. */
    signing_secrets: z.array(sealedSecret()),
    promoted_version: z.string().optional(),
    promoted_version_id: z.string().optional(),
    newest_version_id: z.string().optional(),
    /** Time of the last successful test run. */
    test_run_at: z.number().optional(),
    submitted_at: z.number().optional(),
    approved_at: z.number().optional(),
    /** The developer's badge, unless `badge_withheld`. */
    verified: z.boolean(),
    /** True while a pending revision changes the name, logo or domain. */
    badge_withheld: z.boolean().optional(),
    /** True while the developer is blocked: nobody can install the app or consent to it. */
    developer_blocked: z.boolean().optional(),
    /** Listed apps of other developers with confusable names, which a moderator accepted. Shown to people who install it. */
    similar_to: z
      .array(z.object({ app_id: z.string(), slug: z.string(), name: z.string(), developer_name: z.string() }))
      .optional(),
    /** Changes of an approved app that wait for moderation. */
    pending_revision: appRevision().optional(),
    /** Id of `pending_revision`, for conditions. */
    pending_revision_id: z.string().optional(),
    created_at: createdAt(),
    updated_at: z.number(),
  })

export type App = z.infer<ReturnType<typeof app>>

/** List of all apps, sorted by slug. Slugs never change. */
export const APPS_BY_SLUG = 'apps#SLUGS'

export const AppEntity = defineEntity({
  name: 'app',
  schema: app,
  pk: 'APP#{id}',
  sk: 'APP',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'removed' },
  directory: ({ id }) => ({ list: 'apps', sort: id }),
  list: ({ slug }) => ({ owner: APPS_BY_SLUG, sort: slug }),
})

const listedApp = () =>
  z.object({
    app_id: z.string(),
    listed_at: z.number(),
    /** Time at which an admin featured the app. Absent for most apps. */
    featured_at: z.number().optional(),
    category: z.string().optional(),
    /** Search words from its name, slug, developer and summary, folded and sorted. */
    words: z.array(z.string()),
    /** Every `ListingPlaceEntity` of the app, so that all can be removed even if their sources have changed. */
    places: z.array(z.object({ shelf: z.string(), place: z.string() })),
    /** Increased by every change, so that of two concurrent changes one must retry. */
    revision: z.number(),
  })

export type ListedApp = z.infer<ReturnType<typeof listedApp>>

/**
 * Listing of an approved app in the marketplace, written together with the app's status. Lets queries find listed apps
 * without reading others.
 */
export const ListedAppEntity = defineEntity({
  name: 'listed-app',
  schema: listedApp,
  pk: 'APP#{app_id}',
  sk: 'LISTED',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  directory: ({ app_id }) => ({ list: 'marketplace', sort: app_id }),
})

const listingPlace = () => z.object({ shelf: z.string(), place: z.string(), app_id: z.string() })

/**
 * Place of a listed app on one shelf of the marketplace, which is a sort order or an index of words. Written and removed
 * in the transaction that lists, changes or unlists the app.
 */
export const ListingPlaceEntity = defineEntity({
  name: 'listing-place',
  schema: listingPlace,
  pk: 'SHELF#{shelf}',
  sk: 'AT#{place}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})

const developerApp = () => z.object({ developer_id: z.string(), app_id: z.string() })

/** Lists a developer's apps, newest first by id. Written together with the app. */
export const DeveloperAppEntity = defineEntity({
  name: 'developer-app',
  schema: developerApp,
  pk: 'DEV#{developer_id}',
  sk: 'APP#{app_id}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'removed' },
})

const appStanding = () =>
  z.object({ app_id: z.string(), type: z.enum(['agent', 'integration']), status: z.enum(APP_STATUSES) })

/** Returns the list of all developers' apps of one status and type. */
export const appsBy = (status: (typeof APP_STATUSES)[number], type: 'agent' | 'integration'): string =>
  `apps-${status}-${type}`

/** Lists apps by status for admins. Each change of status rewrites it, which moves it between the lists. */
export const AppStandingEntity = defineEntity({
  name: 'app-standing',
  schema: appStanding,
  pk: 'APP#{app_id}',
  sk: 'STANDING',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'removed' },
  directory: ({ app_id, status, type }) => ({ list: appsBy(status, type), sort: app_id }),
})
