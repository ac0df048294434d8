import { expect, it } from 'vitest'
import {
  choose,
  expectFocus,
  expectInSight,
  expectReturned,
  expectVisibleFocus,
  followLink,
  pressButton,
  tabBackTo,
  tabTo,
  typeInto,
} from '#test/browser/keyboard.ts'
import { listApp } from '#test/functions/console/marketplace-support.ts'
import { usingBucket } from '#testkit/bucket.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { callAs, consoleStage, heading, openAs, type Person, person } from './harness.ts'

const stage = consoleStage()
const bucket = usingBucket(stage)

const call = callAs(stage)

const WIDE = { width: 1_280, height: 720 }

/** A window of 1,280 × 800 at 200 % zoom. */
const ZOOMED = { width: 640, height: 400 }

/** For what is read from the API, which takes ten requests a second. */
const SLOWLY = { interval: 200 }

/** Lets time pass, as people do: a test presses its keys faster than the limit of requests allows. */
const rest = (): void => stage.platform.clock.advance(5_000)

/** Goes to a screen through the search over everything. */
const goTo = async (screen: string) => {
  const { page } = stage
  rest()
  await page.keyboard.press('Control+k')
  await expectFocus(page, 'combobox', /^Search screens/)
  await page.keyboard.type(screen)
  await page.getByRole('option', { name: `${screen} Screen`, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await expectFocus(page, 'heading', screen)
}

/** Starts a run and returns a function that calls the API as its agent. */
const workingRun = async (who: Person) => {
  const { platform, agent } = stage
  const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  const read = () => call(who, 'GET', `/console/runs/${run.id}`)
  await expect.poll(async () => (await read()).status, SLOWLY).toBe('running')
  const token = await callbackToken(platform.deps, app, run.id)
  const act = (path: string, body: object) => platform.call('POST', `/api/v1/${path}`, { token, body })
  const fetches = (url: string) =>
    act('tools/http_fetch/invoke', { run_id: run.id, arguments: { url, method: 'POST' } })
  return { id: run.id as string, act, read, fetches }
}

it('installs an agent, talks to it and stops it', async () => {
  const { page, platform, agent } = stage
  const { keyboard } = page
  const who = await person(stage)
  const json = { 'content-type': 'application/json' }
  const body = JSON.stringify({ status: 'succeeded', output: { text: 'Seven boxes.' } })
  await listApp(
    platform,
    {
      name: 'Box counter',
      summary: 'Counts boxes.',
      requested_scopes: ['runs:write', 'tools:invoke', 'chat:read', 'chat:write'],
    },
    { runtime: { type: 'webhook', endpoint: agent.url } },
  )
  await openAs(stage, who)
  await heading(page, 'Home').waitFor()
  await keyboard.press('Tab')
  await expectFocus(page, 'button', 'Skip to content')
  await expectVisibleFocus(page)
  await keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.id')).toBe('main')
  await goTo('Marketplace')
  await tabTo(page, 'searchbox', 'Search')
  await expectVisibleFocus(page)
  await keyboard.type('box counter')
  await expect.poll(() => page.url()).toContain('q=box')
  await tabTo(page, 'link', /^Box counter/)
  await expectVisibleFocus(page)
  await keyboard.press('Enter')
  await expectFocus(page, 'heading', 'Box counter')
  await tabTo(page, 'checkbox', /^Call platform tools/)
  await expectVisibleFocus(page)
  await keyboard.press('Space')
  expect(await page.getByRole('checkbox', { name: /^Call platform tools/ }).isChecked()).toBe(false)
  await tabTo(page, 'button', 'Install Box counter')
  await expectVisibleFocus(page)
  await keyboard.press('Enter')
  rest()
  await pressButton(page, 'Start a conversation')
  agent.answer({ kind: 'answer', headers: json, body })
  await expectFocus(page, 'heading', 'Conversations')
  await tabTo(page, 'textbox', /^Message to/)
  await expectVisibleFocus(page)
  await keyboard.type('How many boxes?')
  await keyboard.press('Enter')
  await page.locator('.message').getByText('Seven boxes.').waitFor()
  await expectFocus(page, 'textbox', /^Message to/)
  rest()
  agent.answer({ kind: 'answer', status: 202 })
  await keyboard.type('And how many shelves?')
  await keyboard.press('Enter')
  await page.getByText('is working on it').waitFor()
  await tabBackTo(page, 'button', 'Stop')
  await keyboard.press('Enter')
  await expect.poll(() => page.getByText('is working on it').count()).toBe(0)
  await expectFocus(page, 'textbox', /^Message to/)
})

it('answers a question of a run, approves a call on Home and on the page of its run, and rejects one with a comment', async () => {
  const { page, agent } = stage
  const { keyboard } = page
  const who = await person(stage)
  const [run, other] = [await workingRun(who), await workingRun(who)]
  const properties = {
    shelf: { type: 'string', title: 'Shelf', enum: ['Left', 'Right'] },
    boxes: { type: 'integer', title: 'Boxes', minimum: 1 },
    hurry: { type: 'boolean', title: 'In a hurry' },
  }
  await run.act(`runs/${run.id}/input-requests`, {
    input_requests: { one: { message: 'Which shelf?', schema: { type: 'object', properties, required: ['shelf'] } } },
  })
  await other.fetches(`${agent.url}/first`)
  const approve = page.getByRole('button', { name: 'Approve', exact: true, disabled: false })
  await openAs(stage, who)
  await heading(page, 'Home').waitFor()
  await tabTo(page, 'listitem', /^Question/)
  await expectVisibleFocus(page)
  await keyboard.press('o')
  await choose(page, /^Shelf/, 'Right')
  await tabTo(page, 'spinbutton', 'Boxes')
  await keyboard.type('7')
  await tabTo(page, 'checkbox', 'In a hurry')
  await keyboard.press('Space')
  await pressButton(page, 'Answer')
  // Decided items leave the list.
  await expectFocus(page, 'listitem', /^Approval/)
  const content = { shelf: 'Right', boxes: 7, hurry: true }
  expect((await run.read()).steps[0].output.responses).toEqual({ one: { action: 'accept', content } })
  await keyboard.press('o')
  await approve.waitFor()
  await keyboard.press('a')
  await expectFocus(page, 'button', 'Approve')
  await expectInSight(page)
  await keyboard.press('Enter')
  await expectFocus(page, 'heading', 'Home')
  await expect.poll(() => agent.requests.some(({ path }) => path === '/first')).toBe(true)

  rest()
  await run.fetches(`${agent.url}/second`)
  await tabTo(page, 'listitem', /^Approval/)
  await keyboard.press('o')
  await approve.waitFor()
  await followLink(page, 'View run')
  await expectFocus(page, 'heading', /^Run of/)
  await approve.waitFor()
  await pressButton(page, 'Approve')
  await expectFocus(page, 'heading', /^Run of/)
  await expect.poll(() => agent.requests.some(({ path }) => path === '/second')).toBe(true)

  rest()
  await other.fetches(`${agent.url}/third`)
  await goTo('Home')
  await tabTo(page, 'listitem', /^Approval/)
  await keyboard.press('o')
  await approve.waitFor()
  await typeInto(page, 'Comment', 'We have enough of them')
  await pressButton(page, 'Reject')
  await expectFocus(page, 'heading', 'Home')
  expect((await other.read()).steps.at(-1)).toMatchObject({ status: 'rejected' })
  expect(JSON.stringify(await call(who, 'GET', `/console/runs/${other.id}/trace`))).toContain('We have enough of them')
  expect(agent.requests.some(({ path }) => path === '/third')).toBe(false)
})

it.each([WIDE, { width: 390, height: 844 }])(
  'in a window of $width × $height creates a task with an assignee, a priority and a date, moves it and comments on it',
  async (size) => {
    const { page } = stage
    await page.setViewportSize(size)
    const { keyboard } = page
    const who = await person(stage)
    await openAs(stage, who, '/tasks')
    await heading(page, 'Tasks').waitFor()
    await pressButton(page, 'New task')
    await page.getByRole('dialog', { name: 'New task' }).waitFor()
    await keyboard.press('Escape')
    await expectReturned(page, 'button', 'New task')
    await keyboard.press('Enter')
    await typeInto(page, 'Title', 'Order paper')
    await typeInto(page, 'Description', 'The blue one')
    await choose(page, 'Assignee', who.user.name)
    await expectVisibleFocus(page)
    await choose(page, 'Priority', 'High')
    await tabTo(page, 'textbox', 'Labels')
    await tabBackTo(page, 'combobox', 'Priority')
    await keyboard.press('Tab')
    await expectVisibleFocus(page)
    await keyboard.type('12312030')
    await pressButton(page, 'Create')
    await expectFocus(page, 'heading', 'Order paper')
    const id = page.url().split('/').at(-1) ?? ''
    const task = () => call(who, 'GET', `/console/tasks/${id}`)
    expect(await task()).toMatchObject({
      priority: 'high',
      due_date: '2030-12-31',
      assigned_person: { user_id: who.user.id },
    })
    await typeInto(page, 'Write a comment', 'Two boxes are enough')
    await pressButton(page, 'Send')
    await page.locator('.message').getByText('Two boxes are enough').waitFor()
    await followLink(page, 'Tasks')
    await expectFocus(page, 'heading', 'Tasks')
    await tabTo(page, 'link', 'Order paper')
    await expectVisibleFocus(page)
    await keyboard.press('Shift+ArrowRight')
    await expect.poll(async () => (await task()).status, SLOWLY).toBe('in_progress')
    await expectFocus(page, 'link', 'Order paper')
    await tabTo(page, 'combobox', 'Move “Order paper” to')
    await expectVisibleFocus(page)
    await keyboard.press('ArrowDown')
    await expect.poll(async () => (await task()).status, SLOWLY).toBe('discuss')
    await keyboard.press('Control+z')
  },
)

it('renames, moves and deletes a file', async () => {
  const { page } = stage
  const { keyboard } = page
  const who = await person(stage)
  await call(who, 'POST', '/console/files', { name: 'old.txt', content_type: 'text/plain', content: 'x' })
  stage.mayAsk.add(bucket.origin)
  await openAs(stage, who, '/files')
  await heading(page, 'Files').waitFor()
  const choosers: boolean[] = []
  page.on('filechooser', (chooser) => choosers.push(chooser.isMultiple()))
  await tabTo(page, 'button', 'Upload')
  await keyboard.press('Enter')
  await expect.poll(() => choosers).toEqual([true])
  await tabBackTo(page, 'button', 'New folder')
  await keyboard.press('Enter')
  await typeInto(page, 'Name', 'Bills')
  await keyboard.press('Enter')
  await expectReturned(page, 'button', 'New folder')
  await tabTo(page, 'button', 'old.txt')
  await expectVisibleFocus(page)
  await keyboard.press('Enter')
  await pressButton(page, 'Rename')
  await typeInto(page, 'Name', 'new.txt')
  await keyboard.press('Enter')
  await expectReturned(page, 'button', 'new.txt')
  await keyboard.press('Enter')
  await pressButton(page, 'Move')
  await choose(page, 'Folder', 'Bills')
  await pressButton(page, 'Move')
  await page.getByRole('button', { name: 'new.txt', exact: true }).waitFor({ state: 'detached' })
  await expectReturned(page, 'heading', 'Files')
  await followLink(page, 'Bills')
  await expectFocus(page, 'heading', 'Bills')
  await tabTo(page, 'button', 'new.txt')
  await keyboard.press('Delete')
  await page.getByRole('dialog', { name: 'Delete new.txt?' }).waitFor()
  await pressButton(page, 'Delete')
  await page.getByText('No files yet').waitFor()
  await expectReturned(page, 'heading', 'Bills')
})

it.each(sampleOf([WIDE, ZOOMED], 2))(
  'in a window of $width × $height invites somebody, revokes the invitation and an app’s access, and filters the audit log',
  async (size) => {
    const { page, platform } = stage
    await page.setViewportSize(size)
    const { keyboard } = page
    const who = await person(stage)
    await installed(platform.deps, { workspaceId: who.workspace.id })
    await openAs(stage, who, '/members')
    await heading(page, 'Members').waitFor()
    await pressButton(page, 'Invite someone')
    await choose(page, 'Role', 'admin')
    await pressButton(page, 'Create link')
    await tabTo(page, 'textbox', 'Link')
    await pressButton(page, 'Done')
    await expectReturned(page, 'button', 'Invite someone')
    await pressButton(page, 'Revoke')
    await page.getByRole('dialog', { name: 'Revoke this invitation?' }).waitFor()
    await pressButton(page, 'Revoke')
    await page.getByText('No pending invitations').waitFor()
    await expectReturned(page, 'heading', 'Members')

    await goTo('Connected apps')
    await pressButton(page, 'Revoke access')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'button', 'Cancel')
    await keyboard.press('Enter')
    await expectReturned(page, 'button', 'Revoke access')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await pressButton(page, 'Revoke access')
    await page.getByText('No external apps have access.').waitFor()
    await expectReturned(page, 'heading', 'Connected apps')

    await goTo('Audit log')
    await choose(page, 'What', 'Members')
    await page.getByText('No matching entries').waitFor()
    await keyboard.press('ArrowDown')
    await page.locator('summary', { hasText: 'invitation' }).first().waitFor()
    await tabTo(page, 'combobox', 'What')
    const isEntry = () => page.evaluate('document.activeElement.matches("summary")')
    for (let presses = 0; presses < 10 && !(await isEntry()); presses += 1) await keyboard.press('Tab')
    await expectVisibleFocus(page)
    await keyboard.press('Enter')
    await page.getByRole('region', { name: /^Details of invitation/ }).waitFor()
  },
)

it('changes the theme and the language, and signs out', async () => {
  const { page } = stage
  const { keyboard } = page
  const who = await person(stage)
  await openAs(stage, who, '/settings')
  await heading(page, 'Settings').waitFor()
  await pressButton(page, 'Appearance')
  await tabTo(page, 'radio', 'Like the system')
  await expectVisibleFocus(page)
  await keyboard.press('ArrowRight')
  await keyboard.press('ArrowRight')
  await expect.poll(() => page.evaluate('document.documentElement.dataset.scheme')).toBe('dark')
  await keyboard.press('Escape')
  await expectReturned(page, 'button', 'Appearance')
  await choose(page, 'Language and region', 'German (Germany)')
  await pressButton(page, 'Save')
  await heading(page, 'Einstellungen').waitFor()
  await pressButton(page, 'Abmelden')
  await heading(page, 'Anmelden').waitFor()
})
