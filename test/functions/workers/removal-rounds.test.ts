import { beforeEach, expect, it } from 'vitest'
import { NotificationEntity, notificationsOf } from '#shared/identity/notifications/entity.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { BudgetExhausted, isSpent, shareOf, spendBudget } from '#shared/lifecycle/removal/budget.ts'
import type { Write } from '#shared/table/entity.ts'
import { WorkspaceRunEntity } from '#shared/work/runs/entity.ts'
import { newTeam } from '#test/functions/console/people-support.ts'
import type { member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { runRound, scanTable } from './workspace-removal-support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

/** Limits of a round that is too small for a large removal. */
const SMALL = { records: 300, least: { records: 100, ms: 5_000 } }

/** Runs a small round that starts with the first entry. The first entry rotates each minute. */
const smallRound = async () => {
  const now = platform.clock.now()
  platform.clock.advance(Math.ceil(now / (12 * MINUTE)) * 12 * MINUTE - now)
  await runRound(platform, SMALL)
}

/** Deletes the account of one of two owners, after writing data to their workspace. */
const leaving = async (writes: (workspace_id: string, user_id: string) => Write[]) => {
  const { workspaceId, people } = await newTeam(platform, 'owner', 'owner')
  const [{ user, token }] = people as [Awaited<ReturnType<typeof member>>]
  const all = writes(workspaceId, user.id)
  for (let at = 0; at < all.length; at += 100) await platform.deps.table.transact(all.slice(at, at + 100))
  const { status } = await platform.call('DELETE', '/console/me', { token })
  expect(status).toBe(204)
  platform.clock.advance(1_000)
  return { workspaceId, user }
}

const notices = (count: number) => (workspace_id: string, user_id: string) =>
  Array.from({ length: count }, () =>
    NotificationEntity.create({
      ...stampOf(newId('notification', platform.clock.now())),
      workspace_id,
      user_id,
      kind: 'agent.notice',
      title: 'Done',
      body: '',
    }),
  )

const noticesOf = async ({ workspaceId, user }: Awaited<ReturnType<typeof leaving>>) =>
  (await platform.deps.table.listed(NotificationEntity, notificationsOf(workspaceId, user.id), { limit: 1_000 })).items
    .length

it('a small removal completes in the same round in which a larger one starts', async () => {
  const large = await leaving(notices(200))
  const small = await leaving(notices(3))
  await smallRound()
  expect(await noticesOf(large)).toBeGreaterThan(0)
  expect(await noticesOf(small)).toBe(0)
  await runRound(platform)
  expect(await noticesOf(large)).toBe(0)
})

it('a long search for a name doesn’t delay others, and continues in the next round', async () => {
  const runs = (workspace_id: string) =>
    Array.from({ length: 300 }, () => stampOf(newId('run', platform.clock.now()))).map(({ id, created_at }) =>
      WorkspaceRunEntity.create({
        workspace_id,
        run_id: id,
        installation_id: 'ins_gone',
        created_at,
      }),
    )
  const long = await leaving(runs)
  const short = await leaving(() => [])
  platform.clock.advance(15 * MINUTE)
  await smallRound()
  const waiting = async () =>
    (await scanTable(platform)).flatMap(({ id, left }) => (left === undefined ? [] : [String(id)]))
  const stillWaiting = await waiting()
  expect([stillWaiting.includes(long.user.id), stillWaiting.includes(short.user.id)]).toEqual([true, false])
  await runRound(platform)
  expect(await waiting()).not.toContain(long.user.id)
})

it('a share of a budget is limited itself, and counts against the budget', () => {
  const whole = { left: 300, until: performance.now() + 60_000 }
  const least = { records: 100, ms: 1_000 }
  const [first, second] = [shareOf(whole, 2, least), shareOf(whole, 4, least)]
  for (let n = 0; n < 150; n++) spendBudget(first)
  expect(() => spendBudget(first)).toThrow(BudgetExhausted)
  expect([isSpent(first), isSpent(whole)]).toEqual([true, false])
  for (let n = 0; n < 100; n++) spendBudget(second)
  expect([isSpent(second), isSpent(whole)]).toEqual([true, false])
  const last = shareOf(whole, 1, least)
  for (let n = 0; n < 50; n++) spendBudget(last)
  expect([isSpent(last), isSpent(whole)]).toEqual([false, true])
  expect(() => spendBudget(last)).toThrow(BudgetExhausted)
})
