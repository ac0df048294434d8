import { afterAll, beforeAll } from 'vitest'
import { startModelServer } from './model-server.ts'
import type { TestPlatform } from './platform.ts'
import { type Script, startReceiver } from './receiver.ts'
import { startTelegram } from './telegram.ts'

/**
 * What the tests of a file or block share: made before them, ended after them, the last one first. It is good inside tests
 * and hooks; nothing is there yet while the file is read.
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

/** @param script how it answers; 200 without a body at first */
export const usingReceiver = (script: Script = { kind: 'answer' }) =>
  using(
    async () => {
      const receiver = await startReceiver()
      receiver.answer(script)
      return receiver
    },
    (receiver) => receiver.close(),
  )

/** A language model that says what it is told to. */
export const usingModel = () => using(startModelServer, (model) => model.close())

/** Telegram, where the platform's bot is at home. */
export const usingTelegram = (platform: TestPlatform) =>
  using(
    () => startTelegram(platform),
    (telegram) => telegram.stop(),
  )
