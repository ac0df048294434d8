import { expect, it } from 'vitest'
import { reportingLong } from '#shared/http/long-invocation.ts'

/** Runs an invocation of a function that has 30 seconds, and returns what it wrote and how it ended. */
const invoked = async (takesMs: number, fails = false) => {
  let left = 30_000
  const written: unknown[] = []
  const log = { metrics: (...line: unknown[]) => void written.push(line) }
  const ended = await reportingLong(
    { getRemainingTimeInMillis: () => left },
    () => log,
    async () => {
      left -= takesMs
      if (fails) throw new Error('no')
      return 'done'
    },
  ).catch(({ message }: Error) => message)
  return { written, ended }
}
const LINE = ['long invocation', {}, { LongInvocations: [1, 'Count'] }]

it('an invocation that took more than 95 % of its function’s time writes the metric of the alarm, failed or not', async () => {
  expect(await invoked(28_501)).toEqual({ written: [LINE], ended: 'done' })
  expect(await invoked(29_000, true)).toEqual({ written: [LINE], ended: 'no' })
})

it('others write nothing, nor does one whose time nobody knows', async () => {
  expect(await invoked(28_500)).toEqual({ written: [], ended: 'done' })
  expect(await invoked(0, true)).toEqual({ written: [], ended: 'no' })
  const log = () => {
    throw new Error('not needed')
  }
  expect(await reportingLong(undefined, log, async () => 'done')).toBe('done')
})
