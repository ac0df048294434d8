import { expect, it } from 'vitest'
import { type Hanging, hanging } from '#bench/isolation/scenario.ts'
import { type Isolation, isKept, isolationTables, ratioOf } from '#bench/isolation.ts'
import { startReceiver } from '#testkit/receiver.ts'

const measured = (calm: number[][], beside: number[][], limited = true): Isolation => ({
  trouble: 'a receiver hangs',
  what: 'webhooks',
  limited,
  calm,
  beside,
})

it('the ratio compares the medians of the rounds’ p99', () => {
  expect(ratioOf(measured([[10], [20], [900]], [[25], [30], [31]]))).toBe(1.5)
})

it('isolation is kept only if every limited measurement is within its limit, and a failed measurement isn’t', () => {
  expect(isKept([measured([[10]], [[15]]), measured([[10]], [[99]], false)])).toBe(true)
  expect(isKept([measured([[10]], [[15]]), measured([[10]], [[16]])])).toBe(false)
  expect(isKept([measured([[10]], [[]])])).toBe(false)
})

it('the table shows which limits are kept', () => {
  const [table] = isolationTables([measured([[10, 20]], [[10, 20]]), measured([[10]], [[16]])])
  expect(table?.rows).toEqual([
    ['a receiver hangs', 'webhooks', '2', '10', '10', '20', '20', '1.00', 'ok'],
    ['a receiver hangs', 'webhooks', '1', '10', '16', '10', '16', '1.60', 'not kept'],
  ])
})

it('hanging requests are answered on release, and so are all later ones', async () => {
  await using receiver = await startReceiver()
  const script: Hanging = hanging(receiver)
  const ask = async () => (await fetch(receiver.url)).status
  expect(await ask()).toBe(200)
  script.hang()
  let answered = false
  const held = ask().finally(() => {
    answered = true
  })
  await receiver.received(2)
  expect(answered).toBe(false)
  script.release()
  expect(await held).toBe(200)
  expect(await ask()).toBe(200)
})
