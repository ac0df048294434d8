import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { sanitize } from '../session/text.ts'
import { useAction } from './act.ts'
import { Problem } from './problem.tsx'

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
    const own = dialog.current
    own?.showModal()
    return () => {
      // Elements outside an open dialog can't receive focus.
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
        <h2 id={id}>{sanitize(title)}</h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  )
}

/** A button that asks for confirmation before an action that can't be undone. */
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
  /** Consequences of the action. */
  children: ComponentChildren
  quiet?: boolean
}) => {
  const [open, setOpen] = useState(false)
  const { busy, failure, act, clear } = useAction()
  const close = () => {
    clear()
    setOpen(false)
  }
  return (
    <>
      <button type="button" class={quiet ? 'quiet danger' : 'danger'} onClick={() => setOpen(true)}>
        {typeof label === 'string' ? sanitize(label) : label}
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
