import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useData } from '../../ui/data.ts'
import { api, unwrap } from './api.ts'
import { waiting } from './live.ts'

/** True from the shortcut until the inbox has taken the focus. */
export const isInboxWanted = signal(false)

/** Loads what waits for the user, and keeps the number in the navigation current on every screen. */
export const useWaiting = () => {
  const known = useData('inbox', () => unwrap(api.GET('/console/inbox')))
  const items = known.data?.items ?? []
  const active = items.filter(({ snoozed_until }) => snoozed_until === null)
  const count = known.data && active.length
  useEffect(() => {
    if (count !== undefined) waiting.value = count
  }, [count])
  return { known, active, snoozed: items.filter(({ snoozed_until }) => snoozed_until !== null) }
}
