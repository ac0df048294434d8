import * as z from 'zod'
import { APP_STATUSES } from '../../entities/apps.ts'
import { CHECK_STATUSES } from '../../entities/moderation.ts'
import { REVIEW_KINDS } from '../../entities/review-queue.ts'
import { CATEGORIES } from '../../kernel/categories.ts'
import { isId } from '../../kernel/ids.ts'
import { ModeratedAbuseReportSchema } from '../abuse/schemas.ts'
import { AppSchema } from '../apps/schemas.ts'
import { DeveloperSchema } from '../developers/schemas.ts'
import { idField, line, time } from '../fields.ts'
import { TestRun } from '../sandbox/schemas.ts'
import { VersionSchema } from '../versions/schemas.ts'

/** Body of the decisions that need a reason (decisions §7). */
export const Reason = () =>
  z
    .strictObject({
      reason: line(2_000).meta({ description: 'Shown to the developer.', example: 'The privacy policy is missing.' }),
    })
    .meta({ id: 'Reason' })

/** `POST /admin/apps/{id}/approve`. */
export const ApproveApp = () =>
  z
    .strictObject({
      promoted_version: line(100)
        .optional()
        .meta({
          description:
            'The version that was looked at, as `GET /admin/apps/{id}` shows it. When the developer has promoted another one since, ' +
            'the answer is `conflict`. Default: whichever is promoted.',
          example: '1.2.0',
        }),
    })
    .prefault({})
    .meta({ id: 'ApproveApp' })

/** An app as the platform's staff sees it. */
export const ModeratedAppSchema = () =>
  AppSchema()
    .extend({
      developer_id: idField('dev'),
      status_before: z.enum(APP_STATUSES).nullable().meta({ description: 'What a suspension goes back to.' }),
    })
    .meta({ id: 'ModeratedApp' })

export type ModeratedAppView = z.infer<ReturnType<typeof ModeratedAppSchema>>

const person = () => z.object({ id: idField('adm'), name: z.string() })

/** `POST /admin/apps/{id}/claim`. */
export const ClaimApp = () =>
  z
    .strictObject({
      release: z.boolean().default(false).meta({ description: 'Gives it back instead of taking it.' }),
    })
    .prefault({})
    .meta({ id: 'ClaimApp' })

/** Who looks at what waits of an app. */
export const ReviewClaimSchema = () =>
  z
    .object({
      app_id: idField('app'),
      claimed_by: person().nullable().meta({ description: 'Null while nobody has claimed it.' }),
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
    .meta({ description: 'What `GET …/checks` found last; null before the first time.' })

/** Something that waits for moderation. */
export const ReviewItemSchema = () =>
  z
    .object({
      kind: z
        .enum(REVIEW_KINDS)
        .meta({ description: 'The app itself, or a version of an app that was approved before.' }),
      app: z.object({
        id: idField('app'),
        slug: z.string(),
        name: z.string(),
        type: z.enum(['agent', 'integration']),
        status: z.enum(APP_STATUSES),
        logo_url: z.string().nullable(),
      }),
      version: z
        .object({ id: idField('ver'), version: z.string() })
        .nullable()
        .meta({ description: 'What is looked at: of an app, the version that is promoted.' }),
      developer: z.object({
        id: idField('dev'),
        name: z.string().meta({ description: 'The company, or the name.' }),
        verified: z.boolean(),
        verification: z
          .enum(['none', 'pending', 'verified'])
          .meta({ description: '`pending`: an application for the verified badge waits.' }),
      }),
      waiting_since: time(),
      claimed_by: person().nullable().meta({ description: 'The moderator who looks at it now.' }),
      claim_expires_at: time().nullable(),
      checklist: z
        .array(
          z.object({
            id: z.string().meta({ example: 'privacy_url' }),
            label: z.string(),
            done: z.boolean(),
          }),
        )
        .meta({ description: 'What moderation needs, as the app is now.' }),
      dangerous_scopes: z.array(z.string()).meta({ description: 'Those that the app asks its customers for.' }),
      checks: checkCounts(),
    })
    .meta({ id: 'ReviewItem' })

export type ReviewItemView = z.infer<ReturnType<typeof ReviewItemSchema>>

/** The filters of `GET /admin/apps`. */
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
        'The app’s id, or how its slug begins. Among the first 200 such slugs, in the order of the alphabet: `total` counts those ' +
        'that fit the other filters.',
      example: 'stock',
    }),
})

/** `POST /admin/apps/{id}/curation`. */
export const Curate = () =>
  z
    .strictObject({
      featured: z.boolean(),
      category: z.enum(CATEGORIES).optional().meta({ description: 'Default: it stays in its category.' }),
    })
    .meta({ id: 'CurateApp' })

/** A listed app after its curation. */
export const CuratedAppSchema = () =>
  ModeratedAppSchema().extend({ featured: z.boolean(), featured_at: time().nullable() }).meta({ id: 'CuratedApp' })

export type CuratedAppView = z.infer<ReturnType<typeof CuratedAppSchema>>

/** A version as the platform's staff sees it. */
export const ModeratedVersionSchema = () =>
  VersionSchema()
    .extend({
      app_id: idField('app'),
      status_reason: z.string().nullable().meta({ description: 'Why it was rejected.' }),
      runtime_type: z.enum(['webhook', 'inline']),
      endpoint: z.string().nullable(),
    })
    .meta({ id: 'ModeratedVersion' })

export type ModeratedVersionView = z.infer<ReturnType<typeof ModeratedVersionSchema>>

/** Everything that a moderator needs to decide about an app. */
export const AppDossierSchema = () =>
  z
    .object({
      app: ModeratedAppSchema(),
      developer: DeveloperSchema().nullable(),
      verification: z.enum(['none', 'pending', 'verified']),
      listing: z
        .object({ listed_at: time(), featured_at: time().nullable() })
        .nullable()
        .meta({ description: 'Null while the marketplace does not show it.' }),
      claim: ReviewClaimSchema().nullable().meta({ description: 'Null while nobody has claimed it.' }),
      waiting: z
        .array(z.object({ kind: z.enum(REVIEW_KINDS), id: z.string(), waiting_since: time() }))
        .meta({ description: 'What of it waits for moderation: the app, or versions; at most 100.' }),
      versions: z
        .array(ModeratedVersionSchema())
        .meta({ description: 'Newest first; at most 20, fewer where their manifests are large.' }),
      more_versions: z.boolean(),
      installations: z
        .number()
        .int()
        .meta({ description: 'Customers’ installations; those in sandboxes are not counted.' }),
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
          description: 'The audit’s entries about the app, newest first; at most 50. `GET /admin/audit` has all.',
        }),
      messages: z.number().int().meta({ description: 'Messages in its correspondence.' }),
      waits_for: z
        .enum(['moderator', 'developer'])
        .nullable()
        .meta({ description: 'Who has to answer the last message.' }),
      abuse_reports: z
        .array(ModeratedAbuseReportSchema())
        .meta({ description: 'Those that are open, newest first; at most 50.' }),
    })
    .meta({ id: 'AppDossier' })

export type AppDossierView = z.infer<ReturnType<typeof AppDossierSchema>>

const check = () =>
  z
    .object({
      id: z.string().meta({ example: 'signature_refusal' }),
      status: z.enum(CHECK_STATUSES),
      message: z.string(),
      fix: z.string().nullable().meta({ description: 'What the developer can do; null for what is in order.' }),
      evidence: z
        .record(z.string(), z.unknown())
        .meta({ description: 'What was seen: addresses, statuses, sizes, scopes.' }),
      checked_at: time(),
      duration_ms: z.number().int(),
    })
    .meta({ id: 'SubmissionCheck' })

/** Which version of an app is looked at. */
const versionLookedAt = () =>
  z
    .string()
    .refine((text) => isId('version', text), 'must be the id of a version')
    .optional()
    .meta({
      description: 'Default: what waits for moderation; otherwise the promoted version, or the newest one.',
      example: 'ver_01kae5m1v8w6c3x9q2r7t4y0zn',
    })

/** The query of `GET /admin/apps/{id}/checks`. */
export const checksQuery = () =>
  z.strictObject({
    version: versionLookedAt(),
    fresh: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: '`true` looks again also when it has looked just now.' }),
  })

/** `POST /admin/apps/{id}/test-install`. */
export const TestInstall = () =>
  TestRun()
    .extend({
      version: versionLookedAt(),
    })
    .meta({ id: 'TestInstall' })

/** What the automatic checks of a submission found. */
export const SubmissionChecksSchema = () =>
  z
    .object({
      app_id: idField('app'),
      version: z.object({ id: idField('ver'), version: z.string() }),
      checked_at: time(),
      stored: z.boolean().meta({ description: 'True for findings of at most 10 minutes ago that were kept.' }),
      checks: z.array(check()),
    })
    .meta({ id: 'SubmissionChecks' })

export type SubmissionChecksView = z.infer<ReturnType<typeof SubmissionChecksSchema>>
