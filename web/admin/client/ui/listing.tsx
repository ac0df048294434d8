import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useData } from '../../../ui/data.ts'
import { count } from '../../../ui/format.ts'
import { Empty, Shown } from '../../../ui/screen.tsx'
import type { Observed } from '../api.ts'

/** Records a page. */
const LIMIT = 50

/** What an admin list may skip (its endpoints refuse more). */
const FURTHEST = 10_000

export interface At {
  limit: number
  offset: number
}

/** Where a list stands, with the way to the pages around. */
const Pages = ({ page, go }: { page: Observed<unknown>; go: (offset: number) => void }) => {
  const { items, total, limit, offset } = page
  if (total <= limit && offset === 0) return null
  const next = offset + limit
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={offset === 0} onClick={() => go(Math.max(0, offset - limit))}>
        Previous
      </button>
      <span role="status">
        {items.length === 0 ? 'None here' : `${count(offset + 1)}–${count(offset + items.length)}`} of {count(total)}
      </span>
      <button type="button" disabled={next >= total || next > FURTHEST} onClick={() => go(next)}>
        Next
      </button>
    </nav>
  )
}

/**
 * A list of the admin API, page by page.
 * @param name what {@link refresh} knows it by; with its filters
 */
export function Listing<T extends { id: string }>({
  name,
  read,
  none,
  children,
}: {
  name: string
  read: (at: At) => Promise<Observed<T>>
  /** What an empty list says. */
  none: string
  children: (item: T) => ComponentChildren
}) {
  const [{ offset, of }, setAt] = useState({ offset: 0, of: name })
  // Another filter is another list, from its beginning.
  const from = of === name ? offset : 0
  const known = useData(`${name} ${from}`, () => read({ limit: LIMIT, offset: from }))
  return (
    <Shown known={known} rows={6}>
      {(page) => (
        <>
          {page.items.length === 0 && page.offset === 0 ? (
            <Empty title={none} />
          ) : (
            <ul class="rows">
              {page.items.map((item) => (
                <li key={item.id}>{children(item)}</li>
              ))}
            </ul>
          )}
          <Pages page={page} go={(to) => setAt({ offset: to, of: name })} />
        </>
      )}
    </Shown>
  )
}
