import { isSameCard, pinAgentCard } from '#shared/catalogue/agent-cards/index.ts'
import { loadManifest, type Version } from '#shared/catalogue/versions/index.ts'
import type { OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { type CheckSubject, type Finding, type SubmissionCheck, truncate } from './subject.ts'

/** Summarizes the result of a call as evidence. */
export const callEvidence = (result: OutgoingResult): Record<string, unknown> =>
  result.kind === 'response'
    ? { http_status: result.status, duration_ms: result.durationMs }
    : {
        failure: result.phase,
        ...(result.status !== undefined && { http_status: result.status }),
        message: truncate(result.message),
        duration_ms: result.durationMs,
      }

const INLINE: Finding = {
  status: 'skipped',
  message: 'The agent runs on the platform and has no endpoint to call.',
  evidence: {},
}

const UNSIGNED: Finding = {
  status: 'skipped',
  message: 'The agent gets messages over A2A, which the platform doesn’t sign.',
  evidence: {},
}

/** Fetches the card of an outside agent again and compares it with the one that was published. */
const compareCard = async (
  deps: CheckSubject['deps'],
  version: Version,
  published: NonNullable<Version['card']>,
): Promise<Finding> => {
  const { runtime } = await loadManifest(deps, version)
  if (runtime.type !== 'a2a') return INLINE
  const current = await pinAgentCard(deps, runtime.card_url)
  const evidence = { card_url: runtime.card_url, ...published }
  if ('fix' in current) {
    return { status: 'failed', message: truncate(current.message), fix: truncate(current.fix), evidence }
  }
  return isSameCard(published, current)
    ? { status: 'passed', message: 'The card is the one that was published.', evidence }
    : {
        status: 'warning',
        message: 'The card has changed since the version was published. Runs still use the published interface.',
        fix: 'Compare both. To use the new card, the developer publishes another version.',
        evidence: { ...evidence, current },
      }
}

/** Checks that the endpoint answers, whatever its status, or that an outside agent's card is still there. */
export const endpointReachable: SubmissionCheck = async ({ deps, version, visits }) => {
  if (version.card) return compareCard(deps, version, version.card)
  if (!visits.unsigned) return INLINE
  const result = await visits.unsigned
  const evidence = { endpoint: version.endpoint, ...callEvidence(result) }
  if (result.kind === 'failure') {
    return { status: 'failed', message: 'The endpoint cannot be reached.', fix: truncate(result.hint), evidence }
  }
  return result.status >= 500
    ? {
        status: 'warning',
        message: `The endpoint answers with ${result.status}.`,
        fix: 'Check the endpoint’s own logs.',
        evidence,
      }
    : { status: 'passed', message: 'The endpoint answers.', evidence }
}

const FIX =
  'Check X-SVC-Signature over the raw body before anything else, and answer 401 if it is missing or wrong. See “Verifying signatures” in /docs.'

/** Statuses that reject the caller. */
const REFUSALS = [400, 401, 403]

/**
 * Checks that the endpoint rejects a call without a signature and one with an invalid signature. A 404 or 405 means
 * that nothing is served there, and a 429 is a rate limit. Neither rejects the signature.
 */
export const signatureRefusal: SubmissionCheck = async ({ version, visits }) => {
  if (version.card) return UNSIGNED
  if (!visits.unsigned || !visits.wronglySigned) return INLINE
  const [unsigned, wronglySigned] = await Promise.all([visits.unsigned, visits.wronglySigned])
  const evidence = {
    endpoint: version.endpoint,
    unsigned: callEvidence(unsigned),
    wrongly_signed: callEvidence(wronglySigned),
  }
  const results = [unsigned, wronglySigned]
  if (results.some(({ kind }) => kind === 'failure')) {
    return {
      status: 'failed',
      message: 'The endpoint did not answer a call without a valid signature.',
      fix: FIX,
      evidence,
    }
  }
  const statuses = results.map(({ status }) => status ?? 0)
  if (statuses.every((status) => REFUSALS.includes(status))) {
    return { status: 'passed', message: 'Calls without a valid signature are refused.', evidence }
  }
  if (statuses.every((status) => status >= 400 && status < 500)) {
    return {
      status: 'warning',
      message: 'Calls without a valid signature are refused, but for another reason.',
      fix: FIX,
      evidence,
    }
  }
  const isAccepted = statuses.some((status) => status >= 200 && status < 300)
  return {
    status: 'failed',
    message: isAccepted
      ? 'The endpoint accepts calls that the platform did not sign.'
      : 'A forged call is not refused.',
    fix: FIX,
    evidence,
  }
}
