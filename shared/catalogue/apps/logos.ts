import type { Work } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { logoFetchWrites } from '../logos/request.ts'
import type { App } from './entity.ts'

/** Lists the hashes of the images that an app shows, or will show once its revision is approved. */
export const logoHashes = ({ logo, pending_revision }: Pick<App, 'logo' | 'pending_revision'>): string[] =>
  [logo?.hash, pending_revision?.logo?.hash].filter((hash) => hash !== undefined)

/**
 * Returns the writes that fetch the image that a changed app lacks, and delete the one that it no longer needs.
 * @param lacks true if the change set an address whose image is to be fetched
 */
export const logoChangeWrites = (work: Pick<Work, 'clock' | 'id'>, before: App, after: App, lacks = false): Write[] => {
  const kept = logoHashes(after)
  const removes = logoHashes(before).find((hash) => !kept.includes(hash))
  return lacks || removes !== undefined ? logoFetchWrites(work, after.id, removes === undefined ? {} : { removes }) : []
}
