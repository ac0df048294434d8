import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useData } from '../../../ui/data.ts'
import { count } from '../../../ui/format.ts'
import { Empty, Shown } from '../../../ui/screen.tsx'
import type { Observed } from '../api.ts'

/** Records per page. */
const LIMIT = 50

/** Largest offset that admin lists accept. */
const FURTHEST = 10_000

export interface At {
  limit: number
  offset: number
}

/** Current page of a list, with links to the previous and next one. */
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
        {items.length === 0 ? 'None' : `${count(offset + 1)}–${count(offset + items.length)}`} of {count(total)}
      </span>
      <button type="button" disabled={next >= total || next > FURTHEST} onClick={() => go(next)}>
        Next
      </button>
    </nav>
  )
}

/**
 * A paged list of the admin API.
 * @param name cache key for {@link refreshTokens}, including filters
 */
export function Listing<T extends { id: string }>({
  name,
  read,
  none,
  children,
}: {
  name: string
  read: (at: At) => Promise<Observed<T>>
  /** Message of an empty list. */
  none: string
  children: (item: T) => ComponentChildren
}) {
  const [{ offset, of }, setAt] = useState({ offset: 0, of: name })
  // Changing a filter starts again from the first page.
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
