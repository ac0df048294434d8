import { describe, expect, it } from 'vitest'
import { consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()

/** More than a page of the list. */
const WISHES = 60

describe('the way back', () => {
  it('leads to the same filter, the same items and the same place in the list', async () => {
    const { platform, page } = stage
    const who = await person(stage)
    for (let n = 1; n <= WISHES; n++) {
      // Also keeps below the rate limit.
      platform.clock.advance(10_000)
      const body = { title: `Count the ${n}. shelf`, description: '' }
      const made = await platform.call('POST', '/console/agent-requests', { token: who.token, body })
      expect(made.status, made.text).toBe(201)
    }
    await openAs(stage, who, '/wishlist')
    await page.getByLabel('Sort by').selectOption('newest')
    await page.getByRole('button', { name: 'Show more' }).click()
    const last = page.getByText('Count the 1. shelf', { exact: true })
    await last.scrollIntoViewIfNeeded()
    const place = await page.evaluate<number>('scrollY')
    expect(place).toBeGreaterThan(0)

    await page.getByRole('link', { name: 'Tasks' }).first().click()
    await heading(page, 'Tasks').waitFor()
    expect(await page.evaluate<number>('scrollY')).toBe(0)
    await page.goBack()
    await heading(page, 'Agent requests').waitFor()
    await last.waitFor()
    expect(await page.getByLabel('Sort by').inputValue()).toBe('newest')
    await expect.poll(() => page.evaluate<number>('scrollY')).toBe(place)
  })
})

describe('a group of the navigation', () => {
  it('is closed by keyboard, stays closed after a reload, and opens for a screen within it', async () => {
    const { page } = stage
    await openAs(stage, await person(stage))
    const members = page.getByRole('link', { name: 'Members' })
    await members.waitFor()
    await page.getByText('Workspace', { exact: true }).last().focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => members.isVisible()).toBe(false)
    // The page keeps it a moment later.
    await expect.poll(() => page.evaluate('localStorage.getItem("folded")')).toBe('["Workspace"]')
    await page.reload()
    await page.getByRole('link', { name: 'Marketplace', exact: true }).waitFor()
    expect(await members.isVisible()).toBe(false)
    await visit(page, '/usage')
    await members.waitFor()
  })
})

describe('a message about something elsewhere', () => {
  it('links to it', async () => {
    const { page } = stage
    const who = await person(stage)
    await openAs(stage, who, '/tasks')
    await visit(page, '/wishlist')
    await page.getByRole('button', { name: 'Request an agent' }).click()
    await page.getByLabel('What should it do?').fill('Count the stock')
    await page.getByLabel('Details').fill('Every evening.')
    await page.getByRole('button', { name: 'Publish' }).click()
    const link = page.getByRole('status').getByRole('link', { name: 'View' })
    expect(await link.getAttribute('href')).toBe('#/wishlist?sort=newest')
  })
})
