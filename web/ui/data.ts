import { type Signal, signal } from '@preact/signals'
import { useCallback, useEffect } from 'preact/hooks'
import { type Failure, toFailure } from '../session/failure.ts'
import { whenReachable } from '../session/reachable.ts'

/** State of a request for data. */
export interface Known<T> {
  data?: T
  failure?: Failure
  loading: boolean
}

interface Entry<T> {
  known: Signal<Known<T>>
  load: () => Promise<T>
  watchers: number
  /** Number of the latest request. Responses to older ones are dropped. */
  turn: number
  /** Settles when the latest request is over. */
  latest?: Promise<void>
  /** The user has loaded further pages. They stay for the way back, and the first one is loaded again then. */
  deep?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: each key has a type of its own
const entries = new Map<string, Entry<any>>()

const entryOf = <T>(key: string, load: () => Promise<T>): Entry<T> => {
  const found = entries.get(key)
  if (found) return found
  const made: Entry<T> = { known: signal<Known<T>>({ loading: true }), load, watchers: 0, turn: 0 }
  entries.set(key, made)
  return made
}

/** Loads an entry. If a later load overtakes this one, its data is the one to wait for. */
const loadEntry = <T>(entry: Entry<T>): Promise<void> => {
  const loaded: Promise<void> = request(entry).then(() => (entry.latest === loaded ? undefined : entry.latest))
  entry.latest = loaded
  return loaded
}

const request = async <T>(entry: Entry<T>): Promise<void> => {
  const turn = ++entry.turn
  entry.known.value = { ...entry.known.value, loading: true }
  try {
    const data = await entry.load()
    if (turn === entry.turn) entry.known.value = { data, loading: false }
  } catch (error) {
    if (turn !== entry.turn) return
    const failure = toFailure(error)
    const { retryAfter } = failure
    const { data } = entry.known.value
    // The previous data stays visible, without an alert if the next attempt follows by itself.
    entry.known.value = { data, loading: false, ...(!(data && retryAfter) && { failure }) }
    const again = (): void => {
      if (turn !== entry.turn || !entry.watchers) return
      if (document.hidden) document.addEventListener('visibilitychange', again, { once: true })
      else void loadEntry(entry)
    }
    if (failure.code === 'no_connection') whenReachable(again)
    // With jitter, so that what was refused together doesn't come back together.
    if (retryAfter) setTimeout(again, retryAfter * (1 + Math.random()) * 1_000)
  }
}

/** Returns cached data at once, and reloads it when a screen mounts. What another part of the page shows is current already. */
export const useData = <T>(key: string, load: () => Promise<T>): Known<T> & { reload: () => Promise<void> } => {
  const entry = entryOf(key, load)
  entry.load = load
  useEffect(() => {
    if (entry.watchers++ === 0 || entry.known.value.failure) void loadEntry(entry)
    return () => {
      entry.watchers--
    }
  }, [entry])
  const reload = useCallback(() => loadEntry(entry), [entry])
  return { ...entry.known.value, reload }
}

/** Reloads visible data whose key starts with one of the prefixes. Drops such data that isn't visible, but for long lists. */
export const refresh = (...prefixes: string[]): Promise<unknown> => {
  const asked: Promise<void>[] = []
  for (const [key, entry] of entries) {
    if (!prefixes.some((prefix) => key.startsWith(prefix))) continue
    if (entry.watchers > 0) asked.push(loadEntry(entry))
    else if (!entry.deep) entries.delete(key)
  }
  return Promise.all(asked)
}

/** Changes cached data without a request. Returns a function that undoes the change. */
export const patch = <T>(key: string, change: (data: T) => T): (() => void) => {
  const entry = entries.get(key) as Entry<T> | undefined
  const before = entry?.known.value
  if (!entry || before?.data === undefined) return () => {}
  entry.turn++
  entry.known.value = { data: change(before.data), loading: false }
  return () => {
    entry.known.value = before
  }
}

/** Clears all cached data when the user or the workspace changes. */
export const clearCache = (): void => entries.clear()

export interface Page<T> {
  items: T[]
  next_cursor: string | null
}

/** Loads a paged list: the pages so far, and more on demand. */
export const usePages = <T extends { id: string }>(key: string, read: (cursor?: string) => Promise<Page<T>>) => {
  const entry = entries.get(key) as Entry<Page<T>> | undefined
  const list = useData<Page<T>>(key, async () => mergePages(await read(), entry?.known.value.data))
  const more = async (): Promise<void> => {
    const before = list.data
    if (!before?.next_cursor) return
    const next = await read(before.next_cursor)
    const long = entries.get(key)
    if (long) long.deep = true
    patch<Page<T>>(key, ({ items }) => ({
      items: [...items, ...next.items.filter(({ id }) => !items.some((one) => one.id === id))],
      next_cursor: next.next_cursor,
    }))
  }
  return { ...list, items: list.data?.items, more: list.data?.next_cursor ? more : undefined }
}

/** Joins a reloaded first page with the pages loaded after it before. */
const mergePages = <T extends { id: string }>(first: Page<T>, before: Page<T> | undefined): Page<T> => {
  const last = first.items.at(-1)
  const at = before?.items.findIndex(({ id }) => id === last?.id) ?? -1
  if (!before || !first.next_cursor || at < 0 || at === before.items.length - 1) return first
  return { items: [...first.items, ...before.items.slice(at + 1)], next_cursor: before.next_cursor }
}
