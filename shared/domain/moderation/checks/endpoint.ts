import type { OutgoingResult } from '../../ports.ts'
import { cut, type Finding, type Look } from './subject.ts'

/** What was seen of a call, as evidence. */
export const seen = (result: OutgoingResult): Record<string, unknown> =>
  result.kind === 'response'
    ? { http_status: result.status, duration_ms: result.durationMs }
    : {
        failure: result.phase,
        ...(result.status !== undefined && { http_status: result.status }),
        message: cut(result.message),
        duration_ms: result.durationMs,
      }

const INLINE: Finding = {
  status: 'skipped',
  message: 'The agent runs on the platform: there is no endpoint to call.',
  evidence: {},
}

/** The endpoint answers at all, whatever it says. */
export const endpointReachable: Look = async ({ version, visits }) => {
  if (!visits.unsigned) return INLINE
  const result = await visits.unsigned
  const evidence = { endpoint: version.endpoint, ...seen(result) }
  if (result.kind === 'failure') {
    return { status: 'failed', message: 'The endpoint cannot be reached.', fix: cut(result.hint), evidence }
  }
  return result.status >= 500
    ? {
        status: 'warning',
        message: `The endpoint answers with ${result.status}.`,
        fix: 'Look into the endpoint’s own logs.',
        evidence,
      }
    : { status: 'passed', message: 'The endpoint answers.', evidence }
}

const FIX =
  'Check X-SVC-Signature over the raw body before anything else, and answer 401 where it is missing or wrong: see “Verifying signatures” in /docs.'

/** Statuses that say what is wrong with the caller. */
const REFUSALS = [400, 401, 403]

/**
 * A call without a signature, and one with a wrong one, are refused. A 404 or 405 says that nothing is there, a 429 that there is
 * too much: that is no refusal of the signature.
 */
export const signatureRefusal: Look = async ({ version, visits }) => {
  if (!visits.unsigned || !visits.wronglySigned) return INLINE
  const [unsigned, wronglySigned] = await Promise.all([visits.unsigned, visits.wronglySigned])
  const evidence = { endpoint: version.endpoint, unsigned: seen(unsigned), wrongly_signed: seen(wronglySigned) }
  const results = [unsigned, wronglySigned]
  if (results.some(({ kind }) => kind === 'failure')) {
    return { status: 'failed', message: 'A call without a valid signature got no answer.', fix: FIX, evidence }
  }
  const statuses = results.map(({ status }) => status ?? 0)
  if (statuses.every((status) => REFUSALS.includes(status))) {
    return { status: 'passed', message: 'Calls without a valid signature are refused.', evidence }
  }
  if (statuses.every((status) => status >= 400 && status < 500)) {
    return {
      status: 'warning',
      message: 'Calls without a valid signature are refused, but not for their signature.',
      fix: FIX,
      evidence,
    }
  }
  const taken = statuses.some((status) => status >= 200 && status < 300)
  return {
    status: 'failed',
    message: taken ? 'The endpoint takes calls that the platform did not sign.' : 'A forged call is not refused.',
    fix: FIX,
    evidence,
  }
}
