import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { pageName } from '../session/config.ts'
import { t } from './messages.ts'
import { Prose } from './text.tsx'

/** Kind of the children that threw: a page, the content below its heading, a part of it, an item of a list, a call, or a text. */
export type Kind = 'page' | 'content' | 'part' | 'item' | 'call' | 'text'

const titleOf = (kind: Kind): string => {
  if (kind === 'part') return t('This part of the page couldn’t be shown.')
  if (kind === 'item') return t('This can’t be shown.')
  if (kind === 'call') return t('This call can’t be shown, so it can’t be decided here.')
  return t('This page couldn’t be shown.')
}

/** Shows an error in place of the children. A text can be shown without its formatting. */
export const Unshown = ({
  kind,
  text,
  retry,
}: {
  kind: Kind
  /** Returns the text that was to be formatted. */
  text?: (() => string) | undefined
  retry: () => void
}) => {
  const [isPlain, setPlain] = useState(false)
  if (isPlain && text) return <Prose text={text()} />
  const notice = text ? (
    <div class="note warn">
      <p>{t('This text can’t be shown with its formatting.')}</p>
      <button type="button" onClick={() => setPlain(true)}>
        {t('Show as plain text')}
      </button>
    </div>
  ) : (
    <div class="problem" role="alert">
      <p>
        <strong>{titleOf(kind)}</strong> {t('The rest of the page still works.')}
      </p>
      <button type="button" onClick={retry}>
        {t('Try again')}
      </button>
    </div>
  )
  return kind === 'page' ? <Page>{notice}</Page> : notice
}

/** A screen of its own. `Screen` has a boundary, which loads this file. */
const Page = ({ children }: { children: ComponentChildren }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  const title = t('Couldn’t show this page')
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    document.title = `${title} · ${pageName}`
  }, [title])
  return (
    <div class="screen">
      <div class="head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
      </div>
      {children}
    </div>
  )
}
