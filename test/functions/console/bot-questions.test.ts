import { beforeEach, describe, expect, it } from 'vitest'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { MemberEntity, MembershipEntity, UserEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { InputRequestEntity, RunEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { holdUntil } from '#testkit/oauth.ts'
import { usingReceiver, usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
const agent = usingReceiver({ kind: 'answer', status: 202 })
beforeEach(() => {
  platform.clock.advance(2 * MINUTE)
  telegram.answers.length = 0
})

let n = 0
type Person = ReturnType<typeof telegram.person>

/** Creates a person who has a chat with the bot and belongs to the workspace, if any. */
const person = async (workspaceId?: string) => {
  const known = telegram.person({ first_name: `Quinn${++n}` })
  const { body } = await platform.call('POST', '/console/bot/webapp-auth', {
    body: { init_data: telegram.initData(known) },
  })
  const at = { workspace_id: workspaceId ?? body.workspace.id, user_id: body.user.id as string }
  if (workspaceId !== undefined) {
    await platform.deps.table.transact([
      MemberEntity.create({ ...at, name: body.user.name, role: 'member', joined_at: platform.clock.now() }),
      MembershipEntity.create(at),
    ])
  }
  telegram.say(known, '/start')
  await telegram.settled()
  return { ...at, known }
}

/** Starts a run that asks a member's workspace, and delivers the question to their chat. */
const asked = async (input_requests: object, protocol?: 'mcp') => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const ann = await person(app.workspaceId)
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  if (protocol) {
    const key = { installation_id: app.installation.id, id: run.id }
    await platform.deps.table.transact([RunEntity.update(key, { set: { protocol } })])
  }
  const token = await callbackToken(platform.deps, app, run.id)
  const { status } = await platform.call('POST', `/api/v1/runs/${run.id}/input-requests`, {
    token,
    body: { input_requests },
  })
  expect(status).toBe(201)
  await platform.drain()
  const step = async () => (await platform.call('GET', `/api/v1/runs/${run.id}`, { token: app.token })).body.steps[0]
  return { app, ann, run, step, answerInConsole: consoleAnswer(app.person.token, run.id) }
}

const consoleAnswer = (token: string, id: string) => (responses: object) =>
  platform.call('POST', `/console/runs/${id}/input`, { token, body: { responses } })

const question = (known: Person) => {
  const found = telegram.chat(known).find(({ text }) => text.includes('has a question'))
  return found ?? expect.fail('the question was not sent')
}
const buttons = (known: Person) =>
  question(known)
    .reply_markup?.inline_keyboard.flat()
    .map(({ text }) => text)
const last = (known: Person) => telegram.chat(known).at(-1)?.text
/** Presses a button, and returns the alert. */
const press = async (known: Person, button: number) => {
  const pressed = telegram.press(known, question(known).message_id, button)
  if (pressed.kind !== 'callback') throw new Error('the button has no callback')
  await telegram.settled()
  return { ...pressed, alert: (await pressed.answer)?.text }
}
const reply = async (known: Person, text: string) => {
  const update = telegram.reply(known, question(known).message_id, text)
  await telegram.settled()
  return update
}

const WAREHOUSE = {
  message: 'Which warehouse?',
  schema: { type: 'object', properties: { name: { type: 'string', enum: ['North', 'South'] } }, required: ['name'] },
}
const BOXES = {
  message: 'How many boxes?',
  schema: { type: 'object', properties: { boxes: { type: 'integer', minimum: 1, description: 'Full ones only' } } },
}
const NOTE = { message: 'What should I write?' }
const accepted = (content: object) => ({ action: 'accept', content })

describe('an agent’s question in the bot', () => {
  it('with few values is answered by a button, with the audit of the console', async () => {
    const { app, ann, run, step } = await asked({ warehouse: WAREHOUSE })
    expect(buttons(ann.known)).toEqual(['North', 'South', 'Decline to answer', 'Open'])
    await press(ann.known, 1)
    expect(await step()).toMatchObject({
      status: 'answered',
      output: { responses: { warehouse: accepted({ name: 'South' }) } },
    })
    expect(question(ann.known)).toMatchObject({
      text: expect.stringMatching(/Which warehouse\?.*✓ You answered “South”/s),
    })
    expect(question(ann.known).reply_markup).toBeUndefined()
    const { items } = await platform.deps.table.query(AuditEntity, { scope: app.workspaceId }, { limit: 10 })
    const entry = items.find(({ action }) => action === 'run.answered')
    expect(entry).toMatchObject({ actor: { type: 'user', id: ann.user_id }, target: { type: 'run', id: run.id } })
    expect(entry?.source_ip).toBeUndefined()
  })

  it('to an MCP client is answered by a button, too, if it asks for a form', async () => {
    const { message, schema } = WAREHOUSE
    const params = { message, requestedSchema: schema }
    const { ann, step } = await asked({ warehouse: { method: 'elicitation/create', params } }, 'mcp')
    expect(question(ann.known).text).toContain(message)
    await press(ann.known, 1)
    expect(await step()).toMatchObject({
      status: 'answered',
      output: { responses: { warehouse: accepted({ name: 'South' }) } },
    })
  })

  it('with yes and no is answered by a button', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } } }
    const { ann, step } = await asked({ go: { message: 'Shall I?', schema } })
    expect(buttons(ann.known)).toEqual(['Yes', 'No', 'Decline to answer', 'Open'])
    await press(ann.known, 1)
    expect((await step()).output.responses).toEqual({ go: accepted({ ok: false }) })
  })

  it('with one text is answered by a reply, and its agent hears a refusal, too', async () => {
    const { ann, step } = await asked({ note: NOTE })
    expect(question(ann.known).text).toContain('To answer, reply to this message.')
    await reply(ann.known, '/start')
    expect(last(ann.known)).toContain('Hi!')
    expect((await step()).status).toBe('pending')
    await reply(ann.known, 'Thanks for the boxes!')
    expect((await step()).output.responses).toEqual({ note: accepted({ text: 'Thanks for the boxes!' }) })
    expect(last(ann.known)).toContain('Your answer was sent')
    const other = await asked({ note: NOTE })
    await press(other.ann.known, 0)
    expect((await other.step()).output.responses).toEqual({ note: { action: 'decline' } })
  })

  it('checks a reply against the form, and stays open', async () => {
    const { ann, step } = await asked({ boxes: BOXES })
    expect(question(ann.known).text).toContain('Full ones only')
    for (const [text, problem] of [
      ['many', 'must be of type integer'],
      ['2.5', 'must be of type integer'],
      ['0', 'must be 1 or more'],
    ] as const) {
      await reply(ann.known, text)
      expect(last(ann.known)).toContain(problem)
    }
    expect((await step()).status).toBe('pending')
    await reply(ann.known, ' 3 ')
    expect((await step()).output.responses).toEqual({ boxes: accepted({ boxes: 3 }) })
  })

  it.each([
    ['two questions', { one: NOTE, two: NOTE }],
    [
      'two fields',
      {
        one: {
          message: 'Both?',
          schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
        },
      },
    ],
    [
      'many values',
      {
        one: {
          message: 'Which?',
          schema: { type: 'object', properties: { a: { enum: Array.from({ length: 11 }, (_, i) => i) } } },
        },
      },
    ],
    [
      'values that look the same',
      { one: { message: 'Which?', schema: { type: 'object', properties: { a: { enum: ['North', 'North\u200b'] } } } } },
    ],
    ['more text than the bot shows', { one: { message: 'x'.repeat(1_501) } }],
  ])('with %s leads to the console', async (_, input_requests) => {
    const { ann, run, step } = await asked(input_requests)
    expect(buttons(ann.known)).toEqual(['Open'])
    const [[open] = []] = question(ann.known).reply_markup?.inline_keyboard ?? []
    expect(open).toMatchObject({ web_app: { url: expect.stringContaining(`${run.id}-${(await step()).id}`) } })
    await reply(ann.known, 'anything')
    expect(last(ann.known)).toContain('doesn’t take a reply here')
    expect((await step()).status).toBe('pending')
  })

  it('isn’t sent once somebody answered it', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const ann = await person(app.workspaceId)
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await platform.drain()
    const token = await callbackToken(platform.deps, app, run.id)
    const ask = { token, body: { input_requests: { note: NOTE } } }
    await platform.call('POST', `/api/v1/runs/${run.id}/input-requests`, ask)
    expect((await consoleAnswer(app.person.token, run.id)({ note: { action: 'decline' } })).status).toBe(200)
    await platform.drain()
    expect(telegram.chat(ann.known).filter(({ text }) => text.includes('question'))).toEqual([])
  })
})

describe('an answer in the bot that isn’t the person’s to give', () => {
  /** Presses the button as somebody else, or replies: Telegram sends what the message in their chat contains. */
  const forge = async (from: Person, to: Person, button: number) => {
    const { text, reply_markup } = question(to)
    const bot = { chat_id: from.id, text, reply_markup }
    await platform.deps.bot.call('sendMessage', bot as never)
    return press(from, button)
  }

  it('is refused to strangers, to former members and to blocked people', async () => {
    const { app, ann, step } = await asked({ warehouse: WAREHOUSE })
    const stranger = await person()
    const former = await person(app.workspaceId)
    await platform.deps.table.transact([MemberEntity.delete(former), MembershipEntity.delete(former)])
    const blocked = await person(app.workspaceId)
    await platform.deps.table.transact([UserEntity.update({ id: blocked.user_id }, { set: { status: 'blocked' } })])
    const unknown = telegram.person({ first_name: 'Unknown' })
    telegram.say(unknown, 'hi')
    await telegram.settled()
    for (const known of [stranger.known, former.known, blocked.known, unknown]) {
      await forge(known, ann.known, 0)
      expect(question(known).text).toContain('You can’t answer this question')
    }
    expect((await step()).status).toBe('pending')
  })

  it('is refused in a suspended workspace, and works once that is lifted', async () => {
    const { app, ann, step } = await asked({ warehouse: WAREHOUSE })
    const suspend = (status: 'suspended' | 'active') =>
      platform.deps.table.transact([WorkspaceEntity.update({ id: app.workspaceId }, { set: { status } })])
    await suspend('suspended')
    expect((await press(ann.known, 0)).alert).toContain('suspended')
    expect(buttons(ann.known)).toContain('North')
    await suspend('active')
    await press(ann.known, 0)
    expect((await step()).status).toBe('answered')
  })

  it('is refused for another person’s chat, whose questions only that person gets', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const ann = await person(app.workspaceId)
    const as = { token: app.person.token }
    const { body: chat } = await platform.call('POST', '/console/conversations', {
      ...as,
      body: { installation_id: app.installation.id },
    })
    const { body: said } = await platform.call('POST', `/console/conversations/${chat.id}/messages`, {
      ...as,
      body: { text: 'Order boxes.' },
    })
    await platform.drain()
    const asking = await platform.call('POST', `/api/v1/runs/${said.run_id}/input-requests`, {
      token: await callbackToken(platform.deps, app, said.run_id),
      body: { input_requests: { warehouse: WAREHOUSE } },
    })
    await platform.drain()
    expect(telegram.chat(ann.known).filter(({ text }) => text.includes('question'))).toEqual([])
    const { items } = await platform.deps.table.query(
      NotificationEntity,
      { workspace_id: app.workspaceId },
      { limit: 10 },
    )
    const { id = '' } = items.find(({ kind }) => kind === 'agent.question') ?? {}
    const button = { text: 'North', callback_data: `a:${app.workspaceId.slice(3)}:${id.slice(4)}:0` }
    const text = 'Somebody has a question'
    const reply_markup = { inline_keyboard: [[button]] }
    await platform.deps.bot.call('sendMessage', { chat_id: ann.known.id, text, reply_markup })
    await press(ann.known, 0)
    expect(question(ann.known).text).toContain('You can’t answer this question')
    const key = { run_id: said.run_id, step_id: asking.body.step_id }
    expect((await platform.deps.table.get(InputRequestEntity, key))?.status).toBe('pending')
  })

  it('is ignored in a reply to a message that another bot put into the chat', async () => {
    const { ann, step } = await asked({ note: NOTE })
    const { botId, post } = await webhook()
    const { from: _, ...message } = question(ann.known)
    const update = (id: number) => ({
      update_id: Date.now() + id,
      message: {
        message_id: 1,
        date: 1,
        chat: message.chat,
        from: ann.known,
        text: 'Pizza',
        reply_to_message: { ...message, from: { id, is_bot: true, first_name: 'Inline' } },
      },
    })
    expect((await post(update(botId + 1))).status).toBe(200)
    expect((await step()).status).toBe('pending')
    expect((await post(update(botId))).status).toBe(200)
    expect((await step()).status).toBe('answered')
  })
})

const webhook = async () => {
  const credentials = await platform.deps.bot.credentials()
  if (!credentials) throw new Error('no bot')
  const headers = { 'x-telegram-bot-api-secret-token': credentials.webhookSecret }
  return {
    botId: Number(credentials.token.split(':')[0]),
    post: (body: object) => platform.call('POST', '/console/bot/webhook', { headers, body }),
  }
}

describe('two answers in the bot', () => {
  it('keep the first, and the second person gets a message', async () => {
    const { app, ann, step, answerInConsole } = await asked({ warehouse: WAREHOUSE })
    expect((await answerInConsole({ warehouse: accepted({ name: 'North' }) })).status).toBe(200)
    await press(ann.known, 1)
    expect(question(ann.known).text).toContain('already been answered')
    expect((await step()).output.responses).toEqual({ warehouse: accepted({ name: 'North' }) })
    const { items } = await platform.deps.table.query(AuditEntity, { scope: app.workspaceId }, { limit: 20 })
    expect(items.filter(({ action }) => action === 'run.answered')).toHaveLength(1)
  })

  it('at the same moment keep one, and the other person gets a message', async () => {
    const { app, ann, step, answerInConsole } = await asked({ warehouse: WAREHOUSE })
    const restore = holdUntil(platform, 'input-request', 2)
    const [pressed] = await Promise.all([
      press(ann.known, 1),
      answerInConsole({ warehouse: accepted({ name: 'North' }) }),
    ]).finally(restore)
    expect(pressed.kind).toBe('callback')
    const { warehouse } = (await step()).output.responses
    const isAnns = warehouse.content.name === 'South'
    expect(question(ann.known).text).toContain(isAnns ? 'You answered' : 'already been answered')
    const { items } = await platform.deps.table.query(AuditEntity, { scope: app.workspaceId }, { limit: 20 })
    expect(items.filter(({ action }) => action === 'run.answered')).toHaveLength(1)
  })

  it('of a replayed update are one', async () => {
    const { ann, step } = await asked({ note: NOTE })
    const update = await reply(ann.known, 'once')
    const before = telegram.chat(ann.known).length
    expect(await telegram.redeliver(update)).toBe(200)
    expect(telegram.chat(ann.known)).toHaveLength(before)
    expect((await step()).output.responses).toEqual({ note: accepted({ text: 'once' }) })
  })

  it('are one, and it is confirmed, when the request dies between the answer and the reply', async () => {
    const { ann, step } = await asked({ warehouse: WAREHOUSE })
    telegram.fail('editMessageText', { error_code: 500, description: 'Internal Server Error' })
    await press(ann.known, 1)
    expect(telegram.answers).toContain(409)
    expect(question(ann.known).text).toContain('You answered “South”')
    expect((await step()).output.responses).toEqual({ warehouse: accepted({ name: 'South' }) })
  })
})

describe('a late answer in the bot', () => {
  it.each([
    ['expired', 'failed', () => platform.clock.advance(DAY + MINUTE)],
    ['belongs to a run that was cancelled', 'cancelled', undefined],
  ])('to a question that %s is refused', async (_, status, pass) => {
    const { app, ann, run } = await asked({ warehouse: WAREHOUSE })
    if (pass) pass()
    else await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: app.token })
    await platform.sweep()
    await press(ann.known, 0)
    expect(question(ann.known).text).toContain('no longer waits for an answer')
    const key = { installation_id: app.installation.id, id: run.id }
    expect((await platform.deps.table.get(RunEntity, key))?.status).toBe(status)
  })

  it('after the app was uninstalled is refused', async () => {
    const { app, ann } = await asked({ warehouse: WAREHOUSE })
    const gone = await platform.call('DELETE', `/console/installations/${app.installation.id}`, {
      token: app.person.token,
    })
    expect(gone.status, gone.text).toBeLessThan(300)
    await press(ann.known, 0)
    expect(question(ann.known).text).toContain('no longer waits for an answer')
  })
})
