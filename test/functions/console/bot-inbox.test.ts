import { beforeEach, expect, it } from 'vitest'
import { MemberEntity, MembershipEntity } from '#shared/identity/people/entity.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { usingReceiver, usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
const agent = usingReceiver({ kind: 'answer', status: 202 })
beforeEach(() => {
  platform.clock.advance(120_000)
  telegram.answers.length = 0
})

it('the bot lists what waits for a person, and its buttons open it where the whole can be read', async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const known = telegram.person({ first_name: 'Ines' })
  const inbox = async () => {
    telegram.say(known, '/inbox')
    await telegram.settled()
    return telegram
      .chat(known)
      .filter(({ from }) => from.is_bot)
      .at(-1)
  }
  expect((await inbox())?.text).toContain('Nothing waits for you')
  const init_data = telegram.initData(known)
  const { body } = await platform.call('POST', '/console/bot/webapp-auth', { body: { init_data } })
  const at = { workspace_id: app.workspaceId, user_id: body.user.id as string }
  await platform.deps.table.transact([
    MemberEntity.create({ ...at, name: body.user.name, role: 'member', joined_at: platform.clock.now() }),
    MembershipEntity.create(at),
  ])
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const { body: asked } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: await callbackToken(platform.deps, app, run.id),
    body: { arguments: { url: agent.url } },
  })
  const message = await inbox()
  expect(message?.text).toMatch(/1 waiting\n1\. Approval: GET to 127\.0\.0\.1/)
  const [[button] = []] = message?.reply_markup?.inline_keyboard ?? []
  expect(JSON.stringify(button)).toContain(`tgWebAppStartParam=${run.id}-${asked.step_id}`)
})
