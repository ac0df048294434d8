import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startTimeLimit, timeLimitSignal } from '#shared/kernel/time-limit.ts'

let now = 0
beforeEach(() => {
  now = 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Lets time pass while the process runs. */
const pass = (ms: number) => {
  now += ms
  vi.advanceTimersByTime(ms)
}

test('a limit expires after its time, unless it was cleared', () => {
  const expired = vi.fn()
  startTimeLimit(10_000, expired)
  startTimeLimit(10_000, expired).clear()
  pass(9_999)
  expect(expired).not.toHaveBeenCalled()
  pass(1)
  expect(expired).toHaveBeenCalledOnce()
})

test('a limit that passed while the process was stopped begins again', () => {
  const expired = vi.fn()
  const limit = startTimeLimit(10_000, expired)
  const signal = timeLimitSignal(10_000)
  now += 60_000
  pass(10_000)
  expect(expired).not.toHaveBeenCalled()
  expect(signal.aborted).toBe(false)
  pass(9_999)
  expect(expired).not.toHaveBeenCalled()
  pass(1)
  expect(expired).toHaveBeenCalledOnce()
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' })
  limit.clear()
})
