import { signal } from '@preact/signals'
import { sanitize } from '../session/text.ts'

const SHOWN_MS = 6_000

const messages = signal<readonly { n: number; text: string }[]>([])
let last = 0

/** Shows a short message and has screen readers announce it. The latest three are visible together. */
export const announce = (text: string): void => {
  const n = ++last
  messages.value = [...messages.value, { n, text: sanitize(text) }].slice(-3)
  setTimeout(() => {
    messages.value = messages.value.filter((one) => one.n !== n)
  }, SHOWN_MS)
}

export const Announcements = () => (
  <div class="announcements" role="status">
    {messages.value.map(({ n, text }) => (
      <p key={n}>{text}</p>
    ))}
  </div>
)
