import { call } from './call.ts'
import { initData } from './messenger.ts'
import { loadItem, saveItem } from './store.ts'
import type { ConsoleSession } from './types.ts'

/** Signs in with Telegram's launch data. It is accepted once per key, so a reloaded page sends the same key again. */
export const signInWithInitData = (): Promise<ConsoleSession> => {
  const kept = loadItem<{ initData: string; key: string }>('init-data-key')
  const key = kept?.initData === initData ? kept.key : crypto.randomUUID()
  saveItem('init-data-key', { initData, key })
  return call('POST', 'console/bot/webapp-auth', { body: { init_data: initData }, key })
}
