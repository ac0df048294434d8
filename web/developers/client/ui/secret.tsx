import { useId, useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { t } from '../../../ui/messages.ts'

/** A secret that is shown once, with a button that copies it. */
export const Secret = ({ label, value, hint }: { label: string; value: string; hint?: string }) => {
  const id = useId()
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value)
      setCopied(true)
      announce(t('{label} copied.', { label }))
    } catch {
      document.getElementById(id)?.focus()
      announce(t('Your browser doesn’t let this page copy. Select the text and copy it.'))
    }
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="hint">{hint ?? t('Shown only once. Store it now.')}</p>
      <div class="secret">
        <input
          id={id}
          readOnly
          value={value}
          spellcheck={false}
          autocomplete="off"
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <button type="button" onClick={copy}>
          {copied ? t('Copied') : t('Copy')}
        </button>
      </div>
    </div>
  )
}
