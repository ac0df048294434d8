import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { sanitize } from '../session/text.ts'
import { holdFocus, useAction } from './act.ts'
import { TextField } from './form.tsx'
import { rich, t } from './messages.ts'
import { Problem } from './problem.tsx'
import { Name } from './text.tsx'

/** A native dialog, which traps focus and closes on Escape. */
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
  // A layout effect runs before the dialog leaves the page, so that focus is never lost in between.
  useLayoutEffect(() => {
    const opener = document.activeElement
    const keepFocus = holdFocus()
    const own = dialog.current
    own?.showModal()
    return () => {
      // Elements outside an open dialog can't receive focus.
      own?.close()
      if (opener instanceof HTMLElement) opener.focus()
      keepFocus()
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
        <h2 id={id}>{sanitize(title)}</h2>
        <button type="button" class="quiet" onClick={onClose}>
          {t('Close')}
        </button>
      </div>
      {children}
    </dialog>
  )
}

/** A button that asks for confirmation before an action that can't be undone, or that others learn of. */
export const Confirm = ({
  safe,
  label,
  title,
  verb,
  act: what,
  children,
  quiet,
  typed,
}: {
  /** It destroys nothing. */
  safe?: boolean
  label: ComponentChildren
  title: string
  verb: string
  act: () => Promise<unknown>
  /** Consequences of the action. */
  children: ComponentChildren
  quiet?: boolean
  /** Text that the user has to type first, such as the name of what is deleted. */
  typed?: string
}) => {
  const [text, setText] = useState('')
  const [open, setOpen] = useState(false)
  const { busy, failure, act, clear } = useAction()
  const close = () => {
    clear()
    setText('')
    setOpen(false)
  }
  return (
    <>
      <button
        type="button"
        class={[quiet && 'quiet', !safe && 'danger'].filter(Boolean).join(' ')}
        onClick={() => setOpen(true)}
      >
        {typeof label === 'string' ? sanitize(label) : label}
      </button>
      {open && (
        <Modal title={title} onClose={close}>
          {children}
          {typed !== undefined && (
            <TextField
              label={rich('Type {typed} to confirm', { typed: <Name>{typed}</Name> })}
              value={text}
              autocomplete="off"
              spellcheck={false}
              onText={setText}
            />
          )}
          {failure && <Problem failure={failure} />}
          <div class="actions">
            <button type="button" onClick={close}>
              {t('Cancel')}
            </button>
            <button
              type="button"
              class={safe ? 'primary' : 'danger'}
              aria-busy={busy}
              disabled={typed !== undefined && text.trim() !== typed.trim()}
              onClick={async () => (await act(what)) && close()}
            >
              {verb}
            </button>
          </div>
        </Modal>
      )}
    </>
  )
}
