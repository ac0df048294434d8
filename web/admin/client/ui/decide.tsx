import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { clean } from '../../../session/text.ts'
import { useAct } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { Modal } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/form.tsx'
import { Problem } from '../../../ui/problem.tsx'

interface Decision {
  /** The button’s words. */
  label: string
  /** What the decision is about, for whoever hears the button without what is around it. */
  about?: string
  title: string
  /** What the dialog’s button says; the label unless given. */
  verb?: string
  /** Asks for a reason, which `act` is given. */
  reason?: { label: string; hint: string }
  /** What has to be typed before it can be done: for what stops somebody else’s work. */
  typed?: string
  act: (reason: string) => Promise<unknown>
  /** What is said when it is done. */
  done: string
  tone?: 'danger' | 'primary'
  /** What will happen. */
  children?: ComponentChildren
}

/** A decision about others’ work: a dialog says what will happen, and takes the reason. */
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
  const { busy, failure, act, clear } = useAct()
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
        {about && <span class="unseen"> {clean(about)}</span>}
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
                    Type <code>{clean(typed)}</code> to confirm
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
