import { describe, expect, it } from 'vitest'
import { DayBudgetEntity } from '#shared/foundation/limits/entity.ts'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import type { Installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingMessenger } from '../functions/console/messenger-support.ts'
import { inlineAgent } from '../functions/workers/inline-agents-support.ts'

const m = usingMessenger()

const runsOf = async ({ installation }: Installed) =>
  (await m.platform.deps.table.query(RunEntity, { installation_id: installation.id }, { limit: 100 })).items.length

/** Creates a thread whose messages an inline agent answers. */
const answered = async () => {
  const scene = await m.talking()
  const agent = await inlineAgent(m.platform, { workspaceId: scene.workspaceId })
  const { id: installation_id } = agent.installation
  await succeeded(m.call(scene.admin, 'PATCH', `/chats/${scene.chatId}`, { installation_id }))
  const say = async (words: string) => {
    scene.bot.say(scene.contact, words)
    await m.settle()
    m.platform.clock.advance(1_000)
  }
  const spend = (name: string, n: number) => {
    const day = new Date(m.platform.clock.now()).toISOString().slice(0, 10)
    return m.platform.deps.table.transact([
      DayBudgetEntity.replace({ name, day, n, expires_at: m.platform.clock.now() + 172_800_000 }),
    ])
  }
  const notices = async () => {
    const { workspaceId: workspace_id } = scene
    const { items } = await m.platform.deps.table.query(NotificationEntity, { workspace_id }, { limit: 100 })
    return items.filter(({ kind }) => kind === 'messenger.budget')
  }
  return { ...scene, agent, say, spend, notices }
}

describe('an inline agent that outsiders write to', () => {
  it('answers a contact fifty times a day, keeps further messages, and notifies people once', async () => {
    const { agent, say, spend, notices, admin, chatId, conversationId } = await answered()
    await say('One more')
    expect(await runsOf(agent)).toBe(1)
    await spend(`contact:${conversationId}`, LIMITS.contactRunsPerDay - 1)
    await say('The last')
    expect(await runsOf(agent)).toBe(2)
    for (const words of ['Too many', 'And again']) await say(words)
    expect(await runsOf(agent)).toBe(2)
    expect((await m.messages(admin, chatId)).map(({ text }: { text: string }) => text)).toEqual(
      expect.arrayContaining(['Too many', 'And again']),
    )
    expect(await notices()).toHaveLength(1)
    m.platform.clock.advance(24 * 3_600_000)
    await say('The next day')
    expect(await runsOf(agent)).toBe(3)
  })

  it('answers all contacts together a thousand times a day', async () => {
    const { agent, say, spend, notices } = await answered()
    await spend(`outsiders:${agent.installation.id}`, LIMITS.outsiderRunsPerDay)
    await say('From one of thousands')
    expect(await runsOf(agent)).toBe(0)
    expect(await notices()).toHaveLength(1)
  })
})
