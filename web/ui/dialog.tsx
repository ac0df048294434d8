import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { clean } from '../session/text.ts'
import { useAct } from './act.ts'
import { Problem } from './problem.tsx'

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
