import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, MembershipEntity, UserEntity } from '#shared/identity/people/entity.ts'
import { DAY, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { NotificationDeliveryEntity } from '#shared/messaging/inbox/entity.ts'
import {
  consoleOf,
  notificationsOf,
  notify,
  startAwaitingAgent,
} from '#test/functions/console/notifications-support.ts'
import { workspace } from '#testkit/fixtures.ts'
import { killing } from '#testkit/killing.ts'
import { usingReceiver, usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
const agent = usingReceiver({ kind: 'answer', status: 202 })
afterAll(async () => {
  Promise.all([telegram.stop(), agent.close()])
})

let workspaceId: string
let n = 0
beforeEach(async () => {
  platform.clock.advance(MINUTE)
  workspaceId = (await workspace(platform.deps)).id
})

/** Creates a person who signed in through the messaging app and is a member of the workspace. */
const person = async ({ started = true, role = 'member' as const } = {}) => {
  const telegramPerson = telegram.person({ first_name: `Ann${++n}` })
  const { body } = await platform.call('POST', '/console/bot/webapp-auth', {
    body: { init_data: telegram.initData(telegramPerson) },
  })
  const at = { workspace_id: workspaceId, user_id: body.user.id as string }
  await platform.deps.table.transact([
    MemberEntity.create({ ...at, name: body.user.name, role, joined_at: platform.clock.now() }),
    MembershipEntity.create(at),
  ])
  const { body: switched } = await platform.call('POST', '/console/session/workspace', {
    token: body.token,
    body: { workspace_id: workspaceId },
  })
  if (started) {
    telegram.say(telegramPerson, '/start')
    await telegram.settled()
  }
  const botMessages = () => telegram.chat(telegramPerson).filter(({ text }) => text.includes('—'))
  return { ...at, telegramPerson, botMessages, ...consoleOf(platform, switched.token) }
}

const drainLater = async (ms: number) => {
  platform.clock.advance(ms)
  await platform.drain()
}

describe('a notification', () => {
  it('reaches every member who has a chat with the bot, once, and names its sender', async () => {
    const [ann, bob, silent] = [await person(), await person(), await person({ started: false })]
    const outsider = await person()
    await platform.deps.table.transact([MemberEntity.delete(outsider)])
    await notify(platform, workspaceId, { target: { type: 'task', id: 'tsk_01kae5m1v8w6c3x9q2r7t4y0zn' } })
    await platform.drain()
    for (const { botMessages } of [ann, bob]) {
      expect(botMessages()).toHaveLength(1)
      expect(botMessages()[0]).toMatchObject({
        text: expect.stringMatching(/^Stock is low\n\nThree pieces are left\.\n\n— “Workspace \d+”$/),
        reply_markup: {
          inline_keyboard: [
            [
              {
                text: 'Open',
                web_app: {
                  url: 'https://platform.test/app/mini-app?tgWebAppStartParam=tsk_01kae5m1v8w6c3x9q2r7t4y0zn',
                },
              },
            ],
          ],
        },
      })
    }
    expect([silent.botMessages(), outsider.botMessages()]).toEqual([[], []])
  })

  it('reaches one person only when it is for them', async () => {
    const [ann, bob] = [await person(), await person()]
    await notify(platform, workspaceId, { user_id: ann.user_id })
    await platform.drain()
    expect([ann.botMessages().length, bob.botMessages().length]).toEqual([1, 0])
  })

  it('is sent once, however often its event and its messages are delivered', async () => {
    const ann = await person()
    await notify(platform, workspaceId)
    const [event] = platform.outbox.slice(-1)
    if (!event) return expect.fail('no event')
    const message = {
      queue: 'notifications' as const,
      body: { 'detail-type': event.type, detail: event },
      dueAt: 0,
      group: undefined,
    }
    expect(await Promise.all(Array.from({ length: 5 }, () => platform.deliver(message)))).toEqual(Array(5).fill(true))
    expect(platform.messages.filter(({ queue }) => queue === 'notifications')).toHaveLength(5)
    await platform.drain()
    await drainLater(2 * MINUTE)
    expect(ann.botMessages()).toHaveLength(1)
  })

  it('of a run that waits for an approval links to its step, and is created once', async () => {
    const ann = await person()
    const { runId, stepId, app } = await startAwaitingAgent(platform, agent.url, workspaceId)
    const event = platform.outbox.find(({ type }) => type === 'run.awaiting_approval') ?? expect.fail('no event')
    await platform.drain()
    const message = {
      queue: 'notifications' as const,
      body: { 'detail-type': event.type, detail: event },
      dueAt: 0,
      group: undefined,
    }
    await Promise.all(Array.from({ length: 4 }, () => platform.deliver(message)))
    await platform.drain()
    const made = await notificationsOf(platform, workspaceId)
    expect(made).toMatchObject([
      { kind: 'run.awaiting_approval', target: { type: 'run', id: runId, step_id: stepId }, app_id: app.app.id },
    ])
    expect(ann.botMessages()).toHaveLength(1)
    const parameter = `${runId}-${stepId}`
    expect(parameter.length).toBeLessThanOrEqual(64)
    expect(JSON.stringify(ann.botMessages()[0])).toContain(`tgWebAppStartParam=${parameter}`)
    expect((await ann.read('/notifications')).items).toMatchObject([{ start_parameter: parameter, read: false }])
  })

  it('of an approval that was decided in the meantime is neither created nor sent', async () => {
    const ann = await person()
    const { runId, stepId } = await startAwaitingAgent(platform, agent.url, workspaceId)
    await ann.call('POST', `/runs/${runId}/steps/${stepId}/decision`, { decision: 'reject' })
    await platform.drain()
    expect([await notificationsOf(platform, workspaceId), ann.botMessages()]).toEqual([[], []])
  })

  it('doesn’t reach people who are blocked, muted it, disabled its kind, or left in the meantime', async () => {
    const [blocked, muted, away, off, left, ann] = [
      await person(),
      await person(),
      await person(),
      await person(),
      await person(),
      await person(),
    ]
    const choose = (one: typeof muted, body: unknown) =>
      one.call('PUT', '/notifications/preferences', { messaging_app: body })
    expect((await choose(muted, { muted: true })).status).toBe(200)
    const until = new Date(platform.clock.now() + DAY).toISOString()
    await choose(away, { muted_until: until })
    await choose(off, { off: ['agent.notice'] })
    await platform.deps.table.transact([UserEntity.update({ id: blocked.user_id }, { set: { status: 'blocked' } })])
    await notify(platform, workspaceId)
    await platform.deps.table.transact([MemberEntity.delete(left)])
    await platform.drain()
    expect([blocked, muted, away, off, left].map(({ botMessages }) => botMessages().length)).toEqual([0, 0, 0, 0, 0])
    expect(ann.botMessages()).toHaveLength(1)
    await notify(platform, workspaceId, { kind: 'task.question' })
    await platform.drain()
    expect([off.botMessages().length, muted.botMessages().length]).toEqual([1, 0])
    await drainLater(DAY)
    await notify(platform, workspaceId, { kind: 'task.report' })
    await platform.drain()
    expect(away.botMessages()).toHaveLength(1)
  })

  it('isn’t sent after a block until the person writes to the bot', async () => {
    const ann = await person()
    telegram.block(ann.telegramPerson)
    await notify(platform, workspaceId)
    await platform.drain()
    const reachable = async () =>
      (await ann.read('/notifications/preferences')).messaging_app.can_be_written_to as boolean
    expect(await reachable()).toBe(false)
    telegram.say(ann.telegramPerson, '/start')
    await telegram.settled()
    expect(await reachable()).toBe(true)
    await notify(platform, workspaceId, { title: 'Stock is full' })
    await platform.drain()
    expect(ann.botMessages().map(({ text }) => text.split('\n')[0])).toEqual(['Stock is full'])
  })

  it('waits as long as the Bot API asks to, then is sent once, without delaying other people’s', async () => {
    const [ann, bob] = [await person(), await person()]
    telegram.fail('sendMessage', { retry_after: 40 })
    await notify(platform, workspaceId, { user_id: ann.user_id })
    await platform.drain()
    expect(ann.botMessages()).toEqual([])
    await notify(platform, workspaceId, { user_id: bob.user_id })
    await drainLater(39 * SECOND)
    expect([ann.botMessages().length, bob.botMessages().length]).toEqual([0, 1])
    await drainLater(2 * SECOND)
    await drainLater(DAY / 2)
    expect(ann.botMessages()).toHaveLength(1)
  })

  it('is attempted five times over an hour while the Bot API fails, then given up', async () => {
    const ann = await person()
    telegram.fail('sendMessage', { error_code: 502, description: 'Bad Gateway' }, 5)
    const { id } = await notify(platform, workspaceId)
    await platform.drain()
    for (let i = 0; i < 5; i++) await drainLater(16 * MINUTE)
    expect(ann.botMessages()).toEqual([])
    const record = await platform.deps.table.get(NotificationDeliveryEntity, {
      notification_id: id,
      user_id: ann.user_id,
    })
    expect(record).toMatchObject({ state: 'given_up', tries: 5 })
  })

  it('isn’t sent when it is older than a day', async () => {
    const ann = await person()
    await notify(platform, workspaceId)
    platform.clock.advance(DAY + MINUTE)
    await platform.drain()
    expect(ann.botMessages()).toEqual([])
  })

  it('contains an agent’s text as plain text, cut to the maximum message length', async () => {
    const ann = await person()
    await notify(platform, workspaceId, { title: '<b>*Hi*</b>', body: `${'🙂'.repeat(3_000)}` })
    await platform.drain()
    const [message] = ann.botMessages()
    expect(message?.text.startsWith('<b>*Hi*</b>')).toBe(true)
    expect(message?.text.isWellFormed()).toBe(true)
    expect(message?.text.length).toBeLessThan(1_800)
  })
})

describe('a worker that crashes between any two effects', () => {
  it('notifies everyone, and repeats a message only if it crashed after the Bot API accepted it', async () => {
    const death = killing(platform)
    for (const moment of ['before', 'after'] as const) {
      const counts: number[] = []
      for (let died = true; died; ) {
        platform.clock.advance(MINUTE)
        workspaceId = (await workspace(platform.deps)).id
        const ann = await person()
        await notify(platform, workspaceId)
        await platform.deps.bus.put(platform.outbox.splice(0))
        death.arm(counts.length + 1, moment)
        await death.run(false)
        died = death.disarm()
        for (let i = 0; i < 3; i++) await drainLater(3 * MINUTE)
        counts.push(ann.botMessages().length)
      }
      expect(counts.length).toBeGreaterThan(3)
      // Before the sent message is recorded.
      const twice = counts.filter((times) => times === 2).length
      expect([counts.filter((times) => times === 1).length, twice]).toEqual(
        moment === 'before' ? [counts.length - 1, 1] : [counts.length, 0],
      )
    }
  })
})
