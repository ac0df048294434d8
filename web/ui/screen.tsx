import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { pageName } from '../session/config.ts'
import { sanitize } from '../session/text.ts'
import { useAction } from './act.ts'
import { Boundary } from './boundary.tsx'
import type { Known } from './data.ts'
import { Icon } from './icons.tsx'
import { t } from './messages.ts'
import { Problem } from './problem.tsx'
import { place, restoreScroll } from './router.ts'

/** True until the first screen is shown. The first screen leaves the focus where the browser put it. */
let first = true

/** A screen with a heading, which receives focus on navigation. */
export const Screen = ({
  title,
  heading: shown = title,
  actions,
  wide,
  back,
  children,
}: {
  title: string
  /** Visible heading, if the title of the window says more. */
  heading?: string
  actions?: ComponentChildren
  /** Uses the full width. */
  wide?: boolean
  back?: { to: string; label: string }
  children: ComponentChildren
}) => {
  const heading = useRef<HTMLHeadingElement>(null)
  const { path } = place.value
  useEffect(() => {
    if (first) first = false
    else heading.current?.focus({ preventScroll: true })
    return restoreScroll()
  }, [path])
  useEffect(() => {
    document.title = `${sanitize(title)} · ${pageName}`
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
          <bdi>{sanitize(shown)}</bdi>
        </h1>
        {actions && <div class="actions">{actions}</div>}
      </div>
      <Boundary kind="content" about={children}>
        {children}
      </Boundary>
    </div>
  )
}

export const Skeleton = ({ rows = 4, tall }: { rows?: number; tall?: boolean }) => (
  <div class="skeleton" role="status">
    <span class="unseen">{t('Loading…')}</span>
    {Array.from({ length: rows }, (_, i) => (
      <span key={i} class={tall ? 'bone tall' : 'bone'} aria-hidden="true" />
    ))}
  </div>
)

/** @param icon of the screen whose records will be here */
export const Empty = ({
  title,
  icon,
  children,
}: {
  title: string
  icon?: Parameters<typeof Icon>[0]['name']
  children?: ComponentChildren
}) => (
  <div class="empty">
    {icon && <Icon name={icon} />}
    <p>
      <strong>{title}</strong>
    </p>
    {children}
  </div>
)

/** Renders loaded data, or its skeleton while it loads, or the error. */
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
  const { busy, failure, act } = useAction()
  if (!more) return null
  return (
    <div class="more">
      {failure && <Problem failure={failure} />}
      <button type="button" aria-busy={busy} onClick={() => act(more)}>
        {t('Show more')}
      </button>
    </div>
  )
}
