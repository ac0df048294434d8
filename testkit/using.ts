import { afterAll, beforeAll } from 'vitest'
import { startModelServer } from './model-server.ts'
import type { TestPlatform } from './platform.ts'
import { type Script, startReceiver } from './receiver.ts'
import { startTelegram } from './telegram.ts'

/**
 * Provides the tests of a file or block with a shared object. Objects are created before the tests and closed after them, in reverse
 * order. They can be used inside tests and hooks only, because they don't exist while the file is loaded.
 */
export const using = <T extends object>(make: () => Promise<T>, end: (made: T) => Promise<unknown>): T => {
  let made: T | undefined
  beforeAll(async () => {
    made = await make()
  })
  afterAll(() => made && end(made))
  const there = (name: string | symbol): T => {
    if (!made) throw new Error(`it is not there yet: read ${String(name)} inside a test`)
    return made
  }
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(there(name), name),
    set: (_, name, value) => Reflect.set(there(name), name, value),
  })
}

/** Provides a receiver. @param script its answers; by default 200 without a body */
export const usingReceiver = (script: Script = { kind: 'answer' }) =>
  using(
    async () => {
      const receiver = await startReceiver()
      receiver.answer(script)
      return receiver
    },
    (receiver) => receiver.close(),
  )

/** Provides a scripted language model. */
export const usingModel = () => using(startModelServer, (model) => model.close())

/** Provides Telegram for the platform's bot. */
export const usingTelegram = (platform: TestPlatform) =>
  using(
    () => startTelegram(platform),
    (telegram) => telegram.stop(),
  )
