import { findSucceededTestRun } from '#shared/agents/sandbox/index.ts'
import {
  type App,
  AppEntity,
  AppStandingEntity,
  type AppView,
  loadOwnApp,
  presentApp,
  standingWrites,
} from '#shared/catalogue/apps/index.ts'
import { enqueueWrites } from '#shared/catalogue/review-queue/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { exists } from '#shared/table/expressions.ts'

/** Requirements for submission, by the names that `details.missing` uses (contract/moderation.md#submission). */
const NEEDED = [
  'name',
  'summary',
  'description',
  'logo_url',
  'privacy_url',
  'support_email',
  'promoted_version',
] as const

/**
 * Submits an app for review: `draft` or `rejected` → `in_review`.
 * @throws `review_requirements_missing` with `details.missing`; `conflict` from another status; `app_suspended`;
 * `email_not_verified` where the deployment requires it
 */
export const submitApp = async (work: Work, developerId: string, appId: string): Promise<AppView> => {
  const app = await loadOwnApp(work, developerId, appId)
  if (app.status !== 'draft' && app.status !== 'rejected') throw notSubmittable(app)
  if (work.settings.developerProof) {
    const { email, email_verified_at, verified } = await loadDeveloper(work, developerId)
    // The staff may have verified the developer by hand, where no e-mail is sent.
    if (email_verified_at === undefined && !verified)
      throw fail('email_not_verified', {
        message: `Your e-mail address ${email} isn’t confirmed yet.`,
        ...(work.settings.mailFrom === undefined && {
          fix: 'This platform sends no e-mail, so ask its staff to verify your account.',
        }),
      })
  }
  const now = work.clock.now()
  const testRunAt = await findSucceededTestRun(work, developerId, app)
  const missing: string[] = NEEDED.filter((field) => !app[field])
  if (testRunAt === undefined) missing.push('test_run')
  if (missing.length > 0) {
    throw fail('review_requirements_missing', {
      message: `The app can’t be submitted without ${missing.join(', ')}.`,
      fix: fixFor(missing),
      details: { missing },
    })
  }
  const set = {
    status: 'in_review',
    status_reason: undefined,
    test_run_at: testRunAt,
    submitted_at: now,
    updated_at: now,
  } as const
  const submitted = { ...app, ...set }
  const view = presentApp(submitted)
  const standing = await work.table.get(AppStandingEntity, { app_id: appId })
  await work.commit(
    [
      AppEntity.update(
        { id: appId },
        { set },
        {
          where: { status: app.status, ...Object.fromEntries(NEEDED.map((field) => [field, exists])) },
          otherwise: (current) =>
            current && current.status !== app.status ? notSubmittable(current) : changedConcurrently(),
        },
      ),
      ...standingWrites(standing, submitted),
      ...enqueueWrites({ app_id: appId, kind: 'app', subject: appId, waiting_since: now }),
      auditDeveloper(work, developerId, 'app.submitted', { type: 'app', id: appId }, { version: app.promoted_version }),
    ],
    view,
  )
  return view
}

const changedConcurrently = (): PlatformError =>
  fail('conflict', { message: 'The app changed in the meantime.', fix: 'Read the app and submit it again.' })

const notSubmittable = ({ status }: App): PlatformError =>
  status === 'suspended'
    ? fail('app_suspended')
    : fail('conflict', {
        message: `The app is ${status.replace('_', ' ')}.`,
        fix: status === 'in_review' ? 'Wait for the decision.' : 'Submit only a draft or a rejected app.',
      })

const fixFor = (missing: string[]): string => {
  const fields = missing.filter((name) => name !== 'promoted_version' && name !== 'test_run')
  return [
    fields.length > 0 && `Set ${fields.join(', ')} with PATCH /api/v1/dev/apps/{id}.`,
    missing.includes('promoted_version') && 'Promote a version with POST …/versions/{v}/promote.',
    missing.includes('test_run') && 'Make a successful test run with POST …/test-run.',
  ]
    .filter(Boolean)
    .join(' ')
}
