import { expect, it } from 'vitest'
import { consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()

const german = async (who: { token: string }): Promise<void> => {
  const answer = await stage.platform.call('PATCH', '/console/me', { token: who.token, body: { locale: 'de-AT' } })
  expect(answer.status).toBe(200)
}

it('shows the person’s language after sign-in, whatever the browser’s is, and keeps their session and place', async () => {
  const who = await person(stage)
  await german(who)
  await openAs(stage, who, '/access')
  const { page } = stage
  await heading(page, 'Verbundene Apps').waitFor()
  expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual(['de', 'ltr'])
  // From now on, this browser starts in German, before anything of the person is known.
  await page.evaluate('sessionStorage.clear(); sessionStorage.setItem("seeded", "1")')
  await page.reload()
  await expect.poll(() => page.evaluate('document.documentElement.lang')).toBe('de')
})

it('changes the language with the setting, at once', async () => {
  const who = await person(stage)
  await openAs(stage, who, '/access')
  const { page } = stage
  await heading(page, 'Connected apps').waitFor()
  await visit(page, '/settings')
  await page.getByLabel('Language and region').first().selectOption('de-DE')
  await page.getByRole('button', { name: 'Save' }).first().click()
  await expect.poll(() => page.evaluate('document.documentElement.lang')).toBe('de')
  await visit(page, '/access')
  await heading(page, 'Verbundene Apps').waitFor()
})
