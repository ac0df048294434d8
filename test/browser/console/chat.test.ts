import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { installed } from '#testkit/fixtures.ts'
import { callAs, consoleStage, openAs, person, visit } from './harness.ts'

const stage = consoleStage()

const call = callAs(stage)

/** Opens a chat with an agent whose run is active, and returns functions for what the agent does. */
const chatting = async (text: string) => {
  const who = await person(stage)
  const app = await installed(stage.platform.deps, { endpoint: stage.agent.url, workspaceId: who.workspace.id })
  const chat = await call(who, 'POST', '/console/conversations', { installation_id: app.installation.id })
  const { run_id } = await call(who, 'POST', `/console/conversations/${chat.id}/messages`, { text })
  await expect.poll(async () => (await call(who, 'GET', `/console/runs/${run_id}`)).status).toBe('running')
  const asAgent = (path: string, body: unknown) =>
    stage.platform.call('POST', `/api/v1/runs/${run_id}${path}`, { token: app.token, body })
  return { who, app, chat, run_id, asAgent }
}

const ANSWER = `# Stock

There are **seven** boxes, see [the list](https://example.com/list) and <b onclick="alert(1)">this</b>.

| shelf | boxes |
| --- | --- |
| upper | 4 |
| lower | 3 |

1. Count them
2. Report

> Twice.

\`\`\`ts
// Adds both shelves.
const total = 4 + 3
\`\`\`

[bad](javascript:alert(1))`

describe('a chat', () => {
  it('shows Markdown with tables and coloured code, never markup or a dangerous link', async () => {
    const { page } = stage
    const { who, chat, asAgent } = await chatting('How many?')
    await asAgent('/complete', { status: 'succeeded', output: { text: ANSWER } })
    await openAs(stage, who, `/chat/${chat.id}`)
    const answer = page.locator('.message:not(.mine) .markdown')
    await answer.locator('.tok-k').getByText('const').waitFor()
    expect(await answer.locator('td').allTextContents()).toEqual(['upper', '4', 'lower', '3'])
    expect(await answer.locator('ol > li').count()).toBe(2)
    expect(await answer.locator('strong').textContent()).toBe('seven')
    expect(await answer.locator('a').evaluateAll((links) => links.map((one) => one.getAttribute('href')))).toEqual([
      'https://example.com/list',
    ])
    expect(await answer.textContent()).toContain('<b onclick="alert(1)">this</b>')
    expect(await answer.textContent()).toContain('[bad](javascript:alert(1))')
    expect(await answer.locator('b').count()).toBe(0)
    await expectAccessible(page, 'chat with Markdown')
  })

  it('shows what the agent has written so far, stops it, and tries again', async () => {
    const { page } = stage
    const { who, chat, run_id, asAgent } = await chatting('How many?')
    await asAgent('/steps', { type: 'message', output: { text: 'I count ' } })
    await asAgent('/steps', { type: 'message', output: { text: 'the **upper** shelf', append: true } })
    await openAs(stage, who, `/chat/${chat.id}`)
    const partial = page.locator('.partial')
    await partial.getByText('I count the upper shelf').waitFor()
    await expectAccessible(page, 'chat that is being answered')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('✕ No reply').waitFor()
    expect((await call(who, 'GET', `/console/runs/${run_id}`)).status).toBe('cancelled')
    expect(await partial.count()).toBe(0)
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => page.locator('.message.mine').count()).toBe(2)
    await page.getByText('is working on it').waitFor()
  })

  it('is found in the list by name or text, with its unread mark until it is opened', async () => {
    const { page } = stage
    const { who, app, asAgent } = await chatting('How many?')
    await asAgent('/complete', { status: 'succeeded', output: { text: 'Seven boxes.' } })
    const task = await call(who, 'POST', '/console/tasks', { title: 'Count', installation_id: app.installation.id })
    await stage.platform.call('POST', `/api/v1/tasks/${task.id}/question`, {
      token: app.token,
      body: { text: 'Which shelf?' },
    })
    await openAs(stage, who, '/chat')
    const row = page.locator('.list .row', { hasText: 'Seven boxes.' })
    await row.getByText('Unread').waitFor({ state: 'attached' })
    const folded = page.locator('.folded')
    await folded.getByText(`Tasks of ${app.app.name}`).waitFor()
    expect(await folded.getByText('Which shelf?').isVisible()).toBe(false)
    await expectAccessible(page, 'conversations')
    await folded.locator('summary').click()
    await folded.getByText('Which shelf?').waitFor()
    await page.getByLabel('Search conversations').fill('seven')
    await expect.poll(() => page.locator('.list .row').count()).toBe(1)
    await row.click()
    await page.locator('.message').getByText('Seven boxes.').waitFor()
    await expect.poll(() => row.getByText('Unread').count()).toBe(0)
  })

  it('without a language model says what to configure', async () => {
    const { page } = stage
    const who = await person(stage)
    await openAs(stage, who, '/chat')
    const field = page.getByPlaceholder(/^Message to/)
    await field.fill('Hello')
    await field.press('Enter')
    await page.getByRole('link', { name: 'Choose an agent for the main conversation' }).waitFor()
    await expectAccessible(page, 'unconfigured main conversation')
    await visit(page, '/settings')
    await page.getByText('Agent for the main conversation').waitFor()
  })
})
