import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { callAs, consoleStage, heading, openAs, type Person, person, twice, visit } from './harness.ts'

const stage = consoleStage()

const call = callAs(stage)

const agentIn = (who: Person) =>
  installed(stage.platform.deps, { endpoint: stage.agent.url, workspaceId: who.workspace.id })

/** Starts a run and returns it with a function that calls the API as its agent. */
const workingRun = async (who: Person) => {
  const app = await agentIn(who)
  const { body: run } = await stage.platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await expect.poll(async () => (await call(who, 'GET', `/console/runs/${run.id}`)).status).toBe('running')
  const token = await callbackToken(stage.platform.deps, app, run.id)
  const act = (path: string, body: object) => stage.platform.call('POST', `/api/v1/${path}`, { token, body })
  return { app, id: run.id as string, act }
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })

describe('signing in', () => {
  it('locally opens the requested screen, and signing out ends the session', async () => {
    const { page, url } = stage
    await page.goto(`${url}/app#/tasks`)
    await heading(page, 'Sign in').waitFor()
    await expectAccessible(page, 'sign-in')
    await page.getByLabel('Person').fill('Ann')
    await page.getByLabel('Workspace', { exact: true }).fill('acme')
    await page.keyboard.press('Enter')
    await heading(page, 'Tasks').waitFor()
    await expect.poll(() => page.title()).toBe('Tasks · Console')
    await page.reload()
    await heading(page, 'Tasks').waitFor()
    const session = await page.evaluate("JSON.parse(sessionStorage.getItem('console-session')).token")
    await button(page, 'Sign out').click()
    await heading(page, 'Sign in').waitFor()
    await page.getByText('You’re signed out.').waitFor()
    expect((await stage.platform.call('GET', '/console/me', { token: session as string })).status).toBe(401)
    await page.reload()
    await heading(page, 'Sign in').waitFor()
  })

  it('again after the session ended keeps the screen and unsent input', async () => {
    const { page } = stage
    const who = await person(stage)
    const { id } = await call(who, 'POST', '/console/tasks', { title: 'Order paper', description: '' })
    await openAs(stage, who, `/tasks/${id}`)
    await page.getByLabel('Write a comment').fill('The blue one, please')
    await call(who, 'DELETE', '/console/session')
    await heading(page, 'Sign in').waitFor()
    await page.getByText('Your session expired.').waitFor()
    await page.getByLabel('Person').fill(who.user.name)
    await page.getByRole('textbox', { name: 'Workspace' }).fill(who.workspace.name)
    await button(page, 'Sign in').click()
    await heading(page, 'Order paper').waitFor()
    expect(await page.getByLabel('Write a comment').inputValue()).toBe('The blue one, please')
    await button(page, 'Send').click()
    await page.locator('.message').getByText('The blue one, please').waitFor()
  })
})

describe('another tab', () => {
  it('shares the session of the first one, and both are signed out together', async () => {
    const { page, url } = stage
    const who = await person(stage)
    await openAs(stage, who, '/tasks')
    await heading(page, 'Tasks').waitFor()
    const second = await page.context().newPage()
    await second.goto(`${url}/app#/agents`)
    await heading(second, 'Agents').waitFor()
    await button(second, 'Sign out').click()
    await heading(page, 'Sign in').waitFor()
    await page.getByText('You signed out in another tab.').waitFor()
    expect(await page.evaluate("sessionStorage.getItem('console-session')")).toBeNull()
  })
})

describe('the marketplace', () => {
  it('finds an agent, installs it without the refused permission, and saves its settings', async () => {
    const { page } = stage
    const who = await person(stage)
    const config = {
      type: 'object',
      required: ['region', 'api_key'],
      properties: {
        region: { type: 'string', title: 'Region', enum: ['north', 'south'] },
        api_key: { type: 'string', title: 'API key', writeOnly: true, minLength: 4 },
        most: { type: 'integer', title: 'At most', default: 10, minimum: 1, maximum: 20 },
        loud: { type: 'boolean', title: 'Loud' },
      },
    }
    const fields = { name: 'Weather prophet', summary: 'Knows tomorrow.' }
    await listApp(stage.platform, fields, { config })
    await openAs(stage, who, '/marketplace')
    await page.getByLabel('Search').fill('prophet')
    await expect.poll(() => page.url()).toContain('q=prophet')
    await page.getByRole('link', { name: /Weather prophet/ }).click()
    await heading(page, 'Weather prophet').waitFor()
    await page.getByRole('checkbox', { name: /Call platform tools/ }).uncheck()
    await twice(button(page, 'Install Weather prophet'))
    await button(page, 'Save settings').waitFor()
    const { items } = await call(who, 'GET', '/console/installations')
    expect(items).toHaveLength(1)
    expect(items[0].scopes).not.toContain('tools:invoke')
    await page.getByText('Some settings are missing.').waitFor()
    await page.getByLabel(/^Region/).selectOption('south')
    await page.getByLabel(/^API key/).fill('secret-value')
    await page.getByLabel(/^At most/).fill('12')
    await page.getByRole('checkbox', { name: /Loud/ }).check()
    await button(page, 'Save settings').click()
    await page.getByText('Settings saved.').waitFor()
    await page.getByText('Already set. Leave this empty to keep the current value.').waitFor()
    const { values } = await call(who, 'GET', `/console/installations/${items[0].id}/settings`)
    expect(values).toEqual({ region: 'south', api_key: { set: true }, most: 12, loud: true })
    expect(await page.content()).not.toContain('secret-value')
  })
})

describe('a run', () => {
  it('shows its steps live, and executes an approved call exactly as shown and only once', async () => {
    const { page } = stage
    const who = await person(stage)
    const { id, act } = await workingRun(who)
    await openAs(stage, who, `/runs/${id}`)
    await page.getByText('No steps yet.').waitFor()
    await act(`runs/${id}/steps`, { type: 'message', output: { text: 'Looking for it' } })
    await page.getByText('Looking for it').waitFor()
    const args = { url: `${stage.agent.url}/order?n=7`, method: 'POST', body: 'seven' }
    const asks = () => act('tools/http_fetch/invoke', { arguments: args, run_id: id, reason: 'Seven are missing' })
    await asks()
    await page.getByRole('heading', { name: `POST to ${new URL(stage.agent.url).host}` }).waitFor()
    await page.getByText('Seven are missing').waitFor()
    await page.getByRole('article', { name: 'Approve http_fetch' }).getByText('seven', { exact: true }).waitFor()
    await button(page, 'Exact JSON').click()
    const shown = await page.getByRole('region', { name: 'Arguments' }).textContent()
    expect(JSON.parse(shown ?? '')).toMatchObject(args)
    const orders = () => stage.agent.requests.filter(({ path }) => path === '/order?n=7').length
    expect(orders()).toBe(0)
    await page.getByLabel('Comment').fill('Seven are right')
    await twice(button(page, 'Approve'))
    await page.getByText('Approved. The run continues.').waitFor()
    await expect.poll(orders).toBe(1)
    await expect.poll(async () => (await asks()).body.status).toBe('ok')
    await act('tools/http_fetch/invoke', { arguments: { ...args, body: 'eight' }, run_id: id })
    await page.getByText('Before: seven').waitFor()
    await page.getByText('Now: eight').waitFor()
    await button(page, 'Reject').click()
    await page.getByText('Rejected. The run continues without this call.').waitFor()
    await page.locator('.trace').getByText(`Rejected by ${who.user.name}`).waitFor()
    await page.locator('.trace').getByText('Seven are right').waitFor()
    await act(`runs/${id}/complete`, { status: 'succeeded', output: { text: 'Seven ordered.' } })
    await page.getByText('Seven ordered.').waitFor()
    await page.getByRole('main').getByText('Succeeded').waitFor()
    expect(page.url()).not.toContain(who.token)
  })

  it('shows input and steps as a trace, can be saved as a file, and ends when it is cancelled', async () => {
    const { page } = stage
    const who = await person(stage)
    const { id, act } = await workingRun(who)
    await act(`runs/${id}/steps`, { type: 'lookup', output: { shelf: { boxes: 7 } } })
    await openAs(stage, who, `/runs/${id}`)
    await page.getByText(/· after /).waitFor()
    await page.getByText('Details').click()
    await page.getByText('boxes', { exact: true }).waitFor()
    const [saved] = await Promise.all([page.waitForEvent('download'), button(page, 'Download JSON').click()])
    expect(saved.suggestedFilename()).toBe(`${id}.json`)
    expect(JSON.parse(await readFile(await saved.path(), 'utf8'))).toMatchObject({ id, steps: [{ type: 'lookup' }] })
    await button(page, 'Cancel run').click()
    await twice(page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }))
    await page.getByText('Run cancelled.').waitFor()
    await page.getByRole('main').getByText('Cancelled', { exact: true }).waitFor()
    const { items } = await call(who, 'GET', '/console/audit?limit=100')
    expect(items.filter(({ action }: { action: string }) => action === 'run.cancelled')).toHaveLength(1)
  })

  it('is decided with the keyboard, and no single key approves', async () => {
    const { page } = stage
    const who = await person(stage)
    const runs = [await workingRun(who), await workingRun(who)]
    for (const { act, id } of runs) {
      await act('tools/http_fetch/invoke', { arguments: { url: 'https://example.com/' }, run_id: id })
    }
    const statuses = async () =>
      (await Promise.all(runs.map(({ id }) => call(who, 'GET', `/console/runs/${id}`)))).map(({ status }) => status)
    const { keyboard } = page
    await openAs(stage, who, '/')
    const rows = page.getByRole('listitem', { name: /^Approval/ })
    await rows.first().focus()
    await keyboard.press('o')
    await keyboard.press('j')
    await keyboard.press('o')
    await expect.poll(() => page.locator('button[data-decision="approve"]:enabled').count()).toBe(2)
    await keyboard.press('k')
    await keyboard.press('a')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Approve')
    await keyboard.press('j')
    await keyboard.press('r')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Reject')
    expect(await statuses()).toEqual(['awaiting_approval', 'awaiting_approval'])
    await keyboard.press('Enter')
    await page.getByText('Rejected. The run continues without this call.').waitFor()
    await expect.poll(async () => (await statuses()).sort()).toEqual(['awaiting_approval', 'running'])
    await expect.poll(() => page.getByRole('listitem', { name: /^Approval/ }).count()).toBe(1)
    await page.getByRole('listitem', { name: /^Approval/ }).focus()
    await page.getByLabel('Comment').press('a')
    expect(await page.getByLabel('Comment').inputValue()).toBe('a')
  })

  it('is found among those of its agent', async () => {
    const { page } = stage
    const who = await person(stage)
    const [one, other] = [await workingRun(who), await workingRun(who)]
    const row = (id: string) => page.locator(`main a[href="#/runs/${id}"]`)
    await openAs(stage, who, '/runs')
    await row(other.id).waitFor()
    await page.getByLabel('Agent', { exact: true }).selectOption(one.app.installation.id)
    await row(other.id).waitFor({ state: 'detached' })
    await row(one.id).waitFor()
    expect(page.url()).toContain(one.app.installation.id)
  })

  it('asks its agent’s questions in forms made from their schemas, on its own screen and on the home screen', async () => {
    const { page } = stage
    const who = await person(stage)
    const { app, id, act } = await workingRun(who)
    await openAs(stage, who, `/runs/${id}`)
    const properties = {
      shelf: { type: 'string', title: 'Shelf', enum: ['Left', 'Right'] },
      email: { type: 'string', title: 'E-mail', minLength: 5 },
      boxes: { type: 'integer', title: 'Boxes', minimum: 1 },
      hurry: { type: 'boolean', title: 'In a hurry' },
    }
    const schema = { type: 'object', properties, required: ['shelf', 'email'] }
    await act(`runs/${id}/input-requests`, { input_requests: { one: { message: 'Which shelf?', schema } } })
    await page.getByText('Which shelf?').first().waitFor()
    await expectAccessible(page, 'question')
    await page.getByLabel('Shelf').selectOption('Right')
    await page.getByLabel('E-mail').fill('ann@example.com')
    await page.getByLabel('Boxes').fill('7')
    await page.getByLabel('In a hurry').check()
    await button(page, 'Answer').click()
    await page.getByText('Answer sent.').waitFor()
    const content = { shelf: 'Right', email: 'ann@example.com', boxes: 7, hurry: true }
    expect((await call(who, 'GET', `/console/runs/${id}`)).steps).toMatchObject([
      { status: 'answered', output: { responses: { one: { action: 'accept', content } } } },
    ])
    const key = { installation_id: app.installation.id, id }
    await stage.platform.deps.table.transact([RunEntity.update(key, { set: { protocol: 'mcp' } })])
    const floor = {
      message: 'Which floor?',
      requestedSchema: { type: 'object', properties: { level: { type: 'integer' } } },
    }
    const two = { method: 'elicitation/create', params: floor }
    await act(`runs/${id}/input-requests`, { input_requests: { two, three: { method: 'roots/list' } } })
    await page.getByText('Only the assistant can answer that part.').waitFor()
    await page.getByLabel('Level').fill('3')
    await button(page, 'Answer').click()
    await page.getByLabel('Level').waitFor({ state: 'detached' })
    expect((await call(who, 'GET', `/console/runs/${id}`)).steps[1].output.responses).toEqual({
      two: { action: 'accept', content: { level: 3 } },
    })
    await act(`runs/${id}/cancel`, {})
    // Refills the bucket of the person, who has asked faster than people do.
    stage.platform.clock.advance(5_000)
    const next = await workingRun(who)
    await next.act('tools/ask_user/invoke', { arguments: { question: 'Which bank?' } })
    await visit(page, '/')
    await page.getByRole('button', { name: 'Open Which bank?' }).click()
    await page.getByRole('textbox', { name: /Answer/ }).fill('Blue')
    await button(page, 'Answer').click()
    await page.getByText('You’re all caught up').waitFor()
    expect((await call(who, 'GET', `/console/runs/${next.id}`)).steps[0].output.result).toEqual({
      action: 'accept',
      answer: 'Blue',
    })
  })
})

describe('a chat', () => {
  it('shows its run’s questions as a form, and then the answers', async () => {
    const { page } = stage
    const who = await person(stage)
    const app = await agentIn(who)
    const { id: chat } = await call(who, 'POST', '/console/conversations', { installation_id: app.installation.id })
    await openAs(stage, who, `/chat/${chat}`)
    await page.getByRole('textbox', { name: /Message to/ }).fill('Order boxes.')
    await button(page, 'Send').click()
    const runs = async () => (await call(who, 'GET', '/console/runs')).items
    await expect.poll(async () => (await runs())[0]?.status).toBe('running')
    const [{ id }] = await runs()
    const schema = { type: 'object', properties: { size: { enum: ['Small', 'Large'], title: 'Size' } } }
    await stage.platform.call('POST', `/api/v1/runs/${id}/input-requests`, {
      token: await callbackToken(stage.platform.deps, app, id),
      body: { input_requests: { one: { message: 'How large?', schema } } },
    })
    await page.getByLabel('Size').selectOption('Large')
    await button(page, 'Answer').click()
    await page.getByRole('definition').getByText('Large').waitFor()
    await expectAccessible(page, 'answered question')
  })
})

describe('tasks', () => {
  it('can be created, moved with the keyboard or by dragging, and their questions answered', async () => {
    const { page } = stage
    const who = await person(stage)
    const app = await agentIn(who)
    await openAs(stage, who, '/tasks')
    await button(page, 'New task').press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New task' })
    await dialog.getByLabel('Title').fill('Count the stock')
    await dialog.getByLabel('Assignee').selectOption({ label: app.app.name })
    await dialog.getByLabel('Start the agent now').uncheck()
    await twice(dialog.getByRole('button', { name: 'Create' }))
    await heading(page, 'Count the stock').waitFor()
    expect((await call(who, 'GET', '/console/tasks')).items).toHaveLength(1)
    const id = page.url().split('/').at(-1) ?? ''
    await visit(page, '/tasks')
    const move = page.getByLabel('Move “Count the stock” to')
    await move.focus()
    await page.keyboard.press('ArrowDown')
    await page.getByText('Moved to “In progress”.').waitFor()
    expect((await call(who, 'GET', `/console/tasks/${id}`)).status).toBe('in_progress')
    await page.locator('.task').dragTo(page.getByRole('region', { name: /^In review/ }))
    await page.getByText('Moved to “In review”.').waitFor()
    expect((await call(who, 'GET', `/console/tasks/${id}`)).status).toBe('review')
    await stage.platform.call('POST', `/api/v1/tasks/${id}/question`, {
      token: app.token,
      body: { text: 'Which shelf?' },
    })
    await page
      .getByRole('region', { name: /^Needs an answer/ })
      .getByText('Count the stock')
      .click()
    await page.getByText('Which shelf?').waitFor()
    await page.getByLabel('Your answer').fill('The upper one')
    await button(page, 'Send answer').click()
    await page.locator('.message.mine').getByText('The upper one').waitFor()
    await expect.poll(async () => (await call(who, 'GET', `/console/tasks/${id}`)).status).toBe('in_progress')
  })

  it('move back with an explanation if the platform rejects the move', async () => {
    const { page } = stage
    const who = await person(stage)
    await call(who, 'POST', '/console/tasks', { title: 'Order paper', description: '' })
    await openAs(stage, who, '/tasks')
    await page.getByText('Order paper').waitFor()
    const error = {
      code: 'conflict',
      message: 'Somebody moved it.',
      fix: 'Look again.',
      request_id: 'req_1',
      details: {},
    }
    await page.route('**/console/tasks/*', (route) =>
      route.fulfill({ status: 409, contentType: 'application/json', body: JSON.stringify({ error }) }),
    )
    await page.getByLabel('Move “Order paper” to').selectOption('done')
    await page.getByRole('alert').getByText('Somebody moved it.').waitFor()
    await page.getByRole('alert').getByText('req_1').waitFor()
    await page
      .getByRole('region', { name: /^To do 1/ })
      .getByText('Order paper')
      .waitFor()
  })
})

describe('a conversation with an agent', () => {
  it('sends with Enter, shows that the agent is working, and then its reply', async () => {
    const { page } = stage
    const who = await person(stage)
    const app = await agentIn(who)
    await openAs(stage, who, `/agents/${app.installation.id}`)
    await button(page, 'Start a conversation').click()
    const field = page.getByPlaceholder(/^Message to/)
    await field.fill('What is on the shelf?')
    await field.press('Enter')
    await page.getByText(/is working on it/).waitFor()
    await expect.poll(() => field.inputValue()).toBe('')
    const run = (await call(who, 'GET', '/console/runs')).items[0]
    await expect.poll(async () => (await call(who, 'GET', `/console/runs/${run.id}`)).status).toBe('running')
    await stage.platform.call('POST', `/api/v1/runs/${run.id}/complete`, {
      token: app.token,
      body: { status: 'succeeded', output: { text: 'Seven boxes.' } },
    })
    await page.locator('.message').getByText('Seven boxes.').waitFor()
    expect(await page.getByText(/is working on it/).count()).toBe(0)
  })
})

describe('notifications', () => {
  it('update the badge live, link to their target, and are then marked as read', async () => {
    const { page } = stage
    const who = await person(stage)
    const { id, act } = await workingRun(who)
    await openAs(stage, who, '/agents')
    await heading(page, 'Agents').waitFor()
    await act('tools/http_fetch/invoke', { arguments: { url: 'https://example.com/' }, run_id: id })
    await page.getByRole('link', { name: 'Notifications 1 unread' }).click()
    await page.locator('.row.new').click()
    await page.getByRole('heading', { name: /^GET to / }).waitFor()
    await page.getByRole('link', { name: 'Notifications', exact: true }).first().waitFor()
    expect((await call(who, 'GET', '/console/notifications')).unread).toBe(0)
  })
})

describe('connected apps', () => {
  it('lose access when it is revoked, after a confirmation', async () => {
    const { page } = stage
    const who = await person(stage)
    const app = await agentIn(who)
    await openAs(stage, who, '/access')
    await button(page, 'Revoke access').click()
    const dialog = page.getByRole('dialog')
    await button(page, 'Cancel').click()
    await expect.poll(() => dialog.count()).toBe(0)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Revoke access')
    await button(page, 'Revoke access').click()
    await dialog.getByRole('button', { name: 'Revoke access' }).click()
    await page.getByText('No external apps have access.').waitFor()
    expect((await stage.platform.call('GET', '/api/v1/me', { token: app.token })).status).toBe(401)
  })
})

describe('a member', () => {
  it('sees no controls for admins, and an explanation where access is denied', async () => {
    const { page } = stage
    const owner = await person(stage)
    const app = await agentIn(owner)
    const who = await person(stage, owner.workspace.id, 'member')
    await openAs(stage, who, '/members')
    await page.getByText('(you)').waitFor()
    expect(await button(page, 'Invite someone').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
    await visit(page, '/audit')
    await page.getByText('Only workspace admins and owners can see this page.').waitFor()
    await visit(page, '/settings')
    await page.getByText('Workspace admins can change these settings.').waitFor()
    expect(await page.getByRole('heading', { name: 'Workspace restrictions' }).count()).toBe(0)
    await visit(page, `/agents/${app.installation.id}`)
    await page.getByText('Workspace owners control').waitFor()
    expect(await page.getByRole('heading', { name: 'Uninstall' }).count()).toBe(0)
    const { app: shown } = await listApp(stage.platform, { name: 'Not for members' })
    await visit(page, `/marketplace/${shown.slug}`)
    await page.getByText('Only admins and owners can install agents in this workspace.').waitFor()
  })

  it('who lost a role in the meantime sees the platform’s explanation', async () => {
    const { page } = stage
    const owner = await person(stage)
    const who = await person(stage, owner.workspace.id, 'admin')
    await openAs(stage, who, '/members')
    await button(page, 'Invite someone').click()
    await call(owner, 'PATCH', `/console/members/${who.user.id}`, { role: 'member' })
    await button(page, 'Create link').click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toMatch(/admin.*Request ID: req_/s)
  })
})

describe('files', () => {
  it('can be uploaded to a folder, downloaded from a separate URL, and deleted after a confirmation', async () => {
    const { page } = stage
    const who = await person(stage)
    await openAs(stage, who, '/files')
    await button(page, 'New folder').click()
    await page.getByLabel('Name').fill('Invoices')
    await button(page, 'Create').click()
    await page.getByRole('link', { name: /Invoices/ }).click()
    await heading(page, 'Invoices').waitFor()
    const file = { name: 'May <b>.txt', mimeType: 'text/plain', buffer: Buffer.from('seven') }
    await page.locator('input[type=file]').setInputFiles(file)
    await button(page, 'Download May <b>.txt').waitFor()
    const { items } = await call(who, 'GET', '/console/files')
    expect(items).toMatchObject([{ name: 'May <b>.txt', size: 5, content_type: 'text/plain', status: 'ready' }])
    stage.mayAsk.add('https://bucket.test')
    await page.route('https://bucket.test/**', (route) =>
      route.fulfill({ headers: { 'content-disposition': 'attachment; filename="May.txt"' }, body: 'seven' }),
    )
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download May <b>.txt').click()])
    expect(download.url()).not.toContain(who.token)
    await button(page, 'Delete May <b>.txt').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No files yet').waitFor()
    expect((await call(who, 'GET', '/console/files')).items).toEqual([])
  })
})

describe('without a connection', () => {
  it('the console shows it, keeps unsent input, and sends it once when back online', async () => {
    const { page } = stage
    const who = await person(stage)
    const { id } = await call(who, 'POST', '/console/tasks', { title: 'Order paper', description: '' })
    await openAs(stage, who, `/tasks/${id}`)
    await page.getByLabel('Write a comment').fill('Hello')
    // The message arrives, but the response is lost.
    let lost = true
    await page.route('**/messages', async (route) => {
      if (!lost) return route.continue()
      lost = false
      await route.fetch()
      await route.abort()
    })
    await button(page, 'Send').click()
    await page.getByRole('alert').getByText('No connection.').waitFor()
    await button(page, 'Send').click()
    await expect.poll(() => page.getByLabel('Write a comment').inputValue()).toBe('')
    const { conversation } = await call(who, 'GET', `/console/tasks/${id}`)
    expect(conversation.messages).toHaveLength(1)
    await page.context().setOffline(true)
    await page.getByText('This page may be out of date').waitFor()
    await page.context().setOffline(false)
    await expect.poll(() => page.getByText('This page may be out of date').count()).toBe(0)
  })
})

describe('with the keyboard alone', () => {
  it('a user can skip to the content, navigate, and open and close a dialog', async () => {
    const { page } = stage
    await openAs(stage, await person(stage))
    await heading(page, 'Home').waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await page.getByRole('link', { name: 'Agent requests' }).first().focus()
    await page.keyboard.press('Enter')
    await heading(page, 'Agent requests').waitFor()
    const focused = () => page.evaluate("document.activeElement.tagName + ' ' + document.activeElement.textContent")
    await expect.poll(focused).toBe('H1 Agent requests')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Request an agent' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Request an agent')
    await page.keyboard.press('Alt+ArrowLeft')
    await page.goBack()
    await heading(page, 'Home').waitFor()
  })
})

describe('two workspaces', () => {
  it('can be switched, and show nothing of each other', async () => {
    const { page } = stage
    const first = await person(stage)
    await call(first, 'POST', '/console/tasks', { title: 'Of the first', description: '' })
    const body = { user: first.user.name, workspace: `${first.workspace.name} two` }
    await stage.platform.call('POST', '/console/session', { body })
    await openAs(stage, first, '/tasks')
    await page.getByText('Of the first').waitFor()
    await page.getByLabel('Workspace').selectOption({ label: body.workspace })
    await heading(page, 'Home').waitFor()
    await visit(page, '/tasks')
    await page.getByText('No tasks yet').waitFor()
    expect(await page.getByText('Of the first').count()).toBe(0)
  })
})
