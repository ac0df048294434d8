import { describe, expect, it } from 'vitest'
import { createWorkerWork } from '#shared/http/worker.ts'
import { newNotification } from '#shared/identity/notifications/new.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()

/** Creates a person with a task, and a function that reads the task's state. */
const withTask = async () => {
  const { platform } = stage
  const who = await person(stage)
  const body = { title: 'Water the plants', labels: ['garden', 'urgent'] }
  const { body: task } = await platform.call('POST', '/console/tasks', { token: who.token, body })
  const read = async () => (await platform.call('GET', `/console/tasks/${task.id}`, { token: who.token })).body
  return { who, task, status: async () => (await read()).status, labels: async () => (await read()).labels }
}

describe('an undo', () => {
  it('moves a card back by the button in the message, and a second press does nothing more', async () => {
    const { page } = stage
    const { who, task, status } = await withTask()
    await openAs(stage, who, `/tasks/${task.id}`)
    await page.getByLabel('Status').selectOption({ label: 'Done' })
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    expect(await status()).toBe('done')
    await expectAccessible(page, 'undo')
    await undo.press('Enter')
    await page.getByText('Undone.').waitFor()
    expect(await status()).toBe('todo')
    expect(await undo.count()).toBe(0)
  })

  it('is Ctrl-Z outside of fields, and leaves what is typed to the browser', async () => {
    const { page } = stage
    const { who, status } = await withTask()
    await openAs(stage, who, '/tasks')
    await page
      .getByLabel(/^Status of|^Move/)
      .first()
      .selectOption({ label: 'In progress' })
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await page.getByRole('button', { name: 'New task' }).focus()
    await page.keyboard.press('Control+z')
    await page.getByText('Undone.').waitFor()
    expect(await status()).toBe('todo')
  })

  it('brings back a label that an edit removed', async () => {
    const { page } = stage
    const { who, task, labels } = await withTask()
    await openAs(stage, who, `/tasks/${task.id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/^Labels/)
      .fill('garden')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Task saved.').waitFor()
    expect(await labels()).toEqual(['garden'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    expect(await labels()).toEqual(['garden', 'urgent'])
  })

  it('says so if the change can’t be undone any more', async () => {
    const { page, platform } = stage
    const { who, task } = await withTask()
    await openAs(stage, who, `/tasks/${task.id}`)
    await page.getByLabel('Status').selectOption({ label: 'Done' })
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    await platform.call('DELETE', '/console/session', { token: who.token })
    await undo.press('Enter')
    await page
      .getByText('That couldn’t be undone')
      .or(page.getByRole('heading', { name: 'Sign in' }))
      .first()
      .waitFor()
    expect(await page.getByText('Undone.').count()).toBe(0)
  })
})

describe('marking all notifications as read', () => {
  const unread = async (token: string): Promise<number> =>
    (await stage.platform.call('GET', '/console/notifications', { token })).body.unread

  const withNotification = async () => {
    const who = await person(stage)
    const { deps, drain } = stage.platform
    const { writes } = newNotification(createWorkerWork(deps), {
      workspace_id: who.workspace.id,
      kind: 'agent.notice',
      title: 'Stock is low',
      body: 'Order more.',
    })
    await deps.table.transact(writes)
    await drain()
    await openAs(stage, who, '/notifications')
    await heading(stage.page, 'Notifications').waitFor()
    await stage.page.getByRole('button', { name: 'Mark all as read' }).press('Enter')
    await stage.page.getByRole('button', { name: 'Undo' }).waitFor()
    return who
  }

  it('changes nothing on the server while it can be undone, or after it was undone', async () => {
    const { page } = stage
    const who = await withNotification()
    expect(await unread(who.token)).toBe(1)
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await page.getByRole('button', { name: 'Mark all as read' }).waitFor()
    await visit(page, '/')
    expect(await unread(who.token)).toBe(1)
  })

  it('is made at once if the page is closed before', async () => {
    const { page } = stage
    const who = await withNotification()
    await page.goto(`${stage.url}/developers`)
    await expect.poll(() => unread(who.token)).toBe(0)
  })
})
