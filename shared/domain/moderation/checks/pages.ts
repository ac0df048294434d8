import { seen } from './endpoint.ts'
import { cut, type Finding, type Look } from './subject.ts'
import type { Visit } from './visits.ts'

/** A page that people are sent to answers with 2xx, at most after three redirects. */
const page = async (name: string, visit: Promise<Visit> | undefined, needed: boolean): Promise<Finding> => {
  if (!visit) {
    return needed
      ? { status: 'failed', message: `The app has no ${name}.`, fix: `Set the ${name}’s address.`, evidence: {} }
      : { status: 'skipped', message: `The app has no ${name}.`, evidence: {} }
  }
  const { addresses, result, endless } = await visit
  const evidence = { addresses: addresses.map(cut), ...seen(result) }
  if (result.kind === 'failure') {
    return { status: 'failed', message: `The ${name} does not answer.`, fix: cut(result.hint), evidence }
  }
  if (endless) {
    return {
      status: 'failed',
      message: `The ${name} redirects again and again.`,
      fix: 'Set the address that the redirects lead to.',
      evidence,
    }
  }
  if (result.status >= 200 && result.status < 300) {
    return { status: 'passed', message: `The ${name} answers.`, evidence }
  }
  return {
    status: 'failed',
    message: `The ${name} answers with ${result.status}.`,
    fix: 'Set an address that anybody may open.',
    evidence,
  }
}

export const privacyPage: Look = ({ visits }) => page('privacy policy', visits.privacy, true)
export const homepage: Look = ({ visits }) => page('homepage', visits.homepage, false)
