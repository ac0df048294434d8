import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { installed } from '#testkit/fixtures.ts'
import { callAs, consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()

const call = callAs(stage)

/** Addresses that a Markdown link takes and `URL` refuses. */
const BROKEN = ['http://[', 'https://a:99999', 'https://[::1', 'https://%zz/', 'http://a%00b', 'https://xn--a']

/** Links with each of the addresses, and a text that has to be there, too. */
const LINKS = `${BROKEN.map((address, i) => `[label ${i}](${address})`).join('\n')}\n${BROKEN.join(' ')}\n\nStill here.`

/** Every form that a text can be shown in. */
const FORMS = `# Title

Some **strong**, *soft*, ~~gone~~ and \`code\` text with a [label](https://example.com/x).

- one
- two

1. first

> quoted

| supplier | price |
| --- | --- |
| Oak & Sons | 1,900 |

---

\`\`\`js
const a = 1
\`\`\`
`

/**
 * Lists the rules of the page's styles that reach elements of foreign texts by their tag names, from outside the text: they match
 * where the text is, and don't where it stands alone.
 */
const REACHING = `[...document.querySelectorAll('.markdown')].flatMap((text) => {
  const alone = document.createElement('div')
  const copy = text.cloneNode(true)
  alone.append(copy)
  const [here, there] = [text.querySelectorAll('*'), copy.querySelectorAll('*')]
  const rulesOf = (rules) => [...rules].flatMap((rule) => rule.selectorText ? [rule] : rule.cssRules ? rulesOf(rule.cssRules) : [])
  return [...document.styleSheets]
    .flatMap(({ cssRules }) => rulesOf(cssRules))
    .flatMap(({ selectorText }) => selectorText.includes('.markdown') || selectorText.includes('::') ? []
      : [...here].flatMap((element, n) => element.matches(selectorText) && !there[n].matches(selectorText)
        ? [selectorText + ' reaches ' + element.localName] : []))
})`

/** Opens a chat with an agent whose run is active. */
const chatting = async () => {
  const who = await person(stage)
  const app = await installed(stage.platform.deps, { endpoint: stage.agent.url, workspaceId: who.workspace.id })
  const chat = await call(who, 'POST', '/console/conversations', { installation_id: app.installation.id })
  const { run_id } = await call(who, 'POST', `/console/conversations/${chat.id}/messages`, { text: LINKS })
  await expect.poll(async () => (await call(who, 'GET', `/console/runs/${run_id}`)).status).toBe('running')
  const asAgent = (path: string, body: unknown) =>
    stage.platform.call('POST', `/api/v1${path}`, { token: app.token, body })
  return { who, app, chat, run_id, asAgent }
}

describe('an agent’s text', () => {
  it('breaks no screen with links whose address can’t be parsed', async () => {
    const { page } = stage
    const { who, app, chat, run_id, asAgent } = await chatting()
    await asAgent(`/runs/${run_id}/steps`, { type: 'message', output: { text: LINKS } })
    await openAs(stage, who, `/chat/${chat.id}`)
    await page.locator('.partial').getByText('Still here.').waitFor()
    await asAgent(`/runs/${run_id}/complete`, { status: 'succeeded', output: { text: LINKS } })
    const answer = page.locator('.message:not(.mine):not(.partial) .markdown')
    await answer.getByText('Still here.').waitFor()
    expect(await answer.textContent()).toContain('[label 0](http://[)')
    expect(await answer.locator('a[href*="99999"]').count()).toBe(0)
    await page
      .getByLabel('Message', { exact: true })
      .or(page.getByPlaceholder(/^Message to/))
      .first()
      .waitFor()

    const task = await call(who, 'POST', '/console/tasks', {
      title: LINKS.slice(0, 200),
      description: LINKS,
      installation_id: app.installation.id,
    })
    await asAgent(`/tasks/${task.id}/question`, { text: LINKS })
    await asAgent(`/tools/notify_user/invoke`, { arguments: { title: '[a](http://[)', body: LINKS } })
    for (const place of [`/runs/${run_id}`, `/tasks/${task.id}`, '/notifications', '/']) {
      await visit(page, place)
      await page.locator('main').getByText('Still here.').or(page.locator('main [data-item]')).first().waitFor()
      expect(await page.getByText('be shown').count(), place).toBe(0)
    }
  })

  it('shows the host of every link whose label isn’t its address', async () => {
    const { page } = stage
    const { who, chat, run_id, asAgent } = await chatting()
    const links = [
      '[https://bank.example/evil.example](https://evil.example/)',
      '[Your bank evil.example.bank.example](https://evil.example/)',
      '[https://bank.example@evil.example/](https://bank.example@evil.example/)',
      '[https://b\u0430nk.example/](https://b\u0430nk.example/)',
      'https://bank.example@evil.example/x',
      '[https://evil.example/a](https://evil.example/a)',
      'https://evil.example/b',
    ]
    await asAgent(`/runs/${run_id}/complete`, { status: 'succeeded', output: { text: links.join('\n\n') } })
    await openAs(stage, who, `/chat/${chat.id}`)
    const answer = page.locator('.message:not(.mine):not(.partial) .markdown')
    await answer.locator('a').nth(6).waitFor()
    expect(await answer.locator('a').allTextContents()).toEqual([
      'https://bank.example/evil.example (evil.example)',
      'Your bank evil.example.bank.example (evil.example)',
      'https://bank.example@evil.example/ (evil.example)',
      expect.stringMatching(/ \(xn--bnk-\w+\.example\)$/),
      'https://bank.example@evil.example/x (evil.example)',
      'https://evil.example/a',
      'https://evil.example/b',
    ])
  })

  it('is Markdown where it is shown in full, and plain text in one line', async () => {
    const { page } = stage
    const { who, app, asAgent } = await chatting()
    const task = await call(who, 'POST', '/console/tasks', { title: 'Shelves', installation_id: app.installation.id })
    await asAgent(`/tasks/${task.id}/report`, {
      text: '## Result\n\n- [x] **Seven** boxes\n\n| a | b |\n| - | -: |\n| 1 | 2 |',
    })
    await openAs(stage, who, `/tasks/${task.id}`)
    const report = page.getByRole('region', { name: 'Report' })
    await report.locator('strong').getByText('Seven').waitFor()
    expect(await report.getByRole('img', { name: 'Done' }).count()).toBe(1)
    expect(await report.locator('td.end').textContent()).toBe('2')
    await expectAccessible(page, 'report')
    await visit(page, '/tasks')
    await page.locator('.task .said').getByText('Result Seven boxes a · b 1 · 2', { exact: true }).waitFor()
    await visit(page, '/notifications')
    await page.getByText('Result Seven boxes').first().waitFor()
    expect(await page.locator('main').textContent()).not.toContain('**')
  })

  it('looks the same on every screen: no style of what is around it reaches into it', async () => {
    const { page } = stage
    const { who, app, chat, run_id, asAgent } = await chatting()
    await asAgent(`/runs/${run_id}/complete`, { status: 'succeeded', output: { text: FORMS } })
    const task = await call(who, 'POST', '/console/tasks', {
      title: 'Shelves',
      description: FORMS,
      installation_id: app.installation.id,
    })
    await openAs(stage, who, '/more')
    for (const place of [`/chat/${chat.id}`, `/runs/${run_id}`, `/tasks/${task.id}`]) {
      await visit(page, place)
      const table = page.locator('main .markdown .table').first()
      await table.waitFor()
      expect(await page.evaluate(REACHING), place).toEqual([])
      expect((await table.boundingBox())?.height, place).toBeLessThan(200)
    }
  })

  it('that can’t be formatted is shown as plain text on request, and the rest of the screen works', async () => {
    const { page } = stage
    const { who, chat, run_id, asAgent } = await chatting()
    await asAgent(`/runs/${run_id}/complete`, { status: 'succeeded', output: { text: 'Some *unformattable* text' } })
    // No text is known that breaks the formatting, so the page's engine is made to refuse one.
    await page.addInitScript(`
      const { exec } = RegExp.prototype
      RegExp.prototype.exec = function (text) {
        if (this.source.startsWith('\`(') && String(text).includes('unformattable')) throw new Error('refused')
        return exec.call(this, text)
      }`)
    await openAs(stage, who, `/chat/${chat.id}`)
    const plain = page.getByRole('button', { name: 'Show as plain text' })
    await plain.waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectAccessible(page, 'chat with a text that can’t be formatted')
    await plain.click()
    await page.locator('.message .prose').getByText('Some *unformattable* text').waitFor()
    await page
      .getByPlaceholder(/^Send|^Message/)
      .first()
      .waitFor()
  })
})

describe('a screen', () => {
  it('whose data breaks it keeps its heading and the navigation, and can be tried again', async () => {
    const { page } = stage
    const who = await person(stage)
    let isBroken = true
    await page.route(/\/console\/notifications\?|\/console\/notifications$/, async (route) => {
      if (!isBroken) return route.fallback()
      const broken = { id: 'ntf_1', kind: 'info', title: 5, body: 'x', read: true, created_at: 'x' }
      await route.fulfill({ json: { items: [broken], next_cursor: null, has_more: false } })
    })
    await openAs(stage, who, '/notifications')
    await page.getByText('This page couldn’t be shown.').waitFor()
    expect(await heading(page, 'Notifications').count()).toBe(1)
    await expectAccessible(page, 'screen that can’t be shown')
    isBroken = false
    await visit(page, '/tasks')
    await heading(page, 'Tasks').waitFor()
    await visit(page, '/notifications')
    await page.getByText('No notifications yet').waitFor()
  })
})
