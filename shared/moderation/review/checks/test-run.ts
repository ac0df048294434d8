import { iso } from '#shared/kernel/clock.ts'
import type { SubmissionCheck } from './subject.ts'

const FIX =
  'Make a successful test run of this version with POST /api/v1/dev/apps/{id}/test-run, or …/test-install here.'

/** Checks that the last test run succeeded and ran the version under review. */
export const lastTestRun: SubmissionCheck = ({ app, version, testRuns }) => {
  const last = testRuns[0]?.run
  if (!last) {
    return app.test_run_at === undefined
      ? { status: 'failed', message: 'No test run was made.', fix: FIX, evidence: {} }
      : {
          status: 'warning',
          message: 'A test run succeeded, but its record has expired.',
          fix: FIX,
          evidence: { succeeded_at: iso(app.test_run_at) },
        }
  }
  const evidence = {
    run_id: last.id,
    run_status: last.status,
    version: last.version,
    at: iso(last.finished_at ?? last.created_at),
    is_of_this_version: last.version_id === version.id,
    ...(last.error_code !== undefined && { error_code: last.error_code }),
  }
  if (last.status !== 'succeeded') {
    return {
      status: last.status === 'failed' || last.status === 'cancelled' ? 'failed' : 'warning',
      message: `The last test run is ${last.status.replace('_', ' ')}.`,
      fix: FIX,
      evidence,
    }
  }
  return last.version_id === version.id
    ? { status: 'passed', message: 'The last test run succeeded.', evidence }
    : { status: 'warning', message: `The last test run was of version ${last.version}.`, fix: FIX, evidence }
}
