import { describe, expect, it } from 'vitest'
import { installed } from '#testkit/fixtures.ts'
import { consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage({}, { timezoneId: 'Asia/Tokyo', locale: 'de-DE' })

const me = async (token: string) => (await stage.platform.call('GET', '/console/me', { token })).body

describe('a new user', () => {
  it('gets the browser’s time zone once, and keeps one that they chose', async () => {
    const who = await person(stage)
    await openAs(stage, who)
    await expect
      .poll(async () => (await me(who.token)).user)
      .toMatchObject({ time_zone: 'Asia/Tokyo', time_zone_chosen: true })
    const body = { time_zone: 'UTC' }
    await stage.platform.call('PATCH', '/console/me', { token: who.token, body })
    await stage.page.reload()
    await heading(stage.page, 'Home').waitFor()
    expect((await me(who.token)).user.time_zone).toBe('UTC')
  })

  it('reads dates in the order of their region and the language of the page', async () => {
    const who = await person(stage)
    // The page isn't in Dutch, so its words for times are English.
    const body = { locale: 'nl-NL', time_zone: 'Asia/Tokyo' }
    await stage.platform.call('PATCH', '/console/me', { token: who.token, body })
    await openAs(stage, who, '/members')
    const times = stage.page.locator('main time')
    await times.first().waitFor()
    for (const text of await times.allTextContents()) expect(text).not.toMatch(/geleden|nu$|vandaag|gisteren/)
    await visit(stage.page, '/settings')
    const language = stage.page.getByLabel('Language and region').first()
    expect(await language.inputValue()).toBe('nl-NL')
    expect(await language.evaluate((select) => select.tagName)).toBe('SELECT')
  })
})

describe('the number of things that wait', () => {
  it('is right on every screen, and the latest runs on the home screen are not only those', async () => {
    const { platform, agent, page } = stage
    const who = await person(stage)
    const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
    const { body: task } = await platform.call('POST', '/console/tasks', {
      token: who.token,
      body: { title: 'Count', description: '', installation_id: app.installation.id },
    })
    await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: {} } })
    await openAs(stage, who, '/members')
    await heading(page, 'Members').waitFor()
    await platform.call('POST', `/api/v1/tasks/${task.id}/question`, { token: app.token, body: { text: 'Which?' } })
    await page
      .getByRole('link', { name: /^Home.*1 waiting for you/ })
      .first()
      .waitFor()
    await visit(page, '/')
    await page.getByRole('heading', { name: 'Latest runs' }).waitFor()
  })
})

describe('a notification of several lines', () => {
  it('is one line in the list, without replacement characters', async () => {
    const { platform, agent, page } = stage
    const who = await person(stage)
    const app = await installed(platform.deps, { endpoint: agent.url, workspaceId: who.workspace.id })
    await platform.call('POST', '/api/v1/tools/notify_user/invoke', {
      token: app.token,
      body: { arguments: { title: 'Report', body: 'First line\nSecond line' } },
    })
    await openAs(stage, who, '/notifications')
    await page.locator('main').getByText('First line Second line', { exact: true }).waitFor()
  })
})

describe('deleting a workspace', () => {
  it('needs its name', async () => {
    const { page, platform } = stage
    const who = await person(stage)
    await openAs(stage, who, '/settings')
    await page.getByRole('button', { name: 'Delete workspace' }).click()
    const verb = page.getByRole('button', { name: 'Delete it in 14 days' })
    await page.getByLabel(/to confirm/).fill('something else')
    expect(await verb.isDisabled()).toBe(true)
    await page.getByLabel(/to confirm/).fill(who.workspace.name)
    await verb.click()
    await page.getByText('This workspace is scheduled for deletion.').waitFor()
    expect((await platform.call('GET', '/console/me', { token: who.token })).body.workspace.deletes_at).not.toBeNull()
  })
})
