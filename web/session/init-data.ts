import { initData } from './messenger.ts'
import { loadItem, saveItem } from './store.ts'

/** Returns the key for Telegram's launch data. It is accepted once per key, so a reloaded page sends the same key again. */
export const initDataKey = (): string => {
  const kept = loadItem<{ initData: string; key: string }>('init-data-key')
  const key = kept?.initData === initData ? kept.key : crypto.randomUUID()
  saveItem('init-data-key', { initData, key })
  return key
}
