import { t } from '../../ui/messages.ts'
import { $ } from './dom.ts'

/** Remaining seconds at which screen readers announce the time left, early enough to finish. */
const ANNOUNCEMENTS: [seconds: number, words: string][] = [
  [300, t('This link expires in 5 minutes.')],
  [60, t('This link expires in 1 minute.')],
]

let timer: number | undefined

const announce = (words: string): void => {
  $('announcement').textContent = words
}

/**
 * Updates every countdown on the page once a second.
 * @param seconds time left according to the server, because the device's clock may be wrong
 */
export const startCountdown = (seconds: number, atEnd: () => void): void => {
  stopCountdown()
  const until = Date.now() + seconds * 1_000
  let before = seconds
  const tick = (): void => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1_000))
    const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
    for (const place of document.querySelectorAll('.left')) place.textContent = text
    const announcement = ANNOUNCEMENTS.filter(([second]) => before > second && left <= second).at(-1)
    if (announcement && left > 0) announce(announcement[1])
    before = left
    if (left > 0) return
    stopCountdown()
    announce(t('This link has expired.'))
    atEnd()
  }
  timer = setInterval(tick, 1_000)
  tick()
}

export const stopCountdown = (): void => clearInterval(timer)
