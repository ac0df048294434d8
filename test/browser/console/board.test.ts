import { describe, expect, it } from 'vitest'
import { newTask } from '#shared/work/tasks/create.ts'
import { TaskEntity } from '#shared/work/tasks/entity.ts'
import { TASK_STATUSES } from '#shared/work/tasks/status.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { workOf } from '#test/functions/console/people-support.ts'
import { installed } from '#testkit/fixtures.ts'
import { callAs, consoleStage, heading, openAs, type Person, person } from './harness.ts'

const stage = consoleStage()

const call = callAs(stage)

const agentIn = (who: Person) =>
  installed(stage.platform.deps, { endpoint: stage.agent.url, workspaceId: who.workspace.id })

const region = (name: RegExp) => stage.page.getByRole('region', { name })

const focused = () => stage.page.evaluate('document.activeElement.textContent')

describe('the board of tasks', () => {
  it('shows what an agent asks or reports, who has a task, its priority, due date and labels, without accessibility faults', async () => {
    const { page, platform } = stage
    const who = await person(stage)
    const app = await agentIn(who)
    const task = (fields: object) => call(who, 'POST', '/console/tasks', { description: '', ...fields })
    const asked = await task({
      title: 'Count the stock',
      installation_id: app.installation.id,
      labels: ['stock', 'Q4'],
    })
    await platform.call('POST', `/api/v1/tasks/${asked.id}/question`, {
      token: app.token,
      body: { text: 'Which of the two shelves in the cellar do you mean, the left or the right one?' },
    })
    const reported = await task({ title: 'Order paper', installation_id: app.installation.id, due_date: '2020-02-01' })
    await platform.call('POST', `/api/v1/tasks/${reported.id}/report`, {
      token: app.token,
      body: { text: 'Ordered 20 boxes. They arrive on Monday.' },
    })
    await task({
      title: 'Call the landlord about the heating, and ask for a date',
      user_id: who.user.id,
      priority: 'urgent',
    })
    await openAs(stage, who, '/tasks')
    await region(/^Needs an answer/)
      .getByText('Which of the two shelves')
      .waitFor()
    await region(/^In review/)
      .getByText('Ordered 20 boxes')
      .waitFor()
    await region(/^In review/)
      .getByText(/^Overdue: 1 Feb 2020|^Overdue: Feb 1, 2020/)
      .waitFor()
    await region(/^To do/)
      .getByText('Urgent')
      .waitFor()
    await region(/^To do/)
      .getByText(who.user.name)
      .waitFor()
    await expectAccessible(page, 'board')
    await page.getByRole('button', { name: 'New task' }).click()
    await expectAccessible(page, 'new task')
  })

  it('is searched and filtered, and the address keeps the filters', async () => {
    const { page } = stage
    const who = await person(stage)
    await call(who, 'POST', '/console/tasks', { title: 'Order paper', labels: ['office'], priority: 'high' })
    await call(who, 'POST', '/console/tasks', { title: 'Paint the wall', user_id: who.user.id })
    await openAs(stage, who, '/tasks')
    await page.getByText('Order paper').waitFor()
    await page.getByLabel('Search', { exact: true }).fill('wall')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.task').count()).toBe(1)
    await page.getByLabel('Priority').selectOption('high')
    await page.getByText('No tasks match').waitFor()
    await page.getByLabel('Search', { exact: true }).fill('')
    await page.keyboard.press('Enter')
    await page.getByText('Order paper').waitFor()
    await page.reload()
    await page.getByText('Order paper').waitFor()
    expect(await page.locator('.task').count()).toBe(1)
    await page.getByLabel('Assignee').selectOption({ label: who.user.name })
    await page.getByText('No tasks match').waitFor()
  })

  it('is walked and changed by keyboard alone', async () => {
    const { page } = stage
    const who = await person(stage)
    for (const title of ['Third', 'Second', 'First']) {
      await call(who, 'POST', '/console/tasks', { title })
      // Tasks of one millisecond have no order.
      stage.platform.clock.advance(1)
    }
    await openAs(stage, who, '/tasks')
    await page.getByRole('link', { name: 'First' }).focus()
    await page.keyboard.press('ArrowDown')
    await expect.poll(focused).toBe('Second')
    await page.keyboard.press('Shift+ArrowRight')
    await region(/^In progress/)
      .getByText('Second')
      .waitFor()
    await expect.poll(focused).toBe('Second')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(focused).toBe('First')
    await page.keyboard.press('j')
    await expect.poll(focused).toBe('Third')
    await page.keyboard.press('Enter')
    await heading(page, 'Third').waitFor()
    expect((await call(who, 'GET', '/console/tasks?status=in_progress')).items).toMatchObject([{ title: 'Second' }])
  })

  it('takes a priority, an assignee and a new task by keys on a card, and changes several tasks in its list', async () => {
    const { page } = stage
    const who = await person(stage)
    for (const title of ['Second', 'First']) await call(who, 'POST', '/console/tasks', { title })
    await openAs(stage, who, '/tasks')
    const card = page.getByRole('link', { name: 'First' })
    await card.focus()
    await page.keyboard.press('1')
    await page.locator('.task', { hasText: 'First' }).getByText('Urgent').waitFor()
    await expect.poll(focused).toBe('First')
    await page.keyboard.press('a')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Assignee').selectOption({ label: who.user.name })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.locator('.task', { hasText: 'First' }).getByText(who.user.name).waitFor()
    await card.focus()
    await page.keyboard.press('c')
    await page.getByRole('dialog', { name: 'New task' }).waitFor()
    await page.keyboard.press('Escape')
    const [task] = (await call(who, 'GET', '/console/tasks?q=First')).items
    expect(task).toMatchObject({ priority: 'urgent', assigned_person: { user_id: who.user.id } })

    await page.getByRole('button', { name: 'List', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByText('2 selected').waitFor()
    await expectAccessible(page, 'tasks-list')
    await page.getByRole('region', { name: 'Selected tasks' }).getByLabel('Status').selectOption('done')
    await page.getByText('2 tasks changed.').waitFor()
    const { items } = await call(who, 'GET', '/console/tasks?status=done')
    expect(items).toHaveLength(2)
    await page.reload()
    await page.locator('.task-row').nth(1).waitFor()
  })

  it('with 2,000 tasks renders only the cards near the window and answers a key within 50 ms', async () => {
    const { page, platform } = stage
    const who = await person(stage)
    const work = workOf(platform)
    for (let i = 0; i < 2_000; i += 1) {
      const { task } = newTask(work, {
        workspace_id: who.workspace.id,
        title: `Task ${i}`,
        description: '',
        audience: 'member',
        chain_depth: 0,
        created_by: { type: 'user', id: who.user.id, name: who.user.name },
      })
      const status = TASK_STATUSES[i % 5] ?? 'todo'
      await platform.deps.table.transact([TaskEntity.create({ ...task, status })])
    }
    await openAs(stage, who, '/tasks')
    await region(/^Done 400$/).waitFor()
    expect(await page.locator('.task').count()).toBeLessThan(120)
    await region(/^Done/)
      .locator('.cards')
      .evaluate((element) => {
        element.scrollTop = element.scrollHeight
      })
    await region(/^Done/).locator('[aria-posinset="400"]').waitFor()
    await region(/^To do/)
      .getByRole('link')
      .first()
      .focus()
    const took = (await page.evaluate(`(async () => {
      const took = []
      for (let i = 0; i < 60; i += 1) {
        const began = performance.now()
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }))
        await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)))
        took.push(performance.now() - began)
      }
      return took
    })()`)) as number[]
    expect(await page.locator('li:focus-within').getAttribute('aria-posinset')).toBe('61')
    // The quickest of all keys shows what the page does for a key; the slow ones show what else the machine does.
    expect(Math.min(...took)).toBeLessThan(50)
  })
})
