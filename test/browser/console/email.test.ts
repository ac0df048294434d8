import { describe, expect, it } from 'vitest'
import { UserEntity } from '#shared/identity/people/entity.ts'
import { HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { PersonMailEntity } from '#shared/messaging/inbox/mail/entity.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { consoleOf, notify } from '#test/functions/console/notifications-support.ts'
import { giveEmail } from '#testkit/email.ts'
import { consoleStage, openAs, type Person, person } from './harness.ts'

const stage = consoleStage()

const lastMail = (to: string) => stage.platform.mails.findLast((mail) => mail.to === to)

/** Lets time pass, and the sweeper and the workers do what is due. */
const passes = async (ms: number): Promise<void> => {
  stage.platform.clock.advance(ms)
  await stage.platform.sweep()
  await stage.platform.drain()
}

let n = 0
/** Returns a person with a confirmed address. */
const reader = async (locale = 'en'): Promise<Person & { email: string }> => {
  const { platform } = stage
  const who = await person(stage)
  await platform.deps.table.transact([UserEntity.update({ id: who.user.id }, { set: { locale } })])
  const email = `reader${++n}@example.com`
  await giveEmail(platform, who.token, email)
  await consoleOf(platform, who.token).mark({ all: true })
  await platform.drain()
  return { ...who, email }
}

/** Sends an e-mail about a notification that waits, and returns where its link leads. */
const mailedLink = async ({ workspace, email }: Person & { email: string }): Promise<string> => {
  await notify(stage.platform, workspace.id, { kind: 'task.question', title: 'Which colour?' })
  return nextLink(email, 2 * MINUTE)
}

/** Lets time pass until an e-mail with a link arrives. @returns the link's address on this stage */
const nextLink = async (email: string, step: number): Promise<string> => {
  const arrived = async () => {
    await passes(step)
    return lastMail(email)?.unsubscribe
  }
  await expect.poll(arrived).toBeTruthy()
  const { unsubscribe = '', text = '' } = lastMail(email) ?? {}
  expect(text).toContain(unsubscribe)
  return unsubscribe.replace(stage.platform.deps.settings.baseUrl, stage.url)
}

const preferences = async ({ token }: Person) =>
  (await consoleOf(stage.platform, token).read('/notifications/preferences')).email

describe('an address for e-mail', () => {
  it('is added in the console with the code of the e-mail, and a wrong code adds none', async () => {
    const { page } = stage
    const who = await person(stage)
    const email = `new${++n}@example.com`
    await openAs(stage, who, '/notifications')
    await page.getByText('E-mail notifications').click()
    await page.getByLabel('E-mail address', { exact: true }).fill(email)
    await page.getByRole('button', { name: 'Send code' }).press('Enter')
    await page.getByText(`We sent a code to ${email}.`).waitFor()
    const code = /\b\d{6}\b/.exec(lastMail(email)?.text ?? '')?.[0] ?? ''
    await page.getByLabel('Code', { exact: true }).fill(String((Number(code) + 1) % 1_000_000).padStart(6, '0'))
    await page.getByRole('button', { name: 'Confirm' }).press('Enter')
    await page.getByRole('alert').waitFor()
    expect((await preferences(who)).address).toBe(null)
    await page.getByLabel('Code', { exact: true }).fill(code)
    await expectAccessible(page, 'email-code')
    await page.getByRole('button', { name: 'Confirm' }).press('Enter')
    await page.getByText(`E-mail goes to ${email}.`).waitFor()
    expect((await preferences(who)).address).toBe(email)
  })
})

describe('the page behind an e-mail’s link', () => {
  it('ends e-mail with its button and not by being opened, without a sign-in, and the console shows it', async () => {
    const { page } = stage
    const who = await reader()
    await page.goto(await mailedLink(who))
    await page.getByRole('heading', { name: 'Stop these e-mails?' }).waitFor()
    await page.reload()
    expect((await preferences(who)).off, 'opening it changes nothing').toBe(false)
    await expectAccessible(page, 'unsubscribe')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'You’re unsubscribed' }).waitFor()
    await page.getByText('You won’t get any e-mail from this workspace anymore.').waitFor()
    await expectAccessible(page, 'unsubscribed')
    expect((await preferences(who)).off).toBe(true)
    await openAs(stage, who, '/notifications')
    await page.getByText('E-mail notifications').click()
    const off = page.getByRole('checkbox', { name: 'No e-mail from this workspace' })
    await off.waitFor()
    expect(await off.isChecked()).toBe(true)
    // The page promises that this can be changed here.
    await off.uncheck()
    await page.getByRole('group').filter({ has: off }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('Preferences saved.').waitFor()
    expect((await preferences(who)).off).toBe(false)
  })

  it('of a digest ends digests only, and speaks the reader’s language', async () => {
    const { page, platform } = stage
    const who = await reader('de')
    await notify(platform, who.workspace.id)
    await page.goto(await nextLink(who.email, 6 * HOUR))
    await page.getByRole('heading', { name: 'Diese E-Mails abbestellen?' }).waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe('de')
    await page.getByRole('button').press('Enter')
    await page.getByText('tägliche').first().waitFor()
    const kept = await platform.deps.table.get(PersonMailEntity, { user_id: who.user.id })
    expect(kept).toMatchObject({ email: who.email, digest_off: true })
  })

  it('says so if the link doesn’t work anymore, in the language of the browser', async () => {
    const { browser } = stage
    const who = await reader()
    const link = await mailedLink(who)
    await consoleOf(stage.platform, who.token).call('DELETE', '/email')
    const context = await browser.newContext({ locale: 'de-DE' })
    const page = await context.newPage()
    await page.goto(link)
    await page.getByRole('heading', { name: 'Dieser Link funktioniert nicht mehr' }).waitFor()
    expect(await page.getByRole('button').count()).toBe(0)
    await context.close()
  })
})
