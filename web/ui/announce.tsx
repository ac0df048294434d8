import { signal } from '@preact/signals'
import { clean } from '../session/text.ts'

const SHOWN_MS = 6_000

const told = signal<readonly { n: number; text: string }[]>([])
let last = 0

/** Says something short to everybody: a note at the edge, read out by screen readers. The latest three stand together. */
export const announce = (text: string): void => {
  const n = ++last
  told.value = [...told.value, { n, text: clean(text) }].slice(-3)
  setTimeout(() => {
    told.value = told.value.filter((one) => one.n !== n)
  }, SHOWN_MS)
}

export const Announcements = () => (
  <div class="announcements" role="status">
    {told.value.map(({ n, text }) => (
      <p key={n}>{text}</p>
    ))}
  </div>
)
