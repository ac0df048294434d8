import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { ToldPersonEntity } from '#shared/entities/inbox.ts'
import { MemberEntity, MembershipEntity, UserEntity } from '#shared/entities/people.ts'
import { DAY, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { asking, awaiting, notificationsOf, notify } from '#test/functions/overview/support.ts'
import { workspace } from '#test/support/fixtures.ts'
import { killing } from '#test/support/killing.ts'
import { usingReceiver, usingTelegram } from '#test/support/using.ts'
import { usingPlatform } from '#test/support/using-platform.ts'

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

/** Somebody of the messaging app who signed in and is in the workspace. */
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
  const told = () => telegram.chat(telegramPerson).filter(({ text }) => text.includes('—'))
  return { ...at, telegramPerson, told, ...asking(platform, switched.token) }
}

const drainLater = async (ms: number) => {
  platform.clock.advance(ms)
  await platform.drain()
}

describe('a notification', () => {
  it('reaches everybody of the workspace who has a chat with the bot, once, in whose name it was said', async () => {
    const [ann, bob, silent] = [await person(), await person(), await person({ started: false })]
    const outsider = await person()
    await platform.deps.table.transact([MemberEntity.delete(outsider)])
    await notify(platform, workspaceId, { target: { type: 'task', id: 'tsk_01kae5m1v8w6c3x9q2r7t4y0zn' } })
    await platform.drain()
    for (const { told } of [ann, bob]) {
      expect(told()).toHaveLength(1)
      expect(told()[0]).toMatchObject({
        text: expect.stringMatching(/^Stock is low\n\nThree pieces are left\.\n\n— Workspace \d+$/),
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
    expect([silent.told(), outsider.told()]).toEqual([[], []])
  })

  it('to one person reaches nobody else', async () => {
    const [ann, bob] = [await person(), await person()]
    await notify(platform, workspaceId, { user_id: ann.user_id })
    await platform.drain()
    expect([ann.told().length, bob.told().length]).toEqual([1, 0])
  })

  it('is told once, however often its event and its messages come', async () => {
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
    expect(ann.told()).toHaveLength(1)
  })

  it('of a run that waits for approval leads to its step, and is made once beside the run', async () => {
    const ann = await person()
    const { runId, stepId, app } = await awaiting(platform, agent.url, workspaceId)
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
    expect(ann.told()).toHaveLength(1)
    const parameter = `${runId}-${stepId}`
    expect(parameter.length).toBeLessThanOrEqual(64)
    expect(JSON.stringify(ann.told()[0])).toContain(`tgWebAppStartParam=${parameter}`)
    expect((await ann.read('/notifications')).items).toMatchObject([{ start_parameter: parameter, read: false }])
  })

  it('of an approval that was decided meanwhile is neither made nor told', async () => {
    const ann = await person()
    const { runId, stepId } = await awaiting(platform, agent.url, workspaceId)
    await ann.call('POST', `/runs/${runId}/steps/${stepId}/decision`, { decision: 'reject' })
    await platform.drain()
    expect([await notificationsOf(platform, workspaceId), ann.told()]).toEqual([[], []])
  })

  it('does not reach who is blocked, muted it, turned its kind off, or left before it was told', async () => {
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
    expect([blocked, muted, away, off, left].map(({ told }) => told().length)).toEqual([0, 0, 0, 0, 0])
    expect(ann.told()).toHaveLength(1)
    await notify(platform, workspaceId, { kind: 'task.question' })
    await platform.drain()
    expect([off.told().length, muted.told().length]).toEqual([1, 0])
    await drainLater(DAY)
    await notify(platform, workspaceId, { kind: 'task.report' })
    await platform.drain()
    expect(away.told()).toHaveLength(1)
  })

  it('after a block is not sent again until the person writes to the bot', async () => {
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
    expect(ann.told().map(({ text }) => text.split('\n')[0])).toEqual(['Stock is full'])
  })

  it('waits as long as the Bot API asks, then is sent once; other people do not wait', async () => {
    const [ann, bob] = [await person(), await person()]
    telegram.fail('sendMessage', { retry_after: 40 })
    await notify(platform, workspaceId, { user_id: ann.user_id })
    await platform.drain()
    expect(ann.told()).toEqual([])
    await notify(platform, workspaceId, { user_id: bob.user_id })
    await drainLater(39 * SECOND)
    expect([ann.told().length, bob.told().length]).toEqual([0, 1])
    await drainLater(2 * SECOND)
    await drainLater(DAY / 2)
    expect(ann.told()).toHaveLength(1)
  })

  it('is tried five times over an hour while the Bot API fails, then given up', async () => {
    const ann = await person()
    telegram.fail('sendMessage', { error_code: 502, description: 'Bad Gateway' }, 5)
    const { id } = await notify(platform, workspaceId)
    await platform.drain()
    for (let i = 0; i < 5; i++) await drainLater(16 * MINUTE)
    expect(ann.told()).toEqual([])
    const told = await platform.deps.table.get(ToldPersonEntity, { notification_id: id, user_id: ann.user_id })
    expect(told).toMatchObject({ state: 'given_up', tries: 5 })
  })

  it('older than a day is not told any more', async () => {
    const ann = await person()
    await notify(platform, workspaceId)
    platform.clock.advance(DAY + MINUTE)
    await platform.drain()
    expect(ann.told()).toEqual([])
  })

  it('says what an agent wrote as text, cut to what a message holds', async () => {
    const ann = await person()
    await notify(platform, workspaceId, { title: '<b>*Hi*</b>', body: `${'🙂'.repeat(3_000)}` })
    await platform.drain()
    const [message] = ann.told()
    expect(message?.text.startsWith('<b>*Hi*</b>')).toBe(true)
    expect(message?.text.isWellFormed()).toBe(true)
    expect(message?.text.length).toBeLessThan(1_800)
  })
})

describe('a worker that dies between any two lines', () => {
  it('leaves nobody untold, and tells nobody twice but where it died after the Bot API took the message', async () => {
    const death = killing(platform)
    for (const moment of ['before', 'after'] as const) {
      const told: number[] = []
      for (let died = true; died; ) {
        platform.clock.advance(MINUTE)
        workspaceId = (await workspace(platform.deps)).id
        const ann = await person()
        await notify(platform, workspaceId)
        await platform.deps.bus.put(platform.outbox.splice(0))
        death.arm(told.length + 1, moment)
        await death.run(false)
        died = death.disarm()
        for (let i = 0; i < 3; i++) await drainLater(3 * MINUTE)
        told.push(ann.told().length)
      }
      expect(told.length).toBeGreaterThan(3)
      // Before what was sent is recorded.
      const twice = told.filter((times) => times === 2).length
      expect([told.filter((times) => times === 1).length, twice]).toEqual(
        moment === 'before' ? [told.length - 1, 1] : [told.length, 0],
      )
    }
  })
})
