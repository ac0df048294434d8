import { expect, it } from 'vitest'
import { receiverKinds } from '#bench/faults/kinds.ts'
import { RETRY_DELAYS, runFaults } from '#bench/faults/run-faults.ts'
import { holds } from '#bench/faults/tables.ts'
import { tableOf } from '#bench/faults.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingOwnLocal } from './using-local.ts'

/** Each kind of receiver gets some of them. */
const EVENTS = DEEP ? 150 : 80

const running = usingOwnLocal(() => ({
  watchDynamodb: true,
  env: { WEBHOOK_RETRY_DELAYS_SECONDS: RETRY_DELAYS, LOG_LEVEL: 'silent' },
}))

it('with dying workers and failing dependencies, every event is delivered or dead-lettered, and in its feed once', async () => {
  const { table, close } = tableOf(running.platform)
  try {
    const played = await runFaults(running.platform, table, {
      events: EVENTS,
      seed: 11,
      tenants: 2,
      // A receiver that hangs at every attempt takes half a minute.
      kinds: receiverKinds().filter(({ name }) => name !== 'always-hangs'),
      store: {
        throttled: 0.01,
        conflict: 0.25,
        answerLost: 0.02,
        slow: 0.002,
        stalled: 0,
        storm: { ms: 500, share: 0.7 },
      },
      messages: { twice: 0.1, again: 0.1, late: 0.1, lost: 0.05 },
      pace: { deaths: 1_100, storms: 4_000, skews: 2_000, jumps: 4_000, sweepsDie: 1 / 4 },
      lagMs: 500,
      pollEveryMs: 500,
      enableEveryMs: 3_000,
      hurry: true,
    })
    const { account, due, tally } = played
    expect(account.discrepancies).toEqual([])
    expect(account).toMatchObject({ events: EVENTS, expected: account.delivered + account.failed + account.skipped })
    expect(due.maxOverdueMs).toBeLessThanOrEqual(120_000)
    expect(holds(played)).toBe(true)
    // Checks that the faults happened: all kinds of receivers, dead workers, store failures, repeated messages.
    const { byKind } = played
    for (const { kind, delivered, failed, skipped } of byKind) {
      // A slow receiver gets an event or two, and the worker that waits for it may die five times over each.
      const arrived = kind.weight > 1 ? delivered : delivered + failed
      if (kind.ends === 'delivered') expect(arrived, kind.name).toBeGreaterThan(0)
      else expect([delivered, failed + skipped > 0], kind.name).toEqual([0, true])
    }
    const done = tally.map(([what]) => what).join('\n')
    for (const fault of [/^deaths of/m, /throttles$/m, /TransactionConflict/, /answer lost/, /^messages twice/m])
      expect(done).toMatch(fault)
  } finally {
    close()
  }
})
