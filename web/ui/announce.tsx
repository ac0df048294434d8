import { signal } from '@preact/signals'
import { sanitize } from '../session/text.ts'

const SHOWN_MS = 6_000

/** Time that a message with a button is shown, so that it can be reached by keyboard. */
export const OFFERED_MS = 10_000

/** Link to what a message is about, or a button. */
interface About {
  /** Address behind `#`. */
  to?: string
  label: string
  act?: () => void
}

const messages = signal<readonly { n: number; text: string; about: About | undefined }[]>([])
let last = 0

/**
 * Shows a short message and has screen readers announce it. The latest three are visible together.
 * @returns removes the message
 */
export const show = (text: string, about?: About): (() => void) => {
  const n = ++last
  messages.value = [...messages.value, { n, text: sanitize(text), about }].slice(-3)
  const remove = (): void => {
    messages.value = messages.value.filter((one) => one.n !== n)
  }
  setTimeout(remove, about?.act ? OFFERED_MS : SHOWN_MS)
  return remove
}

/** Shows a message that disappears by itself. */
export const announce = (text: string, about?: About): void => {
  show(text, about)
}

export const Announcements = () => (
  <div class="announcements" role="status">
    {messages.value.map(({ n, text, about }) => (
      <p key={n}>
        {text}
        {about?.to && <a href={`#${about.to}`}>{about.label}</a>}
        {about?.act && (
          <button type="button" onClick={about.act}>
            {about.label}
          </button>
        )}
      </p>
    ))}
  </div>
)
