import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { pageName } from '../../../session/config.ts'
import { clean } from '../../../session/text.ts'
import type { Known } from '../data.ts'
import { place } from '../router.ts'
import { useAct } from './act.ts'
import { Problem } from './problem.tsx'

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

/** The browser’s own dialog: it keeps the focus inside, and Escape closes it. */
export const Modal = ({
  title,
  onClose,
  children,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the dialog leaves the page, so that the focus is never lost in between.
  useLayoutEffect(() => {
    const opener = document.activeElement
    const own = dialog.current
    own?.showModal()
    return () => {
      // While it is open, nothing outside of it takes the focus.
      own?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <div class="head">
        <h2 id={id}>{clean(title)}</h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  )
}

/** A button that asks once more before it does something that cannot be taken back. */
export const Confirm = ({
  label,
  title,
  verb,
  act: what,
  children,
  quiet,
}: {
  label: ComponentChildren
  title: string
  verb: string
  act: () => Promise<unknown>
  /** What will happen. */
  children: ComponentChildren
  quiet?: boolean
}) => {
  const [open, setOpen] = useState(false)
  const { busy, failure, act, clear } = useAct()
  const close = () => {
    clear()
    setOpen(false)
  }
  return (
    <>
      <button type="button" class={quiet ? 'quiet danger' : 'danger'} onClick={() => setOpen(true)}>
        {typeof label === 'string' ? clean(label) : label}
      </button>
      {open && (
        <Modal title={title} onClose={close}>
          {children}
          {failure && <Problem failure={failure} />}
          <div class="actions">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="button" class="danger" aria-busy={busy} onClick={async () => (await act(what)) && close()}>
              {verb}
            </button>
          </div>
        </Modal>
      )}
    </>
  )
}

/** A field with its label, a hint and what is wrong with it, connected for screen readers. */
export const Field = ({
  label,
  hint,
  problem,
  children,
}: {
  label: ComponentChildren
  hint?: ComponentChildren
  problem?: string | undefined
  children: (attributes: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ComponentChildren
}) => {
  const id = useId()
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({ id, ...(described && { 'aria-describedby': described }), ...(problem && { 'aria-invalid': true }) })}
      {problem && (
        <p class="wrong" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

/** A form that is sent once at a time. */
export const Form = ({
  send,
  verb,
  done,
  children,
  disabled,
}: {
  send: () => Promise<unknown>
  verb: string
  done?: () => void
  children:
    | ComponentChildren
    | ((failure: import('../../../session/failure.ts').Failure | undefined) => ComponentChildren)
  disabled?: boolean
}) => {
  const { busy, failure, act } = useAct()
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault()
        if (await act(send)) done?.()
      }}
    >
      {typeof children === 'function' ? children(failure) : children}
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="submit" class="primary" aria-busy={busy} disabled={disabled}>
          {clean(verb)}
        </button>
      </div>
    </form>
  )
}
