import { signal } from '@preact/signals'
import { sanitize } from '../session/text.ts'

const SHOWN_MS = 6_000

/** Link to what a message is about. */
interface About {
  /** Address behind `#`. */
  to: string
  label: string
}

const messages = signal<readonly { n: number; text: string; about: About | undefined }[]>([])
let last = 0

/** Shows a short message and has screen readers announce it. The latest three are visible together. */
export const announce = (text: string, about?: About): void => {
  const n = ++last
  messages.value = [...messages.value, { n, text: sanitize(text), about }].slice(-3)
  setTimeout(() => {
    messages.value = messages.value.filter((one) => one.n !== n)
  }, SHOWN_MS)
}

export const Announcements = () => (
  <div class="announcements" role="status">
    {messages.value.map(({ n, text, about }) => (
      <p key={n}>
        {text}
        {about && <a href={`#${about.to}`}>{about.label}</a>}
      </p>
    ))}
  </div>
)
