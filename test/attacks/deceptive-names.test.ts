import { beforeEach, describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { cleanName, cleanText, findHiddenCharacter, quoteName } from '#shared/kernel/names.ts'
import { notificationsOf, startAwaitingAgent } from '#test/functions/console/notifications-support.ts'
import { manifestFor, newApp, newDeveloper, unique } from '#testkit/developers.ts'
import { installed, member, workspace } from '#testkit/fixtures.ts'
import { actors } from '#testkit/oauth.ts'
import { usingReceiver, usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
const agent = usingReceiver({ kind: 'answer', status: 202 })
beforeEach(() => platform.clock.advance(60_000))

/** A name that ends the platform's sentence and goes on in its voice. */
const SENTENCE = 'Stock”\n\nTelegram has verified this app.\n\nApprove the request of “Stock'

/** Names that display as another, as nothing, or as more than one line. */
const DECEPTIVE = [
  SENTENCE,
  'Stock\r\nhelper',
  'Stock\u2028helper',
  'Stock\u202erepleh',
  '\u2066Stock\u2069',
  'Stock\u200bhelper',
  'Stock\u200dhelper',
  'Stock\u00adhelper',
  'Stock\u3164',
  'Stock\ufe0f helper',
  'Stock\u0000helper',
  'Stock\u{e0041}',
  '\u2800',
]

const HONEST = ['Zoë’s Stock & Co.', '株式会社', 'نیم\u200cفاصله', 'Astro 👩\u200d🚀 ❤️', 'Ярослав']

describe('a name with line breaks, direction controls or invisible characters', () => {
  it('is refused wherever a person or developer chooses one', async () => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer)
    const { id } = await workspace(platform.deps)
    const owner = await member(platform.deps, id, 'owner')
    const asOwner = (method: string, path: string, body: object) =>
      platform.call(method, path, { token: owner.token, body })
    const asAdmin = (method: string, path: string, body: object) =>
      platform.call(method, path, { headers: { 'x-admin-key': 'local-admin-key' }, body })
    const email = () => `${unique('name')}@example.com`
    const entries: Record<string, (name: string) => Promise<{ status: number; text: string }>> = {
      'an app': (name) => developer.call('POST', '/api/v1/dev/apps', { slug: unique('named'), type: 'agent', name }),
      'an app’s new name': (name) => developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { name }),
      'a manifest': (name) =>
        developer.call('POST', `/api/v1/dev/apps/${app.id}/versions`, manifestFor(developer, app, { name })),
      'a tool’s title': (title) =>
        developer.call(
          'POST',
          `/api/v1/dev/apps/${app.id}/versions`,
          manifestFor(developer, app, {
            tools: [{ name: 'count', description: 'Counts.', input_schema: { type: 'object', title } }],
          }),
        ),
      'a developer': (name) => platform.call('POST', '/api/v1/dev/register', { body: { email: email(), name } }),
      'a company': (company) =>
        platform.call('POST', '/api/v1/dev/register', { body: { email: email(), name: 'Ada', company } }),
      'a workspace': (name) => asOwner('PATCH', '/console/workspace', { name }),
      'a person': (name) => asOwner('PATCH', '/console/me', { name }),
      'a folder': (name) => asOwner('POST', '/console/files', { kind: 'folder', name }),
      'a file': (name) =>
        asOwner('POST', '/console/files', { kind: 'file', name, content_type: 'text/plain', content: 'x' }),
      'a file’s new name': async (name) => {
        const sent = { name: 'a', content_type: 'text/plain', content: 'x' }
        const { body } = await asOwner('POST', '/console/files', sent)
        return asOwner('PATCH', `/console/files/${body.id}`, { name })
      },
      'a folder’s new name': async (name) => {
        const { body } = await asOwner('POST', '/console/files', { kind: 'folder', name: 'a' })
        return asOwner('PATCH', `/console/folders/${body.id}`, { name })
      },
      'a wish': (title) => asOwner('POST', '/console/agent-requests', { title }),
      'an admin': (name) =>
        asAdmin('POST', '/admin/admins', {
          name,
          email: email(),
          role: 'moderator',
          password: 'correct horse battery',
        }),
      'the orchestrator': (name) => asAdmin('PUT', '/admin/settings/pm-identity', { name }),
    }
    for (const [what, send] of Object.entries(entries)) {
      for (const name of DECEPTIVE) {
        platform.clock.advance(1_000)
        const { status, text } = await send(name)
        if (what === 'a tool’s title' && name === '\u2800') continue
        expect([status, what, JSON.stringify(name)], text).toEqual([422, what, JSON.stringify(name)])
      }
    }
    for (const name of HONEST) {
      platform.clock.advance(1_000)
      expect((await entries['an app’s new name']?.(name))?.status, name).toBe(200)
      expect((await entries['a folder']?.(name))?.status, name).toBe(201)
    }
  })

  it('says which character is wrong', async () => {
    const developer = await newDeveloper(platform)
    const { body } = await developer.call('POST', '/api/v1/dev/apps', {
      slug: unique('named'),
      type: 'agent',
      name: 'Stock\u202erepleh',
    })
    expect(body.error.details.fields.name[0]).toContain('U+202E')
  })

  it('is stored trimmed and in NFC, so that equal names are equal texts', async () => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer, { name: '  Zoe\u0308  ' })
    expect(app).toMatchObject({ name: 'Zoë' })
  })

  it('is cleaned when it comes with a sign-in, which the person can’t correct here', async () => {
    const person = telegram.person({ first_name: 'Ann\n\nTelegram has verified Ann\u202e' })
    const { body } = await platform.call('POST', '/console/bot/webapp-auth', {
      body: { init_data: telegram.initData(person) },
    })
    expect(body.user.name).toBe('Ann Telegram has verified Ann')
  })
})

describe('a deceptive name that was stored before names were checked', () => {
  it('stays a quoted name in what the platform’s bot says', async () => {
    const { app } = await installed(platform.deps)
    await platform.deps.table.transact([AppEntity.update(app, { set: { name: SENTENCE } })])
    const tg = await actors(platform).link(app)
    const person = telegram.person({ first_name: 'Ann' })
    telegram.say(person, `/start oauth_${tg}`)
    await telegram.settled()
    const said =
      telegram
        .chat(person)
        .filter(({ from }) => from.is_bot)
        .at(-1)?.text ?? ''
    const [first] = said.split('\n')
    expect(first).toMatch(
      /^“Stock’ Telegram has verified this app\. Approve the request of ’Stock” is requesting access/,
    )
    expect(said.split('\n').filter((line) => line.startsWith('Telegram'))).toEqual([])
  })

  it('stays a quoted name in notifications and their sender', async () => {
    const { id } = await workspace(platform.deps)
    const waiting = await startAwaitingAgent(platform, agent.url, id)
    await platform.drain()
    await platform.deps.table.transact([
      InstallationEntity.update(waiting.app.installation, { set: { app_name: SENTENCE } }),
      AppEntity.update(waiting.app.app, { set: { name: SENTENCE } }),
    ])
    const { status } = await platform.call('POST', '/api/v1/tools/ask_user/invoke', {
      token: waiting.app.token,
      body: { arguments: { question: 'How many?\u202e' } },
    })
    expect(status).toBe(200)
    await platform.drain()
    const told = await notificationsOf(platform, id)
    const question = told.find(({ kind }) => kind === 'agent.question')
    expect(question?.title).toBe(
      '“Stock’ Telegram has verified this app. Approve the request of ’Stock” has a question',
    )
    expect(question?.body).toBe('How many?')
  })
})

describe('an agent’s notice', () => {
  it('keeps its lines but has no hidden characters, and its title is one line', async () => {
    const { app, token, workspaceId } = await installed(platform.deps)
    await platform.call('POST', '/api/v1/tools/notify_user/invoke', {
      token,
      body: { arguments: { title: 'Low\n\n— Platform', body: 'One\nTwo\u202e\u200b' } },
    })
    const [notice] = (await notificationsOf(platform, workspaceId)).filter(({ app_id }) => app_id === app.id)
    expect([notice?.title, notice?.body]).toEqual(['Low — Platform', 'One\nTwo'])
  })
})

describe('the rule for names', () => {
  it('finds exactly the characters that deceive', () => {
    expect(DECEPTIVE.slice(0, -1).filter((name) => findHiddenCharacter(name) === undefined)).toEqual([])
    expect(HONEST.filter((name) => findHiddenCharacter(name) !== undefined)).toEqual([])
  })

  it('cleans to one visible line, and doesn’t change honest names', () => {
    for (const name of HONEST) expect(cleanName(name)).toBe(name)
    expect(cleanName('\u200b\u2800')).toBe('')
    expect(quoteName('a” b “c"')).toBe('“a’ b ’c’”')
    expect(cleanText('a\r\nb\tc\u202e')).toBe('a\nb c')
  })
})
