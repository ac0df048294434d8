import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'

/** Distance outside the window, in pixels, at which items are rendered before they scroll into it. */
const AHEAD = 400

const rootSize = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16

/** Place of an item in its list. */
interface Placed {
  style: { top: string; height: string }
  'aria-setsize': number
  'aria-posinset': number
}

/**
 * A list that renders only the items near the window. Heights are known beforehand, in rem, so that thousands of items cost
 * no layout.
 */
export function Windowed<T extends { id: string }>({
  items,
  heightOf,
  keep,
  children,
}: {
  items: readonly T[]
  /** Height of an item including the gap below it. */
  heightOf: (item: T) => number
  /** Id of an item that stays rendered, because it has the focus. */
  keep?: string | undefined
  children: (item: T, placed: Placed) => ComponentChildren
}) {
  const list = useRef<HTMLUListElement>(null)
  const tops = useMemo(() => {
    let top = 0
    return items.map((item) => {
      const at = top
      top += heightOf(item)
      return at
    })
  }, [items, heightOf])
  const last = items.at(-1)
  const total = last ? (tops.at(-1) ?? 0) + heightOf(last) : 0
  const [[from, to], setRange] = useState<readonly [number, number]>([0, 60])
  useLayoutEffect(() => {
    let frame = 0
    const measure = (): void => {
      frame = 0
      const box = list.current?.getBoundingClientRect()
      if (!box) return
      const size = rootSize()
      const range = [(-AHEAD - box.top) / size, (innerHeight + AHEAD - box.top) / size] as const
      setRange((before) => (Math.abs(before[0] - range[0]) + Math.abs(before[1] - range[1]) < 4 ? before : range))
    }
    const later = (): void => {
      frame ||= requestAnimationFrame(measure)
    }
    measure()
    // Captured, because a column may scroll within the page.
    document.addEventListener('scroll', later, { capture: true, passive: true })
    addEventListener('resize', later)
    return () => {
      cancelAnimationFrame(frame)
      document.removeEventListener('scroll', later, { capture: true })
      removeEventListener('resize', later)
    }
  }, [items])
  return (
    <ul ref={list} style={{ position: 'relative', height: `${total}rem` }}>
      {items.map((item, i) => {
        const top = tops[i] ?? 0
        const height = heightOf(item)
        if ((top + height < from || top > to) && item.id !== keep) return null
        return children(item, {
          style: { top: `${top}rem`, height: `${height}rem` },
          'aria-setsize': items.length,
          'aria-posinset': i + 1,
        })
      })}
    </ul>
  )
}
