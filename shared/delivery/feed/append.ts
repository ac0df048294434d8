import { OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { ConditionFailed, ifUnchanged, type Write } from '#shared/table/entity.ts'
import { either, lt, missing, oneOf } from '#shared/table/expressions.ts'
import type { Table } from '#shared/table/table.ts'
import { definitionOf } from '../catalogue/catalogue.ts'
import {
  eventsOf,
  type FeedEntry,
  FeedEntryEntity,
  FeedHeadEntity,
  FeedMarkEntity,
  lastNumberOf,
  type NumberedEvent,
} from './entity.ts'

/** An event to append. */
export interface Appending {
  event: OutboxEvent
  /**
   * Does all that is left to do for the event. Absent if other feeds get it, too.
   * @param n the event's number
   * @returns true if the event is no longer due; otherwise a worker that it woke settles the event and records its position
   */
  finish?: ((n: number) => Promise<boolean>) | undefined
}

/** Outcome by event: whether it was finished, or the error of that. Events without one were in the feed already. */
export type Appended = Map<string, PromiseSettledResult<boolean>>

/** Last entries of a feed, whose events may have no recorded position: a worker that delivers an event records it. */
const UNRECORDED_ENTRIES = 3

/** Reads the last entries of a feed, newest first. */
export const loadLatest = async (table: Table, installation_id: string): Promise<FeedEntry[]> =>
  (await table.query(FeedEntryEntity, { installation_id }, { limit: UNRECORDED_ENTRIES })).items

/** Records positions for workers that died before they did so, and what should have followed their entries. */
const recordLost = async (table: Table, lost: readonly { entry: FeedEntry; event: NumberedEvent }[]): Promise<void> => {
  for (const entry of new Set(lost.map((one) => one.entry))) if (movesFloor(entry)) await moveFloor(table, entry)
  await Promise.all(lost.map(({ entry, event }) => recordPosition(table, entry.installation_id, event, false)))
}

/** Numbers that a floor reserves, so that it is rarely written. */
const RESERVED = 100

/**
 * Appends events in one entry:
 *
 *     read the last entries ─► read the positions of the events in the oldest of them, and of the new ones ─► record
 *     those that are missing ─► create the entry under the next number, if no other worker has ─► record the positions of its events
 *
 * The entry's key is the lock: the worker that creates it gets the number. Only the last {@link UNRECORDED_ENTRIES} can have events
 * whose position isn't recorded, because those of older ones are recorded before the next append. A worker therefore finds an event
 * that was appended before, by itself or another one that died at any point, in these entries or by its position. Positions
 * are read after the entries: one that is recorded later means that the next number is taken, too.
 * @throws {ConditionFailed} if another worker appended at the same time
 */
export const appendEntry = async (
  table: Table,
  installation_id: string,
  appending: readonly Appending[],
): Promise<Appended> => {
  const latest = await loadLatest(table, installation_id)
  const [last] = latest
  const leaving = latest[UNRECORDED_ENTRIES - 1]
  const positions = await loadPositions(table, installation_id, appending, leaving ? eventsOf(leaving) : [])
  const known = new Map(latest.flatMap((entry) => eventsOf(entry).map((event) => [event.event_id, { entry, event }])))
  const again = appending.flatMap(({ event }) => known.get(event.id) ?? [])
  const looked = [...(leaving ? eventsOf(leaving).map((event) => ({ entry: leaving, event })) : []), ...again]
  await recordLost(
    table,
    looked.filter(({ event }) => positions.get(event.event_id) === 'none'),
  )
  const fresh = appending.filter(({ event }) => positions.get(event.id) === 'none' && !known.has(event.id))
  if (fresh.length === 0) return new Map()
  const n = last ? lastNumberOf(last) + 1 : await firstNumber(table, installation_id)
  const entry: FeedEntry = { ...entryOf(installation_id, n, fresh), ...(!last && { first: true }) }
  await createEntry(table, entry)
  return finishAll(table, entry, fresh)
}

const createEntry = async (table: Table, entry: FeedEntry): Promise<void> => {
  await table.transact([FeedEntryEntity.create(entry)])
  if (movesFloor(entry)) await moveFloor(table, entry)
}

const finishAll = async (table: Table, entry: FeedEntry, appended: readonly Appending[]): Promise<Appended> => {
  const numbered = eventsOf(entry)
  const results = await Promise.allSettled(
    appended.map((one, i) => finishAppended(table, entry.installation_id, one, numbered[i] as NumberedEvent)),
  )
  return new Map(appended.map(({ event }, i) => [event.id, results[i] as PromiseSettledResult<boolean>]))
}

/**
 * Finishes an event and records its position in the same write, or records the position alone. If another worker settles the
 * event, that one records the position, or the append that pushes its entry out of the last ones does.
 * @returns true if the event was finished
 */
const finishAppended = async (
  table: Table,
  installationId: string,
  { event, finish }: Appending,
  numbered: NumberedEvent,
): Promise<boolean> => {
  const finishing = isOwn(event, installationId) ? finish : undefined
  let isSettled: boolean | undefined
  try {
    isSettled = await finishing?.(numbered.n)
  } catch (error) {
    await recordPosition(table, installationId, numbered, false)
    throw error
  }
  if (isSettled !== false) await recordPosition(table, installationId, numbered, isSettled === true)
  return isSettled !== undefined
}

const isOwn = (event: OutboxEvent | undefined, installationId: string): event is OutboxEvent =>
  event?.installation_id === installationId

const entryOf = (installation_id: string, n: number, fresh: readonly Appending[]): FeedEntry => {
  const [first, ...more] = fresh.map(({ event }) => ({
    event_id: event.id,
    type: event.type,
    created_at: event.created_at,
    own: isOwn(event, installation_id),
  })) as [Omit<NumberedEvent, 'n'>, ...Omit<NumberedEvent, 'n'>[]]
  const copy = more.length === 0 && fresh[0] ? copyOf(fresh[0].event) : undefined
  return { installation_id, n, ...first, ...(more.length > 0 && { more }), ...(copy && { copy }) }
}

/** Most bytes of data that an entry holds. Its item then still costs one unit to write. */
const COPIED_BYTES = 600

/** Returns the copy of a small event without personal data, which the deletion of a person changes in its record alone. */
const copyOf = ({ type, workspace_id, data, private_to, test }: OutboxEvent): FeedEntry['copy'] => {
  const definition = definitionOf(type)
  if (definition === undefined || definition.personal || type.startsWith('custom.')) return undefined
  if (private_to !== undefined || test || Buffer.byteLength(data) > COPIED_BYTES) return undefined
  return { workspace_id, data }
}

/**
 * Reads which events have a position in the feed. One whose record is gone needs none, because it can't be read.
 * @param appended events of an entry, which says where their positions are
 */
const loadPositions = async (
  table: Table,
  installation_id: string,
  appending: readonly Appending[],
  appended: readonly NumberedEvent[],
): Promise<Map<string, 'recorded' | 'none' | 'gone'>> => {
  const refsOf = (id: string, own: boolean) => {
    const event = OutboxEntity.ref({ id })
    return own ? [event] : [event, FeedMarkEntity.ref({ installation_id, event_id: id })]
  }
  const wanted = [
    ...appending.map(({ event }) => ({ id: event.id, own: isOwn(event, installation_id) })),
    ...appended.map(({ event_id: id, own }) => ({ id, own })),
  ].map(({ id, own }) => ({ id, refs: refsOf(id, own) }))
  const found = await table.getAll(wanted.flatMap(({ refs }) => refs))
  const positions = new Map<string, 'recorded' | 'none' | 'gone'>()
  let place = 0
  for (const { id, refs } of wanted) {
    const event = found[place] as OutboxEvent | undefined
    const isMarked = refs.length > 1 && found[place + 1] !== undefined
    place += refs.length
    const isRecorded = isMarked || ownNumberOf(event, installation_id) !== undefined
    positions.set(id, isRecorded ? 'recorded' : event ? 'none' : 'gone')
  }
  return positions
}

/** Returns the number that an event stores for the feed of its own installation. */
export const ownNumberOf = (event: OutboxEvent | undefined, installationId: string): number | undefined =>
  isOwn(event, installationId) ? event.feed_n : undefined

/** Records an event's position, which may happen again. @param settle the event is no longer due */
const recordPosition = async (
  table: Table,
  installation_id: string,
  { event_id, n, created_at, own }: NumberedEvent,
  settle: boolean,
): Promise<void> => {
  const write: Write = own
    ? OutboxEntity.update(
        { id: event_id },
        { set: { feed_n: n, ...(settle && { due_at: undefined }) } },
        { where: { feed_n: either(missing, oneOf(n)) } },
      )
    : FeedMarkEntity.replace({ installation_id, event_id, n, created_at })
  // The event may have been deleted in the meantime.
  await ifUnchanged(table.transact([write]))
}

const floorOf = (n: number): number => Math.ceil(n / RESERVED) * RESERVED

/** Returns true if an entry's numbers are the first above the floor. */
const movesFloor = (entry: FeedEntry): boolean => entry.first === true || floorOf(entry.n - 1) < lastNumberOf(entry)

/** Ensures that numbers continue above an entry's number after all entries have expired. */
const moveFloor = async (table: Table, entry: FeedEntry): Promise<void> => {
  const { installation_id } = entry
  const floor = floorOf(lastNumberOf(entry))
  await ifUnchanged(
    table.transact([
      FeedHeadEntity.upsert(
        { installation_id },
        { set: { installation_id, floor } },
        { where: { floor: either(missing, lt(floor)) } },
      ),
    ]),
  )
}

/**
 * Returns the next number of a feed without entries. The floor moves after the entry was created that needs it. If there is
 * still no entry after the floor was read, all workers have read the same floor.
 * @throws {ConditionFailed} if there is one
 */
const firstNumber = async (table: Table, installation_id: string): Promise<number> => {
  const head = await table.get(FeedHeadEntity, { installation_id })
  const [last] = (await table.query(FeedEntryEntity, { installation_id }, { limit: 1 })).items
  if (last) throw new ConditionFailed(FeedEntryEntity.ref(last), last)
  return (head?.floor ?? 0) + 1
}
