import { type Signal, signal } from '@preact/signals'
import { useCallback, useEffect } from 'preact/hooks'
import { asFailure, type Failure } from '../session/failure.ts'

/** What is known of something that was asked for. */
export interface Known<T> {
  data?: T
  failure?: Failure
  loading: boolean
}

interface Entry<T> {
  known: Signal<Known<T>>
  load: () => Promise<T>
  watchers: number
  /** The latest request; an older one's answer does not count. */
  turn: number
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

const ask = async <T>(entry: Entry<T>): Promise<void> => {
  const turn = ++entry.turn
  entry.known.value = { ...entry.known.value, loading: true }
  try {
    const data = await entry.load()
    if (turn === entry.turn) entry.known.value = { data, loading: false }
  } catch (error) {
    // What was known before stays in view.
    if (turn === entry.turn) entry.known.value = { ...entry.known.value, failure: asFailure(error), loading: false }
  }
}

/** What a screen shows of something: what is known at once, then what the platform says now. */
export const useData = <T>(key: string, load: () => Promise<T>): Known<T> & { reload: () => void } => {
  const entry = entryOf(key, load)
  entry.load = load
  useEffect(() => {
    entry.watchers++
    ask(entry)
    return () => {
      entry.watchers--
    }
  }, [entry])
  const reload = useCallback(() => void ask(entry), [entry])
  return { ...entry.known.value, reload }
}

/** Asks again for what is in view and begins with one of these; what is not in view is forgotten. */
export const refresh = (...prefixes: string[]): Promise<unknown> => {
  const asked: Promise<void>[] = []
  for (const [key, entry] of entries) {
    if (!prefixes.some((prefix) => key.startsWith(prefix))) continue
    if (entry.watchers > 0) asked.push(ask(entry))
    else entries.delete(key)
  }
  return Promise.all(asked)
}

/** Changes what is shown, before or without asking. @returns undoes it */
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

/** Another person, or another workspace. */
export const forgetAll = (): void => entries.clear()

export interface Page<T> {
  items: T[]
  next_cursor: string | null
}

/** A list that comes in pages: what was loaded so far, and more on demand. */
export const usePages = <T extends { id: string }>(key: string, read: (cursor?: string) => Promise<Page<T>>) => {
  const entry = entries.get(key) as Entry<Page<T>> | undefined
  const list = useData<Page<T>>(key, async () => joined(await read(), entry?.known.value.data))
  const more = async (): Promise<void> => {
    const before = list.data
    if (!before?.next_cursor) return
    const next = await read(before.next_cursor)
    patch<Page<T>>(key, ({ items }) => ({
      items: [...items, ...next.items.filter(({ id }) => !items.some((one) => one.id === id))],
      next_cursor: next.next_cursor,
    }))
  }
  return { ...list, items: list.data?.items, more: list.data?.next_cursor ? more : undefined }
}

/** A first page read again, with what was loaded behind it before. */
const joined = <T extends { id: string }>(first: Page<T>, before: Page<T> | undefined): Page<T> => {
  const last = first.items.at(-1)
  const at = before?.items.findIndex(({ id }) => id === last?.id) ?? -1
  if (!before || !first.next_cursor || at < 0 || at === before.items.length - 1) return first
  return { items: [...first.items, ...before.items.slice(at + 1)], next_cursor: before.next_cursor }
}
