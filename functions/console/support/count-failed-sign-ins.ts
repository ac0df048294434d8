import type { Work } from '#shared/foundation/work/index.ts'
import { countFailure } from '#shared/http/failed-authentications.ts'

/** Counts a failed sign-in against the caller's address, as a wrong credential counts elsewhere. */
export const countFailedSignIns = async <T>(work: Work, authenticated: () => Promise<T>): Promise<T> => {
  try {
    return await authenticated()
  } catch (error) {
    throw await countFailure(work, work.sourceIp, error)
  }
}
