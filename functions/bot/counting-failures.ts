import type { Work } from '#shared/domain/deps.ts'
import { countFailure } from '#shared/http/failures.ts'

/** Whoever signs in here has no credential yet: wrong data counts against their address as a wrong credential does. */
export const countingFailures = async <T>(work: Work, authenticated: () => Promise<T>): Promise<T> => {
  try {
    return await authenticated()
  } catch (error) {
    throw await countFailure(work, work.sourceIp, error)
  }
}
