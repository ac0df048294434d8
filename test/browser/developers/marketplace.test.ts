import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { browserStage, heading } from '#test/browser/console/harness.ts'
import { install, listApp, signIn } from '#test/functions/console/marketplace-support.ts'
import { newApp, newDeveloper, publish } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { button, dialog, letSucceed, openAs } from './support.ts'

const stage = browserStage()

describe('submitting an app', () => {
  it('shows what is missing of all that review requires, and submits when it is there', async () => {
    const { page, platform, agent } = stage
    letSucceed(stage)
    const developer = await newDeveloper(platform)
    const app = await newApp(developer, { name: 'Shelf finder' })
    await publish(developer, app, { runtime: { type: 'webhook', endpoint: agent.url } })
    await openAs(stage, developer, `/apps/${app.id}`)
    const checks = page.getByRole('listitem')
    for (const missing of [
      'A summary',
      'A description',
      'A logo',
      'privacy policy',
      'A support address',
      'A promoted version',
      'A successful test run',
    ]) {
      await checks.filter({ hasText: missing }).filter({ hasText: '(missing)' }).waitFor()
    }
    await page.getByText('7 of 8 missing').waitFor()
    await button(page, 'Submit for review').click()
    await page.getByRole('alert').getByText('can’t be submitted', { exact: false }).waitFor()
    await expectAccessible(page, 'portal-submit-missing')

    await checks.filter({ hasText: 'A summary' }).getByRole('link').click()
    await page.getByLabel('Summary').fill('Finds the shelf of any product.')
    await page.getByLabel('Description').fill('Ask where something is, and get the shelf.')
    await page.getByLabel('Logo').fill('https://example.com/logo.png')
    await page.getByLabel('Privacy policy').fill('https://example.com/privacy')
    await page.getByLabel('Support address').fill('help@example.com')
    await button(page, 'Save').click()
    await page.getByText('Saved', { exact: false }).first().waitFor()
    await page.getByRole('link', { name: 'Test', exact: true }).click()
    await button(page, 'Run').click()
    await page.getByRole('list', { name: 'Timeline' }).getByText('Succeeded').waitFor()
    await page.getByRole('link', { name: 'Versions' }).click()
    await button(page, 'Promote 1.0.0').click()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await expect.poll(() => checks.filter({ hasText: '(missing)' }).count()).toBe(0)
    await button(page, 'Submit for review').click()
    await page.getByText('Submitted. The moderators will look at it.').waitFor()
    expect((await developer.call('GET', `/api/v1/dev/apps/${app.id}`)).body.status).toBe('in_review')
  })
})

describe('a review', () => {
  it('gets a reply that the customer sees', async () => {
    const { page, platform } = stage
    const { developer, app } = await listApp(platform, { name: 'Stock counter' })
    const customer = await signIn(platform)
    await install(platform, customer.token, app)
    const review = { rating: 2, text: 'Too slow.' }
    await platform.call('PUT', `/console/apps/${app.id}/review`, { token: customer.token, body: review })
    await openAs(stage, developer, `/apps/${app.id}/reviews`)
    await page.getByText('Too slow.').waitFor()
    await page.locator('summary', { hasText: 'Reply' }).click()
    await page.getByLabel('Reply').fill('Version 1.1 is faster.')
    await button(page, 'Publish the reply').click()
    await page.getByText('Your reply', { exact: true }).waitFor()
    await expectAccessible(page, 'portal-review-reply')
    const { body } = await platform.call('GET', `/console/apps/${app.id}/reviews`, { token: customer.token })
    expect(body.items[0].reply.text).toBe('Version 1.1 is faster.')
  })
})

describe('a customer’s request for an agent', () => {
  it('is claimed by one developer', async () => {
    const { page, platform } = stage
    const { token } = await installed(platform.deps).then(({ person }) => person)
    const body = { title: 'An agent that waters plants', description: 'Every morning.' }
    await platform.call('POST', '/console/agent-requests', { token, body })
    await openAs(stage, await newDeveloper(platform), '/requests')
    const card = page.getByRole('article').filter({ hasText: 'waters plants' })
    await card.getByRole('button', { name: 'I’ll build it' }).click()
    await dialog(page).getByRole('button', { name: 'Claim' }).click()
    await page.getByText('The request is yours.').waitFor()
    await page.getByLabel('Status').selectOption('claimed')
    await page.getByRole('article').filter({ hasText: 'waters plants' }).getByText('Yours').waitFor()
  })
})

describe('the figures', () => {
  it('are shown by day and by version, and come as CSV', async () => {
    const { page, platform, agent } = stage
    letSucceed(stage)
    const runtime = { type: 'webhook', endpoint: agent.url }
    const { developer, app } = await listApp(platform, { name: 'Count-o-mat' }, { runtime })
    const customer = await signIn(platform)
    await install(platform, customer.token, app)
    await openAs(stage, developer, `/apps/${app.id}/figures`)
    await heading(page, 'Count-o-mat').waitFor()
    const versions = page.getByRole('region', { name: 'By version' })
    await expect
      .poll(async () => {
        await page.reload()
        await page.getByText('95% within').first().waitFor()
        return versions.textContent({ timeout: 500 }).catch(() => '')
      })
      .toContain('1.0.0')
    await expectAccessible(page, 'portal-figures-counted')
    const [days] = await Promise.all([page.waitForEvent('download'), button(page, 'Days as CSV').click()])
    expect(days.suggestedFilename()).toBe(`${app.slug}-30-days.csv`)
    const text = await readFile(await days.path(), 'utf8')
    const [head, ...rows] = text.split('\r\n')
    expect(head?.replaceAll('"', '')).toBe('date,installed,removed,runs,succeeded,failed,cancelled,p50_ms,p95_ms')
    expect(rows).toHaveLength(30)
    expect(rows.at(-1)).toMatch(/^"\d{4}-\d\d-\d\d",1,0,0,0,0,0,,$/)
    const [byVersion] = await Promise.all([page.waitForEvent('download'), button(page, 'Versions as CSV').click()])
    const table = await readFile(await byVersion.path(), 'utf8')
    expect(table.split('\r\n')[1]).toBe('"1.0.0",1,0,0,0,0,,,')
  })
})
