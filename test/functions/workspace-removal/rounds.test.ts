import { beforeEach, expect, it } from 'vitest'
import { isSpent, Paused, shareOf, spend } from '#shared/domain/removal/budget.ts'
import { NotificationEntity, notificationsOf } from '#shared/entities/notifications.ts'
import { WorkspaceRunEntity } from '#shared/entities/runs.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
import { team } from '#test/functions/people/support.ts'
import type { member } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { everything, round } from './support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

/** A round that has room for nothing large. */
const SMALL = { records: 300, least: { records: 100, ms: 5_000 } }

/** Rounds begin with another one each minute: this one with whoever is first in the list. */
const smallRound = async () => {
  const now = platform.clock.now()
  platform.clock.advance(Math.ceil(now / (12 * MINUTE)) * 12 * MINUTE - now)
  await round(platform, SMALL)
}

/** Somebody of two owners deletes their account, in whose workspace there is this. */
const leaving = async (writes: (workspace_id: string, user_id: string) => Write[]) => {
  const { workspaceId, people } = await team(platform, 'owner', 'owner')
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
      id: newId('notification', platform.clock.now()),
      workspace_id,
      user_id,
      kind: 'agent.notice',
      title: 'Done',
      body: '',
      created_at: platform.clock.now(),
    }),
  )

const noticesOf = async ({ workspaceId, user }: Awaited<ReturnType<typeof leaving>>) =>
  (await platform.deps.table.listed(NotificationEntity, notificationsOf(workspaceId, user.id), { limit: 1_000 })).items
    .length

it('what one had is removed in the same round in which another’s, larger, is begun', async () => {
  const large = await leaving(notices(200))
  const small = await leaving(notices(3))
  await smallRound()
  expect(await noticesOf(large)).toBeGreaterThan(0)
  expect(await noticesOf(small)).toBe(0)
  await round(platform)
  expect(await noticesOf(large)).toBe(0)
})

it('a long search for a name does not keep another’s waiting, and goes on in the next round', async () => {
  const runs = (workspace_id: string) =>
    Array.from({ length: 300 }, () =>
      WorkspaceRunEntity.create({
        workspace_id,
        run_id: newId('run', platform.clock.now()),
        installation_id: 'ins_gone',
        created_at: platform.clock.now(),
      }),
    )
  const long = await leaving(runs)
  const short = await leaving(() => [])
  platform.clock.advance(15 * MINUTE)
  await smallRound()
  const waiting = async () =>
    (await everything(platform)).flatMap(({ id, left }) => (left === undefined ? [] : [String(id)]))
  const still = await waiting()
  expect([still.includes(long.user.id), still.includes(short.user.id)]).toEqual([true, false])
  await round(platform)
  expect(await waiting()).not.toContain(long.user.id)
})

it('a share is used up for itself, and takes from what it is a share of', () => {
  const whole = { left: 300, until: performance.now() + 60_000 }
  const least = { records: 100, ms: 1_000 }
  const [first, second] = [shareOf(whole, 2, least), shareOf(whole, 4, least)]
  for (let n = 0; n < 150; n++) spend(first)
  expect(() => spend(first)).toThrow(Paused)
  expect([isSpent(first), isSpent(whole)]).toEqual([true, false])
  for (let n = 0; n < 100; n++) spend(second)
  expect([isSpent(second), isSpent(whole)]).toEqual([true, false])
  const last = shareOf(whole, 1, least)
  for (let n = 0; n < 50; n++) spend(last)
  expect([isSpent(last), isSpent(whole)]).toEqual([false, true])
  expect(() => spend(last)).toThrow(Paused)
})
