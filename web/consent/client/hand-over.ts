import { call } from '../../session/call.ts'
import { consentPath, tg } from './config.ts'
import { $, showSection } from './dom.ts'
import { showOutcome } from './over.ts'
import type { ConsentStatus } from './types.ts'

const POLL_MS = 3_000
/** Interval while the tab is hidden or the platform can't be reached. */
const IDLE_POLL_MS = 15_000

export const loadStatus = (): Promise<ConsentStatus> => call('GET', `${consentPath}/status?tg=${tg}`)

let timer: number | undefined
let waiting = false

/** Polls until the request is closed elsewhere. The status doesn't reveal the decision. */
export const startWaiting = (): void => {
  waiting = true
  showSection('handed-over')
  schedulePoll(POLL_MS)
}

export const stopWaiting = (): void => {
  waiting = false
  clearTimeout(timer)
}

const schedulePoll = (ms: number): void => {
  clearTimeout(timer)
  if (waiting) timer = setTimeout(poll, document.hidden ? IDLE_POLL_MS : ms)
}

const poll = async (): Promise<void> => {
  const found = await loadStatus().catch(() => undefined)
  if (!waiting) return
  $('handed-over-problem').hidden = Boolean(found)
  if (!found?.over) return schedulePoll(found ? POLL_MS : IDLE_POLL_MS)
  stopWaiting()
  showOutcome('handed_over')
}

// Returning to the tab refreshes the status at once.
document.addEventListener('visibilitychange', () => {
  if (waiting && !document.hidden) schedulePoll(0)
})
