import * as z from 'zod'
import { TestRun } from '#shared/agents/sandbox/index.ts'
import { APP_STATUSES, AppSchema } from '#shared/catalogue/apps/index.ts'
import { logoPathField } from '#shared/catalogue/logos/index.ts'
import { REVIEW_KINDS } from '#shared/catalogue/review-queue/index.ts'
import { VersionSchema } from '#shared/catalogue/versions/index.ts'
import { idField, line, time } from '#shared/foundation/schemas/index.ts'
import { DeveloperSchema } from '#shared/identity/developer-accounts/index.ts'
import { CATEGORIES } from '#shared/kernel/categories.ts'
import { isId } from '#shared/kernel/ids.ts'
import { ModeratedAbuseReportSchema } from '../abuse/schemas.ts'
import { CHECK_STATUSES } from './entity.ts'

/** Body of the decisions that need a reason (contract/moderation.md#decisions). */
export const Reason = () =>
  z
    .strictObject({
      reason: line(2_000).meta({ description: 'Shown to the developer.', example: 'The privacy policy is missing.' }),
    })
    .meta({ id: 'Reason' })

/** Failing checks that block an approval until a moderator accepts them. */
const ACCEPTABLE_CHECKS = ['similar_name'] as const

export type AcceptableCheck = (typeof ACCEPTABLE_CHECKS)[number]

const acceptedChecks = () =>
  z
    .array(z.enum(ACCEPTABLE_CHECKS))
    .max(ACCEPTABLE_CHECKS.length)
    .optional()
    .meta({
      description:
        'Failing checks that you accept. Without `similar_name`, approving a name that looks like that of another ' +
        'developer’s listed app fails with `conflict`.',
      example: [],
    })

/** Body of `POST /admin/apps/{id}/revisions/{rid}/approve`. */
export const ApproveRevision = () =>
  z.strictObject({ accepted_checks: acceptedChecks() }).prefault({}).meta({ id: 'ApproveRevision' })

/** Body of `POST /admin/apps/{id}/approve`. */
export const ApproveApp = () =>
  z
    .strictObject({
      promoted_version: line(100)
        .optional()
        .meta({
          description:
            'The version you reviewed, as `GET /admin/apps/{id}` shows it. If the developer has promoted another version since, ' +
            'the request fails with `conflict`. Default: the promoted version, whichever it is.',
          example: '1.2.0',
        }),
      updated_at: z.iso
        .datetime({ offset: true })
        .optional()
        .meta({
          description:
            'The app’s `updated_at` as you saw it. If the developer has changed the app since, the request fails with ' +
            '`conflict`. Default: the current app.',
        }),
      accepted_checks: acceptedChecks(),
    })
    .prefault({})
    .meta({ id: 'ApproveApp' })

/** An app as an admin sees it. */
export const ModeratedAppSchema = () =>
  AppSchema()
    .extend({
      developer_id: idField('dev'),
      status_before: z.enum(APP_STATUSES).nullable().meta({ description: 'The status that unsuspending restores.' }),
    })
    .meta({ id: 'ModeratedApp' })

export type ModeratedAppView = z.infer<ReturnType<typeof ModeratedAppSchema>>

const person = () => z.object({ id: idField('adm'), name: z.string() })

/** Body of `POST /admin/apps/{id}/claim`. */
export const ClaimApp = () =>
  z
    .strictObject({
      release: z.boolean().default(false).meta({ description: 'Releases the claim instead of taking it.' }),
    })
    .prefault({})
    .meta({ id: 'ClaimApp' })

/** The moderator who has claimed an app's waiting items. */
export const ReviewClaimSchema = () =>
  z
    .object({
      app_id: idField('app'),
      claimed_by: person().nullable().meta({ description: 'Null while no moderator has claimed it.' }),
      claimed_at: time().nullable(),
      expires_at: time().nullable(),
    })
    .meta({ id: 'ReviewClaim' })

export type ReviewClaimView = z.infer<ReturnType<typeof ReviewClaimSchema>>

const checkCounts = () =>
  z
    .object({
      passed: z.number().int(),
      failed: z.number().int(),
      warning: z.number().int(),
      skipped: z.number().int(),
      checked_at: time(),
    })
    .nullable()
    .meta({ description: 'Latest result of `GET …/checks`; null if the checks have never run.' })

/** An item that waits for moderation. */
export const ReviewItemSchema = () =>
  z
    .object({
      kind: z
        .enum(REVIEW_KINDS)
        .meta({ description: 'The app itself, or a version or changes (`revision`) of an already approved app.' }),
      app: z.object({
        id: idField('app'),
        slug: z.string(),
        name: z.string(),
        type: z.enum(['agent', 'integration']),
        status: z.enum(APP_STATUSES),
        logo_url: z.string().nullable(),
        logo_path: logoPathField(),
      }),
      version: z
        .object({ id: idField('ver'), version: z.string() })
        .nullable()
        .meta({ description: 'The version under review. Otherwise the app’s promoted version.' }),
      revision: z
        .object({
          id: idField('arv'),
          fields: z.array(z.string()).meta({ description: 'Fields that change.', example: ['name'] }),
        })
        .nullable()
        .meta({
          description: 'The revision under review. `GET /admin/apps/{id}` has the changes. Null for other kinds.',
        }),
      developer: z.object({
        id: idField('dev'),
        name: z.string().meta({ description: 'The developer’s company, or their name.' }),
        verified: z.boolean(),
        verification: z
          .enum(['none', 'pending', 'verified'])
          .meta({ description: '`pending`: an application for the verified badge is waiting.' }),
      }),
      waiting_since: time(),
      claimed_by: person().nullable().meta({ description: 'The moderator who is reviewing it.' }),
      claim_expires_at: time().nullable(),
      checklist: z
        .array(
          z.object({
            id: z.string().meta({ example: 'privacy_url' }),
            label: z.string(),
            done: z.boolean(),
          }),
        )
        .meta({ description: 'The requirements for submission, checked against the app’s current state.' }),
      dangerous_scopes: z
        .array(z.string())
        .meta({ description: 'The dangerous scopes that the app requests from customers.' }),
      checks: checkCounts(),
    })
    .meta({ id: 'ReviewItem' })

export type ReviewItemView = z.infer<ReturnType<typeof ReviewItemSchema>>

/** Filters of `GET /admin/apps`. */
export const appFilters = () => ({
  status: z.enum(APP_STATUSES).optional().meta({ description: 'Default: all.' }),
  type: z.enum(['agent', 'integration']).optional().meta({ description: 'Default: both.' }),
  developer: z
    .string()
    .refine((text) => isId('developer', text), 'must be the id of a developer')
    .optional()
    .meta({ description: 'Apps of this developer only.', example: 'dev_01kae5m1v8w6c3x9q2r7t4y0zn' }),
  q: z
    .string()
    .trim()
    .toLowerCase()
    .min(1, 'must not be empty')
    .max(40)
    .optional()
    .meta({
      description:
        'The app’s id, or the beginning of its slug. Searches the first 200 matching slugs in alphabetical order; `total` counts ' +
        'those that match the other filters.',
      example: 'stock',
    }),
})

/** Body of `POST /admin/apps/{id}/curation`. */
export const Curate = () =>
  z
    .strictObject({
      featured: z.boolean(),
      category: z.enum(CATEGORIES).optional().meta({ description: 'Default: the category stays the same.' }),
    })
    .meta({ id: 'CurateApp' })

/** A listed app after its curation. */
export const CuratedAppSchema = () =>
  ModeratedAppSchema().extend({ featured: z.boolean(), featured_at: time().nullable() }).meta({ id: 'CuratedApp' })

export type CuratedAppView = z.infer<ReturnType<typeof CuratedAppSchema>>

/** A version as an admin sees it. */
export const ModeratedVersionSchema = () =>
  VersionSchema()
    .extend({
      app_id: idField('app'),
      status_reason: z.string().nullable().meta({ description: 'Why the version was rejected.' }),
      runtime_type: z.enum(['webhook', 'inline', 'a2a']),
      endpoint: z.string().nullable(),
    })
    .meta({ id: 'ModeratedVersion' })

export type ModeratedVersionView = z.infer<ReturnType<typeof ModeratedVersionSchema>>

/** All the data that a moderator needs to decide about an app. */
export const AppDossierSchema = () =>
  z
    .object({
      app: ModeratedAppSchema(),
      developer: DeveloperSchema().nullable(),
      verification: z.enum(['none', 'pending', 'verified']),
      listing: z
        .object({ listed_at: time(), featured_at: time().nullable() })
        .nullable()
        .meta({ description: 'Null while the marketplace does not show the app.' }),
      claim: ReviewClaimSchema().nullable().meta({ description: 'Null while no moderator has claimed it.' }),
      waiting: z
        .array(z.object({ kind: z.enum(REVIEW_KINDS), id: z.string(), waiting_since: time() }))
        .meta({ description: 'Items waiting for review: the app or its versions; at most 100.' }),
      versions: z
        .array(ModeratedVersionSchema())
        .meta({ description: 'Newest first; at most 20, fewer if their manifests are large.' }),
      more_versions: z.boolean(),
      installations: z.number().int().meta({ description: 'Customers’ installations, without sandboxes.' }),
      reviews: z.object({
        average: z.number().nullable(),
        count: z.number().int(),
        hidden: z.number().int(),
        distribution: z.record(z.string(), z.number().int()),
      }),
      history: z
        .array(
          z.object({
            id: idField('aud'),
            action: z.string().meta({ example: 'app.approved' }),
            actor: z.object({ type: z.string(), id: z.string() }),
            details: z.record(z.string(), z.unknown()),
            created_at: time(),
          }),
        )
        .meta({
          description: 'Audit entries about the app, newest first; at most 50. `GET /admin/audit` returns all.',
        }),
      messages: z.number().int().meta({ description: 'Number of messages in the app’s correspondence.' }),
      waits_for: z
        .enum(['moderator', 'developer'])
        .nullable()
        .meta({ description: 'The side that has to reply to the last message.' }),
      abuse_reports: z
        .array(ModeratedAbuseReportSchema())
        .meta({ description: 'Open reports, newest first; at most 50.' }),
    })
    .meta({ id: 'AppDossier' })

export type AppDossierView = z.infer<ReturnType<typeof AppDossierSchema>>

const check = () =>
  z
    .object({
      id: z.string().meta({ example: 'signature_refusal' }),
      status: z.enum(CHECK_STATUSES),
      message: z.string(),
      fix: z.string().nullable().meta({ description: 'Advice for the developer; null if the check passed.' }),
      evidence: z
        .record(z.string(), z.unknown())
        .meta({ description: 'Evidence: addresses, statuses, sizes, scopes.' }),
      checked_at: time(),
      duration_ms: z.number().int(),
    })
    .meta({ id: 'SubmissionCheck' })

/** Query parameter for the version to examine. */
const examinedVersion = () =>
  z
    .string()
    .refine((text) => isId('version', text), 'must be the id of a version')
    .optional()
    .meta({
      description: 'Default: the version waiting for review, else the promoted version, else the newest.',
      example: 'ver_01kae5m1v8w6c3x9q2r7t4y0zn',
    })

/** Query of `GET /admin/apps/{id}/checks`. */
export const checksQuery = () =>
  z.strictObject({
    version: examinedVersion(),
    fresh: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: '`true` runs the checks again instead of returning stored findings.' }),
  })

/** Body of `POST /admin/apps/{id}/test-install`. */
export const TestInstall = () =>
  TestRun()
    .extend({
      version: examinedVersion(),
    })
    .meta({ id: 'TestInstall' })

/** Findings of the automatic checks of a submission. */
export const SubmissionChecksSchema = () =>
  z
    .object({
      app_id: idField('app'),
      version: z.object({ id: idField('ver'), version: z.string() }),
      checked_at: time(),
      stored: z.boolean().meta({ description: 'True if these are stored findings, at most 10 minutes old.' }),
      checks: z.array(check()),
    })
    .meta({ id: 'SubmissionChecks' })

export type SubmissionChecksView = z.infer<ReturnType<typeof SubmissionChecksSchema>>
