import { type App, AppEntity } from '../../entities/apps.ts'
import { AppStandingEntity } from '../../entities/moderation.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { exists } from '../../table/expressions.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { standingWrites } from '../moderation/standing.ts'
import { enqueued } from '../moderation/waiting.ts'
import { succeededTestRun } from '../sandbox/evidence.ts'
import { presentApp } from './present.ts'
import { ownApp } from './read.ts'
import type { AppView } from './schemas.ts'

/** What moderation needs, by the name that `details.missing` uses (decisions §7). */
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
 * Sends an app to moderation: `draft` or `rejected` → `in_review`.
 * @throws `review_requirements_missing` with `details.missing`; `conflict` from another status; `app_suspended`
 */
export const submitApp = async (work: Work, developerId: string, appId: string): Promise<AppView> => {
  const app = await ownApp(work, developerId, appId)
  if (app.status !== 'draft' && app.status !== 'rejected') throw notSubmittable(app)
  const now = work.clock.now()
  const testRunAt = await succeededTestRun(work, developerId, app)
  const missing: string[] = NEEDED.filter((field) => !app[field])
  if (testRunAt === undefined) missing.push('test_run')
  if (missing.length > 0) {
    throw fail('review_requirements_missing', {
      message: `Moderation needs ${missing.join(', ')}.`,
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
            current && current.status !== app.status ? notSubmittable(current) : changedMeanwhile(),
        },
      ),
      ...standingWrites(standing, submitted),
      ...enqueued({ app_id: appId, kind: 'app', subject: appId, waiting_since: now }),
      auditDeveloper(work, developerId, 'app.submitted', { type: 'app', id: appId }, { version: app.promoted_version }),
    ],
    view,
  )
  return view
}

const changedMeanwhile = (): PlatformError =>
  fail('conflict', { message: 'The app was changed meanwhile.', fix: 'Read the app and submit it again.' })

const notSubmittable = ({ status }: App): PlatformError =>
  status === 'suspended'
    ? fail('app_suspended')
    : fail('conflict', {
        message: `The app is ${status.replace('_', ' ')}.`,
        fix: status === 'in_review' ? 'Wait for the decision.' : 'Only a draft or a rejected app can be submitted.',
      })

const fixFor = (missing: string[]): string => {
  const fields = missing.filter((name) => name !== 'promoted_version' && name !== 'test_run')
  return [
    fields.length > 0 && `Set ${fields.join(', ')} with PATCH /api/v1/dev/apps/{id}.`,
    missing.includes('promoted_version') && 'Promote a version with POST …/versions/{v}/promote.',
    missing.includes('test_run') && 'Make a test run that succeeds with POST …/test-run.',
  ]
    .filter(Boolean)
    .join(' ')
}
