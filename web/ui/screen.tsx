import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { pageName } from '../session/config.ts'
import { clean } from '../session/text.ts'
import { useAct } from './act.ts'
import type { Known } from './data.ts'
import { Problem } from './problem.tsx'
import { place } from './router.ts'

/** True until the first screen was shown: then the focus stays where the browser put it. */
let first = true

/** A screen with its heading, which gets the focus when the person goes there. */
export const Screen = ({
  title,
  actions,
  wide,
  back,
  children,
}: {
  title: string
  actions?: ComponentChildren
  /** Uses all the width there is. */
  wide?: boolean
  back?: { to: string; label: string }
  children: ComponentChildren
}) => {
  const heading = useRef<HTMLHeadingElement>(null)
  const { path } = place.value
  useEffect(() => {
    if (first) first = false
    else heading.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [path])
  useEffect(() => {
    document.title = `${clean(title)} · ${pageName}`
  }, [title])
  return (
    <div class={wide ? 'screen wide' : 'screen'}>
      {back && (
        <a class="back" href={`#${back.to}`}>
          <span aria-hidden="true">←</span>
          {back.label}
        </a>
      )}
      <div class="head">
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{clean(title)}</bdi>
        </h1>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </div>
  )
}

export const Skeleton = ({ rows = 4, tall }: { rows?: number; tall?: boolean }) => (
  <div class="skeleton" role="status">
    <span class="unseen">Loading…</span>
    {Array.from({ length: rows }, (_, i) => (
      <span key={i} class={tall ? 'bone tall' : 'bone'} aria-hidden="true" />
    ))}
  </div>
)

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <p>
      <strong>{title}</strong>
    </p>
    {children}
  </div>
)

/** Something that was asked for: its skeleton, what is wrong, or itself. */
export function Shown<T>({
  known,
  rows,
  tall,
  children,
}: {
  known: Known<T> & { reload: () => void }
  rows?: number
  tall?: boolean
  children: (data: T) => ComponentChildren
}) {
  const { data, failure, reload } = known
  return (
    <>
      {failure && (
        <Problem failure={failure} retry={failure.status === 404 || failure.status === 403 ? undefined : reload} />
      )}
      {data === undefined ? !failure && <Skeleton {...(rows && { rows })} {...(tall && { tall })} /> : children(data)}
    </>
  )
}

export const More = ({ more }: { more: (() => Promise<void>) | undefined }) => {
  const { busy, failure, act } = useAct()
  if (!more) return null
  return (
    <div class="more">
      {failure && <Problem failure={failure} />}
      <button type="button" aria-busy={busy} onClick={() => act(more)}>
        Show more
      </button>
    </div>
  )
}
