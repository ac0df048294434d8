import { expect, it } from 'vitest'
import { UserEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { usingMessenger } from '#test/functions/console/messenger-support.ts'
import { newTeam } from '#test/functions/console/people-support.ts'
import { runRound } from './workspace-removal-support.ts'

const m = usingMessenger()
const HOUR = 3_600_000

/** Deletes a workspace with a bot and a personal account, and ends its grace period. */
const leaving = async () => {
  const { owner, self, workspaceId } = await m.personal()
  const bot = m.newBot()
  expect((await m.call(owner, 'POST', '/accounts/bot', { token: bot.token })).status).toBe(201)
  expect((await m.platform.call('DELETE', '/console/workspace', { token: owner.token })).status).toBe(204)
  await m.settle()
  m.platform.clock.advance(LIMITS.workspaceGrace)
  /** Returns the statuses of connecting the same bot and the same person in another workspace. */
  const connectElsewhere = async () => {
    const { people } = await newTeam(m.platform, 'owner')
    const [there] = people as [typeof owner]
    const identity = `telegram:${self.id}`
    await m.platform.deps.table.transact([UserEntity.update({ id: there.user.id }, { set: { identity } })])
    const botAnswer = await m.call(there, 'POST', '/accounts/bot', { token: bot.token })
    const personAnswer = await m.call(there, 'POST', '/accounts/user', {})
    return [botAnswer.status, personAnswer.status]
  }
  const isGone = async () => (await m.platform.deps.table.get(WorkspaceEntity, { id: workspaceId })) === undefined
  return { workspaceId, bot, connectElsewhere, isGone }
}

/** Runs rounds of removal, with the work that they cause. */
const rounds = async (count: number, every: number) => {
  for (let n = 0; n < count; n++) {
    await runRound(m.platform)
    await m.settle()
    m.platform.clock.advance(every)
    await m.platform.sweep()
    await m.settle()
  }
}

it('messenger accounts are disconnected before their workspace is removed, even when the first round runs days late', async () => {
  const { bot, connectElsewhere, isGone } = await leaving()
  m.platform.clock.advance(72 * HOUR)
  await rounds(1, 0)
  expect([bot.updates.webhook, await isGone()]).toEqual([undefined, false])
  await rounds(2, HOUR)
  expect(await isGone()).toBe(true)
  expect(await connectElsewhere()).toEqual([201, 201])
})

it('a bot whose webhook Telegram doesn’t delete can be connected elsewhere after two days', async () => {
  const { bot, connectElsewhere, isGone } = await leaving()
  bot.fail('deleteWebhook', { error_code: 500, description: 'Internal Server Error' }, 1_000)
  await rounds(4, 12 * HOUR)
  expect([await connectElsewhere(), await isGone()]).toEqual([[409, 201], false])
  await rounds(1, 12 * HOUR)
  expect([await isGone(), await connectElsewhere()]).toEqual([true, [201, 409]])
})

it('a bot and a person that couldn’t be disconnected can be connected elsewhere', async () => {
  const { workspaceId, connectElsewhere, isGone } = await leaving()
  const removal_began_at = m.platform.clock.now()
  await m.platform.deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, { set: { removal_began_at } })])
  m.platform.clock.advance(72 * HOUR)
  expect(await connectElsewhere()).toEqual([409, 409])
  await rounds(1, 0)
  expect([await isGone(), await connectElsewhere()]).toEqual([true, [201, 201]])
})
