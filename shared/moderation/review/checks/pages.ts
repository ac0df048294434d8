import { callEvidence } from './endpoint.ts'
import { type Finding, type SubmissionCheck, truncate } from './subject.ts'
import type { Visit } from './visits.ts'

/** Checks that a page linked for people answers with 2xx after at most three redirects. */
const page = async (name: string, visit: Promise<Visit> | undefined, needed: boolean): Promise<Finding> => {
  if (!visit) {
    return needed
      ? { status: 'failed', message: `The app has no ${name}.`, fix: `Set the address of the ${name}.`, evidence: {} }
      : { status: 'skipped', message: `The app has no ${name}.`, evidence: {} }
  }
  const { addresses, result, endless } = await visit
  const evidence = { addresses: addresses.map(truncate), ...callEvidence(result) }
  if (result.kind === 'failure') {
    return { status: 'failed', message: `The ${name} does not answer.`, fix: truncate(result.hint), evidence }
  }
  if (endless) {
    return {
      status: 'failed',
      message: `The ${name} redirects too many times.`,
      fix: 'Set the final address of the redirects.',
      evidence,
    }
  }
  if (result.status >= 200 && result.status < 300) {
    return { status: 'passed', message: `The ${name} answers.`, evidence }
  }
  return {
    status: 'failed',
    message: `The ${name} answers with ${result.status}.`,
    fix: 'Set a public address.',
    evidence,
  }
}

export const privacyPage: SubmissionCheck = ({ visits }) => page('privacy policy', visits.privacy, true)

export const homepage: SubmissionCheck = ({ visits }) => page('homepage', visits.homepage, false)
