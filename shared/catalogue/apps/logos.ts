import type { Work } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { LogoFetchEntity } from '../logos/entity.ts'
import { logoFetchWrites } from '../logos/request.ts'
import type { App } from './entity.ts'

/** Lists the hashes of the images that an app shows, will show once its revision is approved, or was given for its listing. */
export const imageHashes = ({ logo, screenshots, uploads, pending_revision: next }: App): string[] => [
  ...[logo?.hash, next?.logo?.hash].filter((hash) => hash !== undefined),
  ...[screenshots, next?.changes.screenshots, uploads].flatMap((images = []) => images.map(({ id }) => id)),
]

/**
 * Returns the writes that fetch the image that a changed app lacks, and delete those that it no longer needs.
 * @param lacks true if the change set an address whose image is to be fetched
 */
export const logoChangeWrites = async (
  work: Pick<Work, 'clock' | 'id' | 'table'>,
  before: App,
  after: App,
  lacks = false,
): Promise<Write[]> => {
  const kept = imageHashes(after)
  const unused = imageHashes(before).filter((hash) => !kept.includes(hash))
  return lacks || unused.length > 0
    ? logoFetchWrites(work, after.id, { unused: await withWaiting(work, after.id, unused) })
    : []
}

/** Adds the images whose deletion still waits, because a new request replaces the record that names them. */
export const withWaiting = async (
  { table }: Pick<Work, 'table'>,
  owner: string,
  unused: readonly string[],
): Promise<string[]> => {
  const waiting = await table.get(LogoFetchEntity, { owner })
  return [...new Set([...(waiting?.unused ?? []), ...[waiting?.removes ?? []].flat(), ...unused])]
}
