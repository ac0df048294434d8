import type { Deps } from '#shared/foundation/work/index.ts'
import { isMembership, loadAccess } from '#shared/identity/people/index.ts'
import { forEachConcurrently } from '#shared/kernel/for-each-concurrently.ts'
import { readUpdates } from '#shared/messaging/inbox/index.ts'
import { eachPage } from '#shared/table/pages.ts'
import { live, removeConnections } from './connections.ts'
import { type OpenPages, OpenPagesEntity } from './entity.ts'
import type { EndReason, LiveMessage } from './schemas.ts'

type Pushing = Pick<Deps, 'table' | 'clock' | 'sockets' | 'log'>

/** People served in parallel, each with up to 20 connections. */
const AT_ONCE = 10

/**
 * Sends the current counters to the open pages of a workspace, or of some of its people. Each person's access is read
 * first: a page that lost it is closed instead. Sending twice does no harm, because counters replace one another.
 * @throws after all others were served, if a page could neither be reached nor closed
 */
export const pushUpdates = async (
  deps: Pushing,
  workspace_id: string,
  people: ReadonlySet<string> | undefined,
): Promise<void> => {
  if (people) {
    const found = await deps.table.getAll([...people].map((user_id) => OpenPagesEntity.ref({ workspace_id, user_id })))
    return serve(
      deps,
      found.filter((pages) => pages !== undefined),
    )
  }
  const read = (after: string | undefined) => deps.table.query(OpenPagesEntity, { workspace_id }, { limit: 100, after })
  for await (const found of eachPage(read)) await serve(deps, found)
}

const serve = async (deps: Pushing, found: readonly OpenPages[]): Promise<void> => {
  const failed = await forEachConcurrently(found, AT_ONCE, (pages) => pushToPerson(deps, pages))
  for (const error of failed.values()) throw error
}

/** Sends a person's counters to their pages, and forgets the pages that have ended. */
export const pushToPerson = async (deps: Pushing, pages: OpenPages): Promise<void> => {
  const connections = live(deps.clock.now(), pages)
  const access = await loadAccess(deps, pages, connections)
  const sessions = new Set(access?.sessions.map(({ id }) => id))
  const isAllowed = ({ session_id, member_since }: OpenPages['open'][number]) =>
    isMembership(access?.member, member_since) && sessions.has(session_id)
  const message = access && sessions.size > 0 ? await updatesFor(deps, access.member) : undefined
  const ended: string[] = []
  const failed = await forEachConcurrently(connections, connections.length, async (connection) => {
    const { id } = connection
    if (!message || !isAllowed(connection)) {
      await endConnection(deps, id, 'signed_out')
      ended.push(id)
    } else if (!(await reaches(deps, id, message))) ended.push(id)
  })
  await removeConnections(deps, pages, ended)
  for (const error of failed.values()) throw error
}

/** Sends a message. @returns false if the page has ended, or had to be closed, so that it connects again and resumes */
const reaches = async ({ sockets, log }: Pushing, id: string, message: LiveMessage): Promise<boolean> => {
  try {
    return (await sockets.send(id, JSON.stringify(message))) === 'sent'
  } catch (error) {
    log.warn('a live connection was closed, because it takes no messages', { error })
    await sockets.close(id)
    return false
  }
}

/** Returns the message with a person's current counters. */
export const updatesFor = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  member: Parameters<typeof readUpdates>[1],
): Promise<LiveMessage> => {
  const commit = deps.table.transact.bind(deps.table)
  const { version, counts, unread_notifications } = await readUpdates({ ...deps, commit }, member, undefined)
  return { type: 'updates', version, counts, unread_notifications }
}

/** Tells a page why its connection ends, and closes it. */
export const endConnection = async (
  { sockets }: Pick<Deps, 'sockets'>,
  id: string,
  reason: EndReason,
): Promise<void> => {
  const message: LiveMessage = { type: 'end', reason }
  // The page learns the reason from its next request as well.
  await sockets.send(id, JSON.stringify(message)).catch(() => undefined)
  await sockets.close(id)
}
