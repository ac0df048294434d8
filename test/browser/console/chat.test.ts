import { describe, expect, it, onTestFinished } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { configureModel, inlineAgent } from '#test/functions/workers/inline-agents-support.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingModel } from '#testkit/using.ts'
import { callAs, consoleStage, openAs, person, visit } from './harness.ts'

const stage = consoleStage()
const model = usingModel()

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

  it('shows what the agent has written so far, keeps that when it is stopped, and tries again', async () => {
    const { page } = stage
    const { who, chat, run_id, asAgent } = await chatting('How many?')
    await asAgent('/steps', { type: 'message', output: { text: 'I count ' } })
    await asAgent('/steps', { type: 'message', output: { text: 'the **upper** shelf', append: true } })
    await openAs(stage, who, `/chat/${chat.id}`)
    const partial = page.locator('.partial')
    await partial.getByText('I count the upper shelf').waitFor()
    await expectAccessible(page, 'chat that is being answered')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('.message .state').getByText('Stopped').waitFor()
    const kept = page.getByRole('region', { name: 'Unfinished answer' })
    await kept.getByText('I count the upper shelf').waitFor()
    expect((await call(who, 'GET', `/console/runs/${run_id}`)).status).toBe('cancelled')
    expect(await partial.count()).toBe(0)
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => page.locator('.message.mine').count()).toBe(2)
    await page.getByText('is working on it').waitFor()
  })

  it('shows an inline agent’s answer grow while the model writes it, and stopping keeps what was written', async () => {
    const { page, platform } = stage
    const words = ['I count ', 'the **upper** ', 'shelf']
    const shown = words.map(() => Promise.withResolvers<void>())
    const unconfigured = platform.deps.model
    onTestFinished(() => {
      platform.deps.model = unconfigured
    })
    configureModel(platform, model, 60_000)
    model.next({
      chunks: (async function* () {
        for (const [i, content] of words.entries()) {
          yield { choices: [{ index: 0, delta: { content }, finish_reason: null }] }
          await shown[i]?.promise
        }
        yield { choices: [{ index: 0, delta: { content: ' and the lower one.' }, finish_reason: 'stop' }] }
      })(),
    })
    const who = await person(stage)
    const app = await inlineAgent(platform, { workspaceId: who.workspace.id })
    const chat = await call(who, 'POST', '/console/conversations', { installation_id: app.installation.id })
    await openAs(stage, who, `/chat/${chat.id}`)
    await page.getByPlaceholder(/^Message to/).fill('How many?')
    await page.keyboard.press('Enter')
    const partial = page.locator('.partial .markdown')
    for (const [i, text] of ['I count', 'I count the upper', 'I count the upper shelf'].entries()) {
      await partial.getByText(text, { exact: true }).waitFor()
      if (i < words.length - 1) shown[i]?.resolve()
    }
    await page.getByRole('button', { name: 'Stop' }).click()
    const kept = page.getByRole('region', { name: 'Unfinished answer' })
    await kept.getByText('I count the upper shelf').waitFor()
    shown.at(-1)?.resolve()
    await page.reload()
    await kept.getByText('I count the upper shelf').waitFor()
    expect(await partial.count()).toBe(0)
    expect(await page.getByText('and the lower one').count()).toBe(0)
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

  it('announces that the agent writes, and the answer once, never the pieces of it', async () => {
    const { page } = stage
    const { who, chat, app, asAgent } = await chatting('How many?')
    await asAgent('/steps', { type: 'message', output: { text: 'I count ' } })
    await openAs(stage, who, `/chat/${chat.id}`)
    await page.locator('.partial').getByText('I count').waitFor()
    const writing = page.getByRole('status').getByText(`${app.app.name} is writing an answer.`)
    await writing.waitFor({ state: 'attached' })
    expect(await page.locator('[aria-live] .partial, [role="status"] .partial').count()).toBe(0)
    await asAgent('/complete', { status: 'succeeded', output: { text: 'I count seven.' } })
    await page.locator('[aria-live="polite"]').getByText('I count seven.').waitFor()
    await expect.poll(() => writing.count()).toBe(0)
  })

  it('names each conversation with an agent, shows its latest message without Markdown, and begins another', async () => {
    const { page } = stage
    const { who, app, chat, asAgent } = await chatting('How many?')
    await asAgent('/complete', {
      status: 'succeeded',
      output: { text: '# Stock\n\n- **Seven** [boxes](https://example.com)' },
    })
    await page.setViewportSize({ width: 1_280, height: 800 })
    await openAs(stage, who, `/chat/${chat.id}`)
    await page.locator('.list .row').getByText('Stock Seven boxes', { exact: true }).waitFor()
    const name = page.locator('.list .row strong.line', { hasText: app.app.name })
    const isCut = (one: { scrollWidth: number; clientWidth: number }) => one.scrollWidth > one.clientWidth
    expect(await name.evaluate(isCut)).toBe(false)
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText(`Send ${app.app.name} a message.`).waitFor()
    await expect.poll(() => page.locator('.list .row').count()).toBe(3)
    expect(await page.getByRole('button', { name: 'New conversation' }).count()).toBe(0)
    await page.getByPlaceholder(/^Message to/).fill('And mugs?')
    await page.keyboard.press('Enter')
    await page.locator('.list .row').getByText('You: And mugs?').waitFor()
    await page.locator('.list .row', { hasText: 'Seven' }).click()
    await page.locator('.message').getByText('Seven').waitFor()
    expect(await page.locator('.message').getByText('And mugs?').count()).toBe(0)
  })

  it.each([
    [1_280, 800],
    [390, 844],
    [844, 390],
    [320, 256],
  ])('with forty links keeps each in sight while it has the focus, at %i × %i', async (width, height) => {
    const { page } = stage
    const { who, chat, asAgent } = await chatting('Where?')
    const links = Array.from({ length: 40 }, (_, i) => `[shelf ${i}](https://example.com/${i})`).join('\n\n')
    await asAgent('/complete', { status: 'succeeded', output: { text: links } })
    await page.setViewportSize({ width, height })
    await openAs(stage, who, `/chat/${chat.id}`)
    await page.locator('.message a').nth(39).waitFor()
    await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(0)
    await page.evaluate('scrollTo(0, 0)')
    await page.locator('.message a').first().focus()
    const hidden: unknown[] = []
    for (const key of [...Array(39).fill('Tab'), ...Array(39).fill('Shift+Tab')]) {
      await page.keyboard.press(key)
      const covered = await page.evaluate(`(() => {
        const one = document.activeElement, { top, bottom, left, right } = one.getBoundingClientRect()
        const seen = [top + 2, bottom - 2].every((y) => one.contains(document.elementFromPoint((left + right) / 2, y)))
        return seen ? undefined : one.textContent
      })()`)
      if (covered) hidden.push(covered)
    }
    expect(hidden).toEqual([])
    expect(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    ).toBeLessThanOrEqual(0)
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
