import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, MembershipEntity, type Role, UserEntity } from '#shared/identity/people/entity.ts'
import { BotUpdateEntity } from '#shared/messaging/bot/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { member, workspace as newWorkspace } from '#testkit/fixtures.ts'
import { holdUntil } from '#testkit/oauth.ts'
import { succeeded, TEST_BOT } from '#testkit/platform.ts'
import { usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
beforeEach(() => {
  platform.clock.advance(60_000)
  telegram.answers.length = 0
})

let people = 0
const newPerson = () => telegram.person({ first_name: `Cleo ${++people}` })
type Person = ReturnType<typeof newPerson>

const say = async (person: Person, text: string) => {
  telegram.say(person, text)
  await telegram.settled()
  return lastOf(person)
}
const lastOf = (person: Person) => {
  const last = telegram.chat(person).at(-1)
  if (!last) throw new Error('no message')
  return last
}
const JOIN = 0
const NOT_NOW = 1
const press = async (person: Person, button: number, messageId = lastOf(person).message_id) => {
  const pressed = telegram.press(person, messageId, button)
  if (pressed.kind !== 'callback') throw new Error('the button has no callback')
  await telegram.settled()
  return pressed
}

/** Creates a workspace whose owner can send invitations. */
const inviting = async () => {
  const workspace = await newWorkspace(platform.deps)
  const owner = await member(platform.deps, workspace.id, 'owner')
  const invite = (role: Role = 'member'): Promise<{ id: string; start_parameter: string }> => {
    return succeeded(platform.call('POST', '/console/invitations', { token: owner.token, body: { role } }))
  }
  return { workspace, owner, invite }
}
const signIn = async (person: Person) => {
  platform.clock.advance(1_000)
  const init_data = telegram.initData(person)
  return (await platform.call('POST', '/console/bot/webapp-auth', { body: { init_data } })).body
}
const memberOf = (workspace_id: string, user_id: string) =>
  platform.deps.table.get(MemberEntity, { workspace_id, user_id })
const membersOf = async (workspace_id: string) =>
  (await platform.deps.table.query(MemberEntity, { workspace_id }, { limit: 20 })).items

describe('/start with an invitation', () => {
  it('shows the workspace and the role, and asks for confirmation', async () => {
    const { workspace, invite } = await inviting()
    const { start_parameter } = await invite('admin')
    const person = newPerson()
    const { text, reply_markup } = await say(person, `/start ${start_parameter}`)
    expect(text).toContain(`“${workspace.name}” as an admin`)
    expect(reply_markup?.inline_keyboard.flat().map((button) => button.text)).toEqual(['Join', 'Not now'])
    expect(await membersOf(workspace.id)).toHaveLength(1)
  })

  it.each(['unknown', 'expired', 'revoked', 'used'])(
    'reports that an invitation is no longer valid when it is %s',
    async (what) => {
      const { owner, invite } = await inviting()
      const { id, start_parameter } = await invite()
      if (what === 'expired') platform.clock.advance(7 * 86_400_000)
      if (what === 'revoked') await platform.call('DELETE', `/console/invitations/${id}`, { token: owner.token })
      if (what === 'used') {
        const first = newPerson()
        await say(first, `/start ${start_parameter}`)
        await press(first, JOIN)
      }
      const { text, reply_markup } = await say(
        newPerson(),
        `/start ${what === 'unknown' ? 'join_unknown' : start_parameter}`,
      )
      expect(text).toContain('invitation is no longer valid')
      expect(reply_markup).toBeUndefined()
    },
  )
})

describe('joining', () => {
  it('creates an account with its own workspace for a new person, and lands them in the one they joined', async () => {
    const { workspace, invite } = await inviting()
    const person = newPerson()
    await say(person, `/start ${(await invite()).start_parameter}`)
    const { answer } = await press(person, JOIN)
    expect(await answer).toEqual({ show_alert: false })
    expect(lastOf(person)).toMatchObject({ text: expect.stringContaining(`joined “${workspace.name}”`) })
    expect(lastOf(person).reply_markup).toBeUndefined()
    const session = await signIn(person)
    expect(session.workspace).toMatchObject({ id: workspace.id, role: 'member' })
    const { items } = await platform.deps.table.query(MembershipEntity, { user_id: session.user.id }, { limit: 10 })
    expect(items).toHaveLength(2)
    expect(await memberOf(workspace.id, session.user.id)).toMatchObject({ name: person.first_name, role: 'member' })
  })

  it('keeps the home workspace of an existing person', async () => {
    const { workspace, invite } = await inviting()
    const person = newPerson()
    const before = await signIn(person)
    await say(person, `/start ${(await invite('admin')).start_parameter}`)
    await press(person, JOIN)
    const after = await signIn(person)
    expect([after.user.id, after.workspace.id]).toEqual([before.user.id, before.workspace.id])
    expect((await memberOf(workspace.id, before.user.id))?.role).toBe('admin')
    const audit = await platform.deps.table.query(AuditEntity, { scope: workspace.id }, { limit: 10 })
    const entry = audit.items.find(({ action }) => action === 'member.joined')
    expect(entry).toMatchObject({ actor: { type: 'user', id: before.user.id } })
    expect(entry?.source_ip).toBeUndefined()
  })

  it('keeps the invitation valid when the person declines for now', async () => {
    const { workspace, invite } = await inviting()
    const { start_parameter } = await invite()
    const person = newPerson()
    await say(person, `/start ${start_parameter}`)
    await press(person, NOT_NOW)
    expect(lastOf(person).text).toContain('You didn’t join')
    expect(await membersOf(workspace.id)).toHaveLength(1)
    await say(person, `/start ${start_parameter}`)
    await press(person, JOIN)
    expect(await membersOf(workspace.id)).toHaveLength(2)
  })

  it('says to a member that they have already joined, and keeps the invitation', async () => {
    const { workspace, invite } = await inviting()
    const person = newPerson()
    await say(person, `/start ${(await invite()).start_parameter}`)
    await press(person, JOIN)
    const { start_parameter } = await invite('owner')
    expect((await say(person, `/start ${start_parameter}`)).text).toContain('already')
    const other = newPerson()
    expect((await say(other, `/start ${start_parameter}`)).text).toContain('as an owner')
    // The question was asked before they became a member, and answered afterwards.
    const { start_parameter: third } = await invite()
    await say(other, `/start ${third}`)
    const ids = telegram
      .chat(other)
      .filter(({ reply_markup }) => reply_markup)
      .map((one) => one.message_id)
    await press(other, JOIN, ids[0])
    await press(other, JOIN, ids[1])
    expect(lastOf(other).text).toContain('already')
    expect((await membersOf(workspace.id)).map(({ role }) => role).sort()).toEqual(['member', 'owner', 'owner'])
  })

  it.each(['expired', 'revoked', 'used by another'])(
    'reports an invitation that is %s in the meantime',
    async (what) => {
      const { workspace, owner, invite } = await inviting()
      const { id, start_parameter } = await invite()
      const [person, other] = [newPerson(), newPerson()]
      await say(person, `/start ${start_parameter}`)
      await say(other, `/start ${start_parameter}`)
      if (what === 'expired') platform.clock.advance(7 * 86_400_000)
      if (what === 'revoked') await platform.call('DELETE', `/console/invitations/${id}`, { token: owner.token })
      if (what === 'used by another') await press(other, JOIN)
      await press(person, JOIN)
      expect(lastOf(person).text).toContain('invitation is no longer valid')
      expect(await membersOf(workspace.id)).toHaveLength(what === 'used by another' ? 2 : 1)
    },
  )

  it('admits one of two concurrent people and says to the other that the invitation is no longer valid', async () => {
    const { workspace, invite } = await inviting()
    const { start_parameter } = await invite()
    const pair = [newPerson(), newPerson()]
    for (const person of pair) await say(person, `/start ${start_parameter}`)
    const release = holdUntil(platform, 'invitation', 2)
    for (const person of pair) telegram.press(person, lastOf(person).message_id, JOIN)
    await telegram.settled()
    release()
    const texts = pair.map((person) => lastOf(person).text).sort()
    expect(texts).toEqual([
      expect.stringContaining('invitation is no longer valid'),
      expect.stringContaining('You joined'),
    ])
    expect(await membersOf(workspace.id)).toHaveLength(2)
  })

  it('confirms every press of the button, whether concurrent, sequential or through the link again', async () => {
    for (const when of ['after', 'at once', 'between'] as const) {
      const { workspace, invite } = await inviting()
      const { start_parameter } = await invite()
      const person = newPerson()
      const question = await say(person, `/start ${start_parameter}`)
      const presses = [pressOf(person, question), pressOf(person, question)]
      if (when === 'at once') {
        const release = holdUntil(platform, 'invitation', 2)
        await Promise.all(presses.map(webhook))
        release()
      } else if (when === 'after') {
        for (const update of presses) expect((await webhook(update)).status).toBe(200)
      } else {
        // The second request has read the valid invitation, and then finds that the person is a member.
        const { table } = platform.deps
        const { getAll } = table
        let inviters = 0
        table.getAll = (async (refs: Parameters<typeof getAll>[0]) => {
          const found = await getAll.call(table, refs)
          if (refs[0]?.entity.name === 'developer' && ++inviters === 1) await webhook(presses[1] as object)
          return found
        }) as typeof getAll
        await webhook(presses[0] as object)
        table.getAll = getAll
      }
      expect(lastOf(person).text, when).toContain('You joined')
      expect(await membersOf(workspace.id), when).toHaveLength(2)
      expect((await say(person, `/start ${start_parameter}`)).text, when).toContain('You joined')
      expect((await say(newPerson(), `/start ${start_parameter}`)).text, when).toContain(
        'invitation is no longer valid',
      )
      const joined = (await membersOf(workspace.id)).find(({ role }) => role === 'member')
      const at = { workspace_id: workspace.id, user_id: joined?.user_id ?? '' }
      await platform.deps.table.transact([MemberEntity.delete(at), MembershipEntity.delete(at)])
      expect((await say(person, `/start ${start_parameter}`)).text, when).toContain('invitation is no longer valid')
    }
  })

  it('creates a new person when it races the deletion of the account, and never a member without an account', async () => {
    const { workspace, invite } = await inviting()
    const person = newPerson()
    const { user, token } = await signIn(person)
    await say(person, `/start ${(await invite()).start_parameter}`)
    const { table } = platform.deps
    const { transact } = table
    table.transact = async (writes) => {
      if (writes.some(({ key }) => key.sk === `MEMBER#${user.id}` && key.pk === `WS#${workspace.id}`)) {
        table.transact = transact
        expect((await platform.call('DELETE', '/console/me', { token })).status).toBe(204)
      }
      return transact.call(table, writes)
    }
    await press(person, JOIN)
    table.transact = transact
    expect(lastOf(person).text).toContain('You joined')
    const members = (await membersOf(workspace.id)).map(({ user_id }) => user_id)
    expect(members).toHaveLength(2)
    expect(members).not.toContain(user.id)
    expect((await table.query(MembershipEntity, { user_id: user.id }, { limit: 10 })).items).toEqual([])
    expect((await table.get(UserEntity, { id: user.id }))?.name).toBe('Deleted user')
  })

  it('is refused for a blocked person', async () => {
    const { workspace, invite } = await inviting()
    const person = newPerson()
    const { user } = await signIn(person)
    await platform.deps.table.transact([UserEntity.update({ id: user.id }, { set: { status: 'blocked' } })])
    await say(person, `/start ${(await invite()).start_parameter}`)
    await press(person, JOIN)
    expect(lastOf(person).text).toContain('blocked')
    expect(await membersOf(workspace.id)).toHaveLength(1)
  })

  it('joins and reports once when the request crashes after any write or call', async () => {
    for (let n = 1; ; n++) {
      const { workspace, invite } = await inviting()
      const person = newPerson()
      await say(person, `/start ${(await invite()).start_parameter}`)
      const update = pressOf(person, lastOf(person))
      const death = mortal(n)
      const first = await webhook(update)
      const died = death.restore()
      if (died) {
        expect(first.status, `after effect ${n}`).toBe(500)
        // A crashed request gets no response, so the Bot API redelivers the update.
        expect((await webhook(update)).status, `after effect ${n}`).toBe(n === 5 ? 200 : 409)
        platform.clock.advance(35_001)
      }
      expect((await webhook(update)).status, `after effect ${n}`).toBe(200)
      expect(await membersOf(workspace.id), `after effect ${n}`).toHaveLength(2)
      expect(lastOf(person).text, `after effect ${n}`).toContain('You joined')
      const key = { bot_id: '42', update_id: update.update_id }
      expect(await platform.deps.table.get(BotUpdateEntity, key)).toMatchObject({ state: 'done' })
      if (!died) {
        // Claim, join, answer, edit, done.
        expect(n).toBe(6)
        return
      }
    }
  })

  it('joins once and reports later when the Bot API is down', async () => {
    const { workspace, invite } = await inviting()
    const person = newPerson()
    await say(person, `/start ${(await invite()).start_parameter}`)
    telegram.answers.length = 0
    telegram.fail('editMessageText', { error_code: 500, description: 'Internal Server Error' })
    await press(person, JOIN)
    expect(telegram.answers).toEqual([409, 200])
    expect(lastOf(person).text).toContain('You joined')
    expect(await membersOf(workspace.id)).toHaveLength(2)
  })
})

it('an unknown button is acknowledged without effect', async () => {
  const person = newPerson()
  await say(person, '/start')
  const { message_id } = lastOf(person)
  for (const data of ['join:', 'join:unknown', 'else', 'x'.repeat(64)]) {
    expect((await webhook(pressOf(person, { message_id }, data))).status, data).toBe(200)
  }
})

let updates = 5_000
/**
 * Builds the update for a button press, for tests that send it directly. Without data, the message's first button is
 * pressed.
 */
function pressOf(person: Person, message: { message_id: number; reply_markup?: unknown }, data?: string) {
  const [button] = (message as ReturnType<typeof lastOf>).reply_markup?.inline_keyboard.flat() ?? []
  const { message_id } = message
  return {
    update_id: ++updates,
    callback_query: {
      id: '1',
      from: person,
      chat_instance: '1',
      message: { message_id, date: 0, chat: { id: person.id, type: 'private' } },
      data: data ?? (button && 'callback_data' in button ? button.callback_data : ''),
    },
  }
}

function webhook(body: object) {
  const headers = { 'x-telegram-bot-api-secret-token': TEST_BOT.webhookSecret }
  return platform.call('POST', '/console/bot/webhook', { headers, body })
}

/** Crashes the webhook after its n-th effect, which is a write or a call of the Bot API. */
function mortal(n: number) {
  const { table } = platform.deps
  const { bot } = platform.deps
  const { transact } = table
  let effects = 0
  let died = false
  const effect = async <T>(run: () => Promise<T>): Promise<T> => {
    if (died) throw new Error('the process is dead')
    const result = await run()
    effects += 1
    if (effects !== n) return result
    died = true
    throw new Error('the process died')
  }
  table.transact = (writes) => effect(() => transact.call(table, writes))
  platform.deps.bot = { ...bot, call: (method, payload) => effect(() => bot.call(method, payload)) }
  return {
    restore: () => {
      table.transact = transact
      platform.deps.bot = bot
      return died
    },
  }
}
