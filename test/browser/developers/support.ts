import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Stage } from '#test/browser/console/harness.ts'
import { succeeds } from '#testkit/receiver.ts'

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

export const dialog = (page: Page) => page.getByRole('dialog')

/** Waits for the last e-mail to an address and returns the first match in it. */
export const mailed = async ({ platform }: Pick<Stage, 'platform'>, to: string, what: RegExp): Promise<string> => {
  const find = () => what.exec(platform.mails.findLast((mail) => mail.to === to)?.text ?? '')?.[0]
  await expect.poll(find).toBeDefined()
  return find() ?? ''
}

/** Opens a screen after signing in with a developer's key. */
export const openAs = async (
  { page, url }: Pick<Stage, 'page' | 'url'>,
  { key }: { key: string },
  place = '/',
): Promise<void> => {
  await page.goto(`${url}/developers#${place}`)
  await page.getByText('Use a developer key').click()
  await page.getByLabel('Developer key').fill(key)
  await button(page, 'Sign in with the key').click()
  await page.getByRole('navigation', { name: 'Developers' }).waitFor()
}

/** Opens a screen after signing in with a link by e-mail. */
export const openByEmail = async (stage: Stage, email: string, place = '/'): Promise<void> => {
  const { page, url } = stage
  await page.goto(`${url}/developers`)
  await page.getByLabel('Email').fill(email)
  await button(page, 'Email me a link').click()
  await page.getByText('a link is on its way').waitFor()
  const code = (await mailed(stage, email, /#\/sign-in\/\S+/)).split('/').at(-1)
  await page.goto(`${url}/developers#/sign-in/${code}`)
  await page.reload()
  await page.getByRole('navigation', { name: 'Developers' }).waitFor()
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`)
}

/** Makes the agent succeed. */
export const letSucceed = ({ agent }: Pick<Stage, 'agent'>): void =>
  agent.answer(succeeds({ output: { text: 'Four.' } }))
