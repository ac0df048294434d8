import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { Modal } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/form.tsx'
import { Problem } from '../../../ui/problem.tsx'

interface Decision {
  /** Label of the button that opens the dialog. */
  label: string
  /** Object of the decision, for screen reader users who hear the button without its context. */
  about?: string
  title: string
  /** Label of the dialog's button; defaults to `label`. */
  verb?: string
  /** Asks for a reason, which is passed to `act`. */
  reason?: { label: string; hint: string }
  /** Text to type as confirmation, for decisions that stop somebody else's work. */
  typed?: string
  act: (reason: string) => Promise<unknown>
  /** Success message. */
  done: string
  tone?: 'danger' | 'primary'
  /** Consequences of the decision. */
  children?: ComponentChildren
}

/** A moderation decision. A dialog explains the consequences and asks for a reason. */
export const Decide = ({
  label,
  about,
  title,
  verb = label,
  reason,
  typed,
  act: what,
  done,
  tone,
  children,
}: Decision) => {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState('')
  const [confirmed, setConfirmed] = useState('')
  const { busy, failure, act, clear } = useAction()
  const ready = (!reason || text.trim() !== '') && (!typed || confirmed.trim() === typed)
  const close = (): void => {
    clear()
    setConfirmed('')
    setOpen(false)
  }
  return (
    <>
      <button type="button" class={tone} onClick={() => setOpen(true)}>
        {label}
        {about && <span class="unseen"> {sanitize(about)}</span>}
      </button>
      {open && (
        <Modal title={title} onClose={close}>
          <form
            onSubmit={async (event) => {
              event.preventDefault()
              if (!ready || !(await act(() => what(text.trim())))) return
              setText('')
              close()
              announce(done)
            }}
          >
            {children}
            {reason && (
              <TextField
                label={reason.label}
                hint={reason.hint}
                rows={3}
                maxLength={2_000}
                required
                value={text}
                onText={setText}
              />
            )}
            {typed && (
              <TextField
                label={
                  <>
                    Type <code>{sanitize(typed)}</code> to confirm
                  </>
                }
                value={confirmed}
                required
                autocomplete="off"
                spellcheck={false}
                onText={setConfirmed}
              />
            )}
            {failure && <Problem failure={failure} />}
            <div class="actions">
              <button type="button" onClick={close}>
                Cancel
              </button>
              <button type="submit" class={tone ?? 'primary'} disabled={!ready} aria-busy={busy}>
                {verb}
              </button>
            </div>
          </form>
        </Modal>
      )}
    </>
  )
}
