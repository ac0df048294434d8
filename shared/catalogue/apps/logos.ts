import type { Work } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { logoFetchWrites } from '../logos/request.ts'
import type { App } from './entity.ts'

type Pictured = Pick<App, 'id'> & Partial<Pick<App, 'logo' | 'screenshots' | 'uploads' | 'pending_revision'>>

/** Lists the hashes of the images that an app shows, will show once its revision is approved, or was given for its listing. */
export const imageHashes = ({ logo, screenshots, uploads, pending_revision: next }: Pictured): string[] => [
  ...[logo?.hash, next?.logo?.hash].filter((hash) => hash !== undefined),
  ...[screenshots, next?.changes.screenshots, uploads].flatMap((images = []) => images.map(({ id }) => id)),
]

/**
 * Returns the writes that fetch the image that a changed app lacks, and delete those that it no longer needs.
 * @param after without images for an app that is deleted
 * @param lacks true if the change set an address whose image is to be fetched
 */
export const logoChangeWrites = async (
  work: Pick<Work, 'clock' | 'table'>,
  before: Pictured,
  after: Pictured,
  lacks = false,
): Promise<Write[]> => {
  const kept = imageHashes(after)
  const unused = imageHashes(before).filter((hash) => !kept.includes(hash))
  return lacks || unused.length > 0 ? logoFetchWrites(work, after.id, unused) : []
}
