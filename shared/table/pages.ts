import type { Page } from './table.ts'

type Read<T> = (after: string | undefined) => Promise<Page<T>>

/** Yields the pages of a list. An index may still hold keys of deleted items, so an empty page isn't the last. */
export async function* eachPage<T>(read: Read<T>): AsyncGenerator<T[]> {
  let after: string | undefined
  do {
    const page = await read(after)
    yield page.items
    after = page.next
  } while (after !== undefined)
}

/** Yields the items of a list, reading page by page. */
export async function* eachItem<T>(read: Read<T>): AsyncGenerator<T> {
  for await (const items of eachPage(read)) yield* items
}

/** Returns all items of a list whose length is bounded elsewhere. */
export const allItems = async <T>(read: Read<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const items of eachPage(read)) all.push(...items)
  return all
}
