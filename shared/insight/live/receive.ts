import { takeFromBucket } from '#shared/foundation/limits/index.ts'
import { verifyToken } from '#shared/foundation/tokens/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { loadSession } from '#shared/identity/people/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { addConnection, findConnection, live, type NewConnection, removeConnections } from './connections.ts'
import { type LiveConnection, OpenPagesEntity } from './entity.ts'
import { endConnection, pushToPerson, updatesFor } from './push.ts'
import { Hello } from './schemas.ts'

type Receiving = Pick<Deps, 'table' | 'clock' | 'sockets' | 'log' | 'keys' | 'settings'>

/**
 * Handles a page's message: checks its token, records the connection, and answers with the current counters. A page
 * compares them with those it had, so it resumes without a gap. Its heartbeat is the same message, which checks the
 * token again.
 */
export const receiveMessage = async (deps: Receiving, id: string, text: string): Promise<void> => {
  const { allowed } = await takeFromBucket(deps, `live:${id}`, LIMITS.liveMessageRate)
  if (!allowed) return refuse(deps, id, 'too_many_messages')
  const token = tokenIn(text)
  if (token === undefined) return refuse(deps, id, 'invalid_message')
  const verified = await verifyToken(deps, token, ['console'])
  const claims = verified?.kind === 'console' ? verified.claims : undefined
  const signedIn = claims && (await loadSession(deps, claims))
  if (!signedIn) return refuse(deps, id, 'signed_out')
  const { member, session } = signedIn
  const before = await findConnection(deps, id)
  const isSame = before?.workspace_id === member.workspace_id && before.user_id === member.user_id
  if (before && !isSame) await removeConnections(deps, before, [id])
  const connection = { id, session_id: session.id, member_since: member.joined_at }
  const isRecorded = before && isSame && (await isConnected(deps, before, connection))
  if (!isRecorded) {
    if (!(await admit(deps, member, connection))) return refuse(deps, id, 'too_many_connections')
    // A session that ended before its connection was recorded found no page to close.
    if (!(await loadSession(deps, claims))) return refuse(deps, id, 'signed_out')
  }
  const sent = await deps.sockets.send(id, JSON.stringify(await updatesFor(deps, member)))
  if (sent === 'gone') await removeConnections(deps, member, [id])
}

/** Returns true if the connection is recorded for this session and membership, which is the case when a heartbeat arrives. */
const isConnected = async (
  { table, clock }: Receiving,
  { workspace_id, user_id }: LiveConnection,
  { id, session_id, member_since }: NewConnection,
): Promise<boolean> =>
  live(clock.now(), await table.get(OpenPagesEntity, { workspace_id, user_id })).some(
    (one) => one.id === id && one.session_id === session_id && one.member_since === member_since,
  )

/** Records the connection. At the limit, it first forgets connections that have ended without notice. */
const admit = async (
  deps: Receiving,
  viewer: { workspace_id: string; user_id: string },
  connection: NewConnection,
): Promise<boolean> => {
  const { workspace_id, user_id } = viewer
  // Connections that end at once would never reach the limit of their number.
  const { allowed } = await takeFromBucket(deps, `live-start:${user_id}`, LIMITS.liveStartRate)
  if (!allowed) return false
  if (await addConnection(deps, viewer, connection)) return true
  const pages = await deps.table.get(OpenPagesEntity, { workspace_id, user_id })
  if (pages) await pushToPerson(deps, pages)
  return addConnection(deps, viewer, connection)
}

const refuse = async (deps: Receiving, id: string, reason: Parameters<typeof endConnection>[2]): Promise<void> => {
  await endConnection(deps, id, reason)
  await forgetConnection(deps, id)
}

/** Removes the record of a connection that has ended. */
export const forgetConnection = async (deps: Pick<Deps, 'table' | 'clock'>, id: string): Promise<void> => {
  const connection = await findConnection(deps, id)
  if (connection) await removeConnections(deps, connection, [id])
}

const tokenIn = (text: string): string | undefined => {
  if (Buffer.byteLength(text) > LIMITS.liveMessageBytes) return undefined
  try {
    return Hello().safeParse(JSON.parse(text)).data?.token
  } catch {
    return undefined
  }
}
