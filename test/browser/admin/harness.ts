import type { Page } from 'playwright-core'
import { browserStage, type Stage } from '#test/browser/console/harness.ts'
import { succeeded } from '#testkit/platform.ts'

/** A stage for the staff’s page. */
export const adminStage = (env?: Record<string, string>): Stage => browserStage(env)

export const SUPERADMIN = { email: 'admin@example.com', password: 'local-admin-password' }

let people = 0

/** Calls the admin API as the superadmin, without the page. */
export const staffCall = ({ platform }: Stage, method: string, path: string, body?: unknown) =>
  succeeded(platform.call(method, path, { headers: { 'x-admin-key': 'local-admin-key' }, body }))

/** Creates an admin and returns their credentials. */
export const newAdmin = async (stage: Stage, role: 'moderator' | 'superadmin') => {
  const account = { email: `mo${++people}@example.com`, password: 'correct horse battery', name: `Mo ${people}`, role }
  const { id } = await staffCall(stage, 'POST', '/admin/admins', account)
  return { ...account, id: id as string }
}

/** Opens a screen of the staff page after signing in with its form. */
export const openAs = async (
  { page, url }: Stage,
  { email, password }: { email: string; password: string },
  place = '/',
): Promise<void> => {
  await page.goto(`${url}/staff#${place}`)
  await fillSignIn(page, email, password)
  await page.getByRole('navigation', { name: 'Staff' }).waitFor()
}

export const fillSignIn = async (page: Page, email: string, password: string): Promise<void> => {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
