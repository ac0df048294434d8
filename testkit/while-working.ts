import { setTimeout as pause } from 'node:timers/promises'
import type { TestPlatform } from './platform.ts'

/** Runs the workers until a request that waits for them is answered. @param rest ms between two rounds */
export const whileWorking = async <T>({ drain }: TestPlatform, request: Promise<T>, rest = 20): Promise<T> => {
  let ended = false
  const end = () => {
    ended = true
  }
  request.then(end, end)
  while (!ended) {
    await drain()
    await pause(rest)
  }
  return request
}
