import type { ComponentChildren, TextareaHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import type { Failure } from '../session/failure.ts'
import { sanitize } from '../session/text.ts'
import { useAction } from './act.ts'
import { Problem } from './problem.tsx'

interface Labelled {
  label: ComponentChildren
  hint?: ComponentChildren
  /** Error message. */
  problem?: string | undefined
}

/** A field with its label, hint and error, connected for screen readers. */
export const Field = ({
  label,
  hint,
  problem,
  children,
}: Labelled & {
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

type TextAttributes =
  | 'required'
  | 'maxLength'
  | 'minLength'
  | 'placeholder'
  | 'autocomplete'
  | 'spellcheck'
  | 'readOnly'

export const TextField = ({
  label,
  hint,
  problem,
  type,
  rows,
  onText,
  ...attributes
}: Labelled &
  Pick<TextareaHTMLAttributes, TextAttributes> & {
    value: string
    onText: (text: string) => void
    type?: 'email' | 'password' | 'search' | 'url'
    /** Number of lines; a single-line input if omitted. */
    rows?: number
  }) => (
  <Field label={label} hint={hint} problem={problem}>
    {(field) =>
      rows === undefined ? (
        // The types differ only in ARIA roles, and none is set here.
        <input
          {...field}
          {...attributes}
          type={type as 'text'}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      ) : (
        <textarea {...field} {...attributes} rows={rows} onInput={({ currentTarget }) => onText(currentTarget.value)} />
      )
    }
  </Field>
)

/** A form that allows one submission at a time. */
export const Form = ({
  send,
  verb,
  done,
  children,
  disabled,
  refused,
}: {
  send: () => Promise<unknown>
  verb: string
  done?: () => void
  children: ComponentChildren | ((failure: Failure | undefined) => ComponentChildren)
  disabled?: boolean
  /** Why this person can't send it. They can read the fields. */
  refused?: ComponentChildren
}) => {
  const { busy, failure, act } = useAction()
  const fields = typeof children === 'function' ? children(failure) : children
  if (refused) {
    return (
      <>
        <fieldset disabled>{fields}</fieldset>
        <p class="hint">{refused}</p>
      </>
    )
  }
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault()
        if (await act(send)) done?.()
      }}
    >
      {fields}
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="submit" class="primary" aria-busy={busy} disabled={disabled}>
          {sanitize(verb)}
        </button>
      </div>
    </form>
  )
}
