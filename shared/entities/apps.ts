import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

export const APP_STATUSES = ['draft', 'in_review', 'approved', 'rejected', 'suspended', 'delisted'] as const

const sealedSecret = () => z.object({ value: z.string(), until: z.number().optional() })

const app = () =>
  z.object({
    id: z.string(),
    developer_id: z.string(),
    slug: z.string(),
    type: z.enum(['agent', 'integration']),
    name: z.string(),
    summary: z.string(),
    description: z.string(),
    /** One of `CATEGORIES`; absent while the developer chose none. */
    category: z.string().optional(),
    logo_url: z.string().optional(),
    privacy_url: z.string().optional(),
    homepage_url: z.string().optional(),
    install_url: z.string().optional(),
    support_email: z.string().optional(),
    redirect_uris: z.array(z.string()),
    requested_scopes: z.array(z.string()),
    status: z.enum(APP_STATUSES),
    /** What a suspension interrupted, to go back to. */
    status_before: z.enum(APP_STATUSES).optional(),
    status_reason: z.string().optional(),
    client_secret_hash: z.string(),
    /** Raised at every rotation of the client secret; access tokens carry it and die with it. */
    secret_version: z.number(),
    /** Sealed `agsec_…`, newest first; older ones sign too until their time. */
    signing_secrets: z.array(sealedSecret()),
    promoted_version: z.string().optional(),
    promoted_version_id: z.string().optional(),
    newest_version_id: z.string().optional(),
    /** A test run of this app succeeded at this time. */
    test_run_at: z.number().optional(),
    submitted_at: z.number().optional(),
    approved_at: z.number().optional(),
    verified: z.boolean(),
    created_at: z.number(),
    updated_at: z.number(),
  })

export type App = z.infer<ReturnType<typeof app>>

/** All apps in the order of their slugs, which never change. */
export const APPS_BY_SLUG = 'apps#SLUGS'

export const AppEntity = defineEntity<App>()({
  name: 'app',
  schema: app,
  pk: 'APP#{id}',
  sk: 'APP',
  directory: ({ id }) => ({ list: 'apps', sort: id }),
  list: ({ slug }) => ({ owner: APPS_BY_SLUG, sort: slug }),
})

const listedApp = () =>
  z.object({
    app_id: z.string(),
    listed_at: z.number(),
    /** Since when the platform’s staff features it; absent for most. */
    featured_at: z.number().optional(),
    category: z.string().optional(),
    /** What it is found by: words of its name, slug, developer and summary, folded, in order of the alphabet. */
    words: z.array(z.string()).optional(),
    /** Every `ListingPlaceEntity` of it, so that all of them can be taken away whatever they were made from. */
    places: z.array(z.object({ shelf: z.string(), place: z.string() })).optional(),
    /** Raised by every change: of two at once, one reads again. */
    revision: z.number().optional(),
  })

export type ListedApp = z.infer<ReturnType<typeof listedApp>>

/**
 * An app that the marketplace shows: there while the app is approved, written with its status. Listed apps are found without
 * looking through those that are not.
 */
export const ListedAppEntity = defineEntity<ListedApp>()({
  name: 'listed-app',
  schema: listedApp,
  pk: 'APP#{app_id}',
  sk: 'LISTED',
  directory: ({ app_id }) => ({ list: 'marketplace', sort: app_id }),
})

const listingPlace = () => z.object({ shelf: z.string(), place: z.string(), app_id: z.string() })

/**
 * Where a listed app stands on one shelf of the marketplace: in an order of browsing, or among the words that it is found
 * by. Written and removed in the transaction that lists, changes or unlists the app.
 */
export const ListingPlaceEntity = defineEntity<z.infer<ReturnType<typeof listingPlace>>>()({
  name: 'listing-place',
  schema: listingPlace,
  pk: 'SHELF#{shelf}',
  sk: 'AT#{place}',
})

const developerApp = () => z.object({ developer_id: z.string(), app_id: z.string() })

/** A developer's apps, newest first by id; written with the app. */
export const DeveloperAppEntity = defineEntity<z.infer<ReturnType<typeof developerApp>>>()({
  name: 'developer-app',
  schema: developerApp,
  pk: 'DEV#{developer_id}',
  sk: 'APP#{app_id}',
})

const version = () =>
  z.object({
    id: z.string(),
    app_id: z.string(),
    version: z.string(),
    /** The manifest's id, `<vendor>.<slug>`. */
    agent_id: z.string(),
    /** `published` may be promoted; `in_review` waits for moderation (an app that is approved already). */
    status: z.enum(['published', 'in_review', 'approved', 'rejected']),
    /** Why moderation rejected it. */
    status_reason: z.string().optional(),
    /** The manifest as JSON text, or where it is kept when it is large. */
    manifest: z.union([z.object({ json: z.string() }), z.object({ object: z.string(), bytes: z.number() })]),
    runtime_type: z.enum(['webhook', 'inline']),
    endpoint: z.string().optional(),
    resume: z.boolean(),
    /** Settings that its `config` requires and gives no default for; absent where there are none. */
    required_settings: z.array(z.string()).optional(),
    created_at: z.number(),
  })

export type Version = z.infer<ReturnType<typeof version>>

export const VersionEntity = defineEntity<Version>()({
  name: 'version',
  schema: version,
  pk: 'APP#{app_id}',
  sk: 'VER#{id}',
})

const versionName = () => z.object({ app_id: z.string(), version: z.string(), version_id: z.string() })

/** A version string is used once per app. */
export const VersionNameEntity = defineEntity<z.infer<ReturnType<typeof versionName>>>()({
  name: 'version-name',
  schema: versionName,
  pk: 'APP#{app_id}',
  sk: 'NAMED#{version}',
})
