import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { installed } from '#testkit/fixtures.ts'
import { startTelegram, type TestTelegram } from '#testkit/telegram.ts'
import { consoleStage, heading, openAs, person, twice } from './harness.ts'

const stage = consoleStage()
let telegram: TestTelegram
beforeAll(async () => {
  telegram = await startTelegram(stage.platform)
})
afterAll(() => telegram.stop())

describe('the messenger', () => {
  it('connects a bot, lets an agent draft a reply, and sends it as edited and approved by a user', async () => {
    const { page, platform } = stage
    const who = await person(stage)
    const app = await installed(platform.deps, { endpoint: stage.agent.url, workspaceId: who.workspace.id })
    const bot = telegram.bot({ token: '9001:secret-part-of-a-token-9001', username: 'shop_bot', name: 'Shop' })
    await openAs(stage, who, '/messenger')
    await page.getByRole('button', { name: 'Connect a bot' }).click()
    await page.getByLabel('Bot token').fill(bot.token)
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByRole('main').getByText('@shop_bot').waitFor()
    expect(await page.content()).not.toContain('secret-part')
    const contact = telegram.person({ first_name: 'Cleo' })
    bot.say(contact, 'Are you open today?')
    await telegram.settled()
    await page.reload()
    await page.getByRole('link', { name: /Cleo/ }).click()
    await heading(page, 'Cleo').waitFor()
    await page.getByLabel('Agent that drafts replies').selectOption({ label: app.app.name })
    await page.getByText('The agent will now draft replies.').waitFor()
    const id = page.url().split('/').at(-1)
    const { body: chat } = await platform.call('GET', `/console/messenger/chats/${id}`, { token: who.token })
    const drafted = await platform.call('POST', `/api/v1/conversations/${chat.conversation_id}/messages`, {
      token: app.token,
      body: { text: 'Yes, until nine.' },
    })
    expect(drafted.status).toBe(201)
    const draft = page.getByLabel('Draft. You can edit it before sending.')
    await draft.waitFor()
    await expectAccessible(page, 'messenger-chat')
    await draft.fill('Yes, until eight.')
    await twice(page.getByRole('button', { name: 'Approve and send' }))
    await expect.poll(() => draft.count()).toBe(0)
    const heard = () => bot.chat(contact).flatMap(({ from, text }) => (from.is_bot ? [text] : []))
    await expect.poll(heard).toEqual(['Yes, until eight.'])
  })
})
