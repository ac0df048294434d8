import { expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { succeeds } from '#testkit/receiver.ts'
import { consoleStage, heading, openAs } from './harness.ts'

const stage = consoleStage({}, { timezoneId: 'Europe/Amsterdam', locale: 'en-GB' })

it('a person makes a schedule in words, and runs, pauses, resumes, changes and deletes it', async () => {
  const { page, platform, agent } = stage
  agent.answer(succeeds({}))
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { token, user } = app.person
  const who = {
    token,
    user: { id: user.id, name: user.name },
    workspace: { id: app.installation.workspace_id, name: '' },
  }
  const read = async (path: string) => (await platform.call('GET', `/console/schedules${path}`, { token })).body

  await openAs(stage, who, '/schedules')
  await heading(page, 'Schedules').waitFor()
  await page.getByText('No schedules').waitFor()
  await expectAccessible(page, 'schedules-empty')

  await page.getByRole('button', { name: 'New schedule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Morning news')
  await dialog.getByLabel('Time of day').fill('09:00')
  await dialog.getByLabel('Time zone').selectOption('America/New_York')
  await dialog.getByText('Weekdays at 9:00 in New York').waitFor()
  await dialog.getByText(/Next times in/).waitFor()
  expect(await dialog.getByRole('listitem').count()).toBe(5)
  await dialog
    .getByText(/9:00 in New York$/)
    .first()
    .waitFor()
  await dialog.getByLabel('Repeats').selectOption('cron')
  await dialog.getByRole('textbox', { name: 'Cron expression' }).fill('0 9 31 2 *')
  await dialog.getByText('never fires: no date matches its day and month', { exact: true }).waitFor()
  await dialog.getByLabel('Repeats').selectOption('weekdays')
  await dialog.getByLabel('Start the agent').selectOption('input')
  await dialog.getByLabel('JSON input').fill('[')
  await dialog.getByText('This isn’t a JSON object.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Create schedule' }).isDisabled()).toBe(true)
  await dialog.getByLabel('JSON input').fill('{"topic":"news"}')
  await expectAccessible(page, 'schedules-editor')
  await dialog.getByRole('button', { name: 'Create schedule' }).click()
  await dialog.waitFor({ state: 'detached' })
  const { items } = await read('')
  expect(items).toMatchObject([
    {
      name: 'Morning news',
      start: { input: { topic: 'news' } },
      when: { cron: '0 9 * * MON-FRI', time_zone: 'America/New_York' },
    },
  ])
  const { id } = items[0]

  await heading(page, 'Schedules').waitFor()
  const week = page.getByRole('region', { name: 'The next seven days' })
  await week
    .getByRole('link', { name: /Morning news/ })
    .first()
    .waitFor()
  expect(await week.getByRole('link', { name: /Morning news/ }).count()).toBeGreaterThanOrEqual(4)
  await expectAccessible(page, 'schedules')

  await page
    .getByRole('list')
    .first()
    .getByRole('link', { name: /Morning news/ })
    .first()
    .click()
  await heading(page, 'Morning news').waitFor()
  await page.getByText('It hasn’t fallen due yet.').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('A person paused it.').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByLabel('Repeats').selectOption('interval')
  await dialog.getByText('Every hour', { exact: true }).last().waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await read(`/${id}`)).toMatchObject({ when: { every: 'PT1H' }, start: { input: { topic: 'news' } } })
  await expectAccessible(page, 'schedule')

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No schedules').waitFor()
  expect((await read('')).items).toEqual([])
})

it('a person lets an event start an agent, and sees in the history which one did', async () => {
  const { page, platform, agent } = stage
  agent.answer(succeeds({}))
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { token, user } = app.person
  const who = { token, user: { id: user.id, name: user.name }, workspace: { id: app.workspaceId, name: '' } }
  await openAs(stage, who, '/schedules')
  await page.getByRole('button', { name: 'New schedule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Gifts')
  await dialog.getByLabel('Repeats').selectOption('event')
  await dialog.getByRole('status').getByText('When a task is created', { exact: true }).waitFor()
  await dialog.getByLabel('Event', { exact: true }).selectOption('Another event')
  await dialog.getByLabel('Event type').fill('custom.order.paid')
  await dialog.getByLabel(/Only if this field/).fill('order.kind')
  await dialog.getByLabel('has this value').fill('gift')
  await dialog.getByText('When custom.order.paid happens, order.kind = gift').waitFor()
  await dialog.getByLabel('Start the agent').selectOption('input')
  await expectAccessible(page, 'schedules-editor-event')
  await dialog.getByRole('button', { name: 'Create schedule' }).click()
  await dialog.waitFor({ state: 'detached' })
  const body = { arguments: { type: 'order.paid', data: { order: { kind: 'gift' } } } }
  await succeeded(platform.call('POST', '/api/v1/tools/emit_event/invoke', { token: app.token, body }))
  await page.getByRole('link', { name: 'Gifts' }).click()
  await page.getByText('custom.order.paid', { exact: true }).waitFor()
  await expectAccessible(page, 'schedule-event')
})
