import { beforeEach, describe, expect, it } from 'vitest'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { MessageEntity } from '#shared/work/conversations/entity.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { usingBucket } from '#testkit/bucket.ts'
import { installed } from '#testkit/fixtures.ts'
import { callAs, consoleStage, openAs, type Person, person } from './harness.ts'

const stage = consoleStage()
const bucket = usingBucket(stage)
beforeEach(() => stage.mayAsk.add(bucket.origin))

const call = callAs(stage)

const agentFor = (who: Person) =>
  installed(stage.platform.deps, { endpoint: stage.agent.url, workspaceId: who.workspace.id })

const open = async (who: Person, installation_id: string): Promise<string> =>
  (await call(who, 'POST', '/console/conversations', { installation_id })).id

describe('mentioning an agent', () => {
  it('works by keyboard: @ opens a list, Enter chooses, and the message is for that agent', async () => {
    const { page } = stage
    const who = await person(stage)
    const [stock, mail] = [await agentFor(who), await agentFor(who)]
    const chat = await open(who, stock.installation.id)
    await openAs(stage, who, `/chat/${chat}`)
    const field = page.getByPlaceholder(/^Message to/)
    await field.pressSequentially('Dear @')
    const list = page.getByRole('listbox', { name: 'Agents to mention' })
    await list.waitFor()
    // The conversation's own agent answers anyway.
    expect(await list.getByRole('option').allTextContents()).toEqual([expect.stringContaining(mail.app.name)])
    expect(await field.getAttribute('aria-activedescendant')).toBe(await list.getByRole('option').getAttribute('id'))
    await expectAccessible(page, 'chat-mention-list')
    await field.press('Escape')
    await list.waitFor({ state: 'detached' })
    await field.press('Backspace')
    await field.pressSequentially('@age')
    await field.press('Enter')
    expect(await field.inputValue()).toBe(`Dear @${mail.app.name} `)
    await page.getByText('answers this message, and sees nothing else').waitFor()
    await field.pressSequentially('hello')
    await expectAccessible(page, 'chat-mention')
    await field.press('Enter')
    await page.locator('.message.mine .mentioned').getByText(mail.app.name).waitFor()
    const { items } = await call(who, 'GET', `/console/conversations/${chat}/messages`)
    expect(items[0]).toMatchObject({ mention: { installation_id: mail.installation.id }, run_id: expect.any(String) })
    await page.locator('.working').getByText(mail.app.name).waitFor()
  })
})

describe('files in messages', () => {
  it('are previewed in place', async () => {
    const { page } = stage
    const who = await person(stage)
    const chat = await open(who, (await agentFor(who)).installation.id)
    const file = await call(who, 'POST', '/console/files', {
      name: 'people.csv',
      content_type: 'text/csv',
      content: 'name,town\nAda,London\n',
    })
    await call(who, 'POST', `/console/conversations/${chat}/messages`, { text: 'Look.', attachments: [file.id] })
    await openAs(stage, who, `/chat/${chat}`)
    await page.getByRole('button', { name: 'Preview people.csv' }).click()
    await page.getByRole('dialog').getByRole('cell', { name: 'London' }).waitFor()
    await expectAccessible(page, 'chat-preview')
  })
})

describe('the search in messages', () => {
  const storeHistory = async (who: Person, conversation_id: string, count: number) => {
    const now = Date.now() - 10_000_000
    const writes = Array.from({ length: count }, (_, i) =>
      MessageEntity.create({
        ...stampOf(newId('message', now + i)),
        conversation_id,
        workspace_id: who.workspace.id,
        author: { type: 'agent', id: 'ins_1', name: 'Stock' },
        text: i === 3 ? 'The refrigerator is on shelf nine.' : `Message ${i}`,
        attachments: [],
      }),
    )
    for (let i = 0; i < count; i += 100) await stage.platform.deps.table.transact(writes.slice(i, i + 100))
  }

  it('of a conversation finds an old message and shows it in its place', async () => {
    const { page } = stage
    const who = await person(stage)
    const chat = await open(who, (await agentFor(who)).installation.id)
    await storeHistory(who, chat, 130)
    await openAs(stage, who, `/chat/${chat}`)
    await page.getByRole('button', { name: 'Search in this conversation' }).press('Enter')
    await page.getByLabel('Search in this conversation').fill('Refrigerator')
    await page.keyboard.press('Enter')
    await page.getByText('shelf nine').waitFor()
    await expectAccessible(page, 'chat-search')
    await page.getByRole('button', { name: 'Show in conversation' }).press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toContain('shelf nine')
    await page.getByText('Message 4', { exact: true }).waitFor()
  })

  it('over all conversations finds only the person’s own', async () => {
    const { page } = stage
    const who = await person(stage)
    const other = await person(stage, who.workspace.id, 'member')
    const agent = await agentFor(who)
    const [mine, theirs] = [await open(who, agent.installation.id), await open(other, agent.installation.id)]
    await storeHistory(who, mine, 10)
    await storeHistory(other, theirs, 10)
    await openAs(stage, who, '/chat')
    await page.getByLabel('Search conversations').fill('refrigerator')
    const found = page.getByRole('region', { name: 'In messages' }).getByRole('link')
    await found.waitFor()
    expect(await found.count()).toBe(1)
    await expectAccessible(page, 'chat-found')
    await found.press('Enter')
    await expect.poll(() => page.evaluate('location.hash')).toContain(mine)
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toContain('shelf nine')
  })
})
