import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAct } from '../../../console/client/ui/act.ts'
import { announce } from '../../../console/client/ui/announce.tsx'
import { Field, Modal } from '../../../console/client/ui/kit.tsx'
import { Problem } from '../../../console/client/ui/problem.tsx'
import { clean } from '../../../session/text.ts'

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
              <Field label={reason.label} hint={reason.hint}>
                {(field) => (
                  <textarea
                    {...field}
                    rows={3}
                    maxLength={2_000}
                    required
                    value={text}
                    onInput={({ currentTarget }) => setText(currentTarget.value)}
                  />
                )}
              </Field>
            )}
            {typed && (
              <Field
                label={
                  <>
                    Type <code>{clean(typed)}</code> to confirm
                  </>
                }
              >
                {(field) => (
                  <input
                    {...field}
                    value={confirmed}
                    required
                    autocomplete="off"
                    spellcheck={false}
                    onInput={({ currentTarget }) => setConfirmed(currentTarget.value)}
                  />
                )}
              </Field>
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
