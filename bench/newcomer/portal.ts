import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import { freePort } from '#local/free-port.ts'
import { DEFAULT_SCOPE } from '#shared/kernel/package-names.ts'
import { filesOf } from '../../cli/project/templates.ts'
import { startAgent } from './agent.ts'
import type { Journey, Newcomer } from './journey.ts'
import { install } from './packages.ts'

/** Goes the same way in the browser. The agent's code is that of the quickstart. */
export const byPortal = async (
  { baseUrl, folder, language, packages }: Newcomer,
  browser: Browser,
): Promise<Journey> => {
  const slug = `greeter-${Date.now()}`
  const port = await freePort()
  const context = await browser.newContext()
  const page = await context.newPage()
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const follow = (name: string) => page.getByRole('link', { name, exact: true }).click()
  const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text)
  try {
    const start = performance.now()
    const since = (): number => (performance.now() - start) / 1_000
    await install(folder, language, packages, false)
    const installed = since()
    await page.goto(`${baseUrl}/developers`)
    await press('Create an account')
    await fill('Name', slug)
    await fill('Email', `${slug}@example.com`)
    await press('Create account')
    await press('Continue')
    await follow('Create an app')
    await fill('Name', slug)
    await fill('Summary', 'Greets people by name.')
    await press('Create the app')
    const secret = await page.getByLabel('Signing secret', { exact: true }).inputValue()
    await follow('I’ve stored them')
    const endpoint = `http://127.0.0.1:${port}`
    const about = {
      slug,
      vendor: slug,
      name: slug,
      summary: 'Greets people by name.',
      endpoint,
      version: '0.1.0',
      scope: DEFAULT_SCOPE,
      baseUrl: 'http://127.0.0.1:3000',
      wheel: '',
    }
    for (const [name, text] of Object.entries(filesOf(language, about))) writeFileSync(path.join(folder, name), text)
    writeFileSync(path.join(folder, '.env'), `SIGNING_SECRET=${secret}\n`)
    await using _agent = await startAgent(folder, language, port)
    const editor = page.getByLabel('Manifest', { exact: true })
    await editor.fill((await editor.inputValue()).replace('https://agent.example.com/run', endpoint))
    await page.getByText('The manifest is valid.').waitFor()
    await press('Publish')
    await page.getByRole('button', { name: 'Promote 1.0.0' }).waitFor()
    await follow('Test it')
    await fill('Input', '{"name": "Ada"}')
    await press('Run')
    await page.getByText('Hello, Ada!').first().waitFor()
    const verified = since()
    await follow('Versions')
    await press('Promote 1.0.0')
    await page.getByText('Live', { exact: true }).waitFor()
    await follow('Settings')
    await fill('Description', 'Give it a name and it greets.')
    await fill('Logo', 'https://greeter.example.com/logo.png')
    await fill('Privacy policy', 'https://greeter.example.com/privacy')
    await fill('Support address', 'help@example.com')
    await press('Save')
    await page.getByText('Saved.').first().waitFor()
    await follow('Overview')
    await press('Submit for review')
    await page.getByText('Submitted. The moderators will look at it.').waitFor()
    return { installed, verified, inReview: since() }
  } finally {
    await context.close()
  }
}
