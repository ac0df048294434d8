import { $ } from './dom.ts'

/** Seconds left at which a screen reader is told, politely: not every second, and in time to finish. */
const TOLD: [seconds: number, words: string][] = [
  [300, 'This link works for another 5 minutes.'],
  [60, 'This link works for another minute.'],
]

let timer: number | undefined

const announce = (words: string): void => {
  $('announcement').textContent = words
}

/**
 * Counts down wherever the page shows the time left.
 * @param seconds What the server says is left: the device's own clock may be wrong, so only its pace counts.
 */
export const startCountdown = (seconds: number, atEnd: () => void): void => {
  stopCountdown()
  const until = Date.now() + seconds * 1_000
  let before = seconds
  const tick = (): void => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1_000))
    const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
    for (const place of document.querySelectorAll('.left')) place.textContent = text
    const told = TOLD.filter(([second]) => before > second && left <= second).at(-1)
    if (told && left > 0) announce(told[1])
    before = left
    if (left > 0) return
    stopCountdown()
    announce('This link is over.')
    atEnd()
  }
  timer = setInterval(tick, 1_000)
  tick()
}

export const stopCountdown = (): void => clearInterval(timer)
