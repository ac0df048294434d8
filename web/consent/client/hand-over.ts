import { call } from '../../session/call.ts'
import { tg } from './config.ts'
import { $, show } from './dom.ts'
import { end } from './over.ts'
import type { ConsentStatus } from './types.ts'

const EVERY = 3_000
/** While nobody looks, or the platform cannot be reached. */
const SELDOM = 15_000

export const status = (): Promise<ConsentStatus> => call('GET', `oauth/consent/status?tg=${tg}`)

let timer: number | undefined
let waiting = false

/** After handing over: waits until the request is over. How it ended is told only where it was decided. */
export const waitElsewhere = (): void => {
  waiting = true
  show('handed-over')
  again(EVERY)
}

export const stopWaiting = (): void => {
  waiting = false
  clearTimeout(timer)
}

const again = (ms: number): void => {
  clearTimeout(timer)
  if (waiting) timer = setTimeout(look, document.hidden ? SELDOM : ms)
}

const look = async (): Promise<void> => {
  const found = await status().catch(() => undefined)
  if (!waiting) return
  $('handed-over-problem').hidden = Boolean(found)
  if (!found?.over) return again(found ? EVERY : SELDOM)
  stopWaiting()
  end('handed_over')
}

// Whoever comes back to the tab sees at once how it stands.
document.addEventListener('visibilitychange', () => {
  if (waiting && !document.hidden) again(0)
})
