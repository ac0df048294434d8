import { expect, it } from 'vitest'
import { browserStage, heading } from '#test/browser/console/harness.ts'
import {
  expectFocus,
  expectReturned,
  expectVisibleFocus,
  followLink,
  pressButton,
  tabBackTo,
  tabTo,
  typeInto,
} from '#test/browser/keyboard.ts'
import { newDeveloper } from '#testkit/developers.ts'
import { letSucceed } from './support.ts'

const stage = browserStage()

/** Opens a screen of the portal, and signs in with a developer's key. */
const openByKeys = async (key: string, place = '/') => {
  const { page, url } = stage
  await page.goto(`${url}/developers#${place}`)
  await heading(page, 'Sign in').waitFor()
  await page.keyboard.press('Tab')
  for (
    let presses = 0;
    presses < 10 && !(await page.evaluate('document.activeElement.matches("summary")'));
    presses += 1
  )
    await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await typeInto(page, 'Developer key', key)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Developers' }).waitFor()
}

it('creates an app, writes its manifest, publishes, tests and submits it', async () => {
  const { page, agent, platform } = stage
  const { keyboard } = page
  letSucceed(stage)
  const developer = await newDeveloper(platform)
  await openByKeys(developer.key)
  await followLink(page, 'Create an app')
  await expectFocus(page, 'heading', 'Create an app')
  await tabTo(page, 'radio', /./)
  await expectVisibleFocus(page)
  await typeInto(page, 'Name', 'Stock teller')
  await typeInto(page, 'Summary', 'Answers questions about the stock of a shop.')
  await pressButton(page, 'Create the app')
  await followLink(page, 'I’ve stored them')
  await expectFocus(page, 'heading', 'Stock teller')
  const { items } = (await developer.call('GET', '/api/v1/dev/apps')).body
  const app = `/api/v1/dev/apps/${items[0].id}`
  const details = {
    description: 'Ask it.',
    logo_url: 'https://app.example.com/logo.png',
    privacy_url: 'https://app.example.com/privacy',
    support_email: 'help@example.com',
  }
  await developer.call('PATCH', app, details)

  const editor = page.getByRole('textbox', { name: 'Manifest' })
  await page.getByText('The manifest is valid.').waitFor()
  const manifest = JSON.parse(await editor.inputValue())
  await tabTo(page, 'textbox', 'Manifest')
  await expectVisibleFocus(page)
  await keyboard.press('Control+a')
  await keyboard.type('{"ru')
  await page.getByRole('option', { name: 'runtime', selected: true }).waitFor()
  await keyboard.press('Escape')
  await expect.poll(() => page.getByRole('option').count()).toBe(0)
  await expectFocus(page, 'textbox', 'Manifest')
  await keyboard.press('Control+Space')
  await page.getByRole('option', { name: 'runtime', selected: true }).waitFor()
  await keyboard.press('Enter')
  await expect.poll(() => editor.inputValue()).toContain('"runtime": {}')
  // The suggestions don't hold the focus.
  await keyboard.press('Control+Space')
  await page.getByRole('option').first().waitFor()
  await keyboard.press('Tab')
  expect(await editor.evaluate('document.activeElement.id')).not.toBe(await editor.getAttribute('id'))
  await expect.poll(() => page.getByRole('option').count()).toBe(0)
  // The findings of the manifest’s check may have appeared in between.
  await tabBackTo(page, 'textbox', 'Manifest', 3)
  const described = `document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent`
  expect(await page.evaluate(described)).toContain('Tab leaves the editor.')
  await keyboard.press('Control+a')
  await keyboard.insertText(JSON.stringify({ ...manifest, runtime: { type: 'webhook', endpoint: agent.url } }, null, 2))
  await page.getByText('The manifest is valid.').waitFor()
  await pressButton(page, 'Publish')
  await pressButton(page, 'Promote 1.0.0')
  await page.getByText('Live', { exact: true }).waitFor()
  await followLink(page, 'Test it')
  await pressButton(page, 'Run')
  await page.getByRole('list', { name: 'Timeline' }).getByText('Succeeded').waitFor()
  await followLink(page, 'Overview')
  await pressButton(page, 'Submit for review')
  await page.getByText('Submitted. The moderators will look at it.').waitFor()
  expect((await developer.call('GET', app)).body.status).toBe('in_review')
})

it('creates a key and deletes it', async () => {
  const { page, platform } = stage
  const developer = await newDeveloper(platform)
  await openByKeys(developer.key, '/account')
  await heading(page, 'Account').waitFor()
  await pressButton(page, 'Create a key')
  await typeInto(page, 'Name', 'ci')
  await pressButton(page, 'Create')
  await page.getByRole('dialog', { name: 'Store the key' }).waitFor()
  await page.keyboard.press('Escape')
  await expectReturned(page, 'button', 'Create a key')
  await pressButton(page, 'Delete')
  await page.getByRole('dialog', { name: 'Delete the key ci?' }).waitFor()
  await pressButton(page, 'Delete')
  await page.getByText('No named keys.').waitFor()
  await expectReturned(page, 'heading', 'Account')
})
